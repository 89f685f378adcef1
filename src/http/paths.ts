/** Paths as routes know them: without the mount prefix, and plural. */

/** Nothing in it that the rules for addresses would change. */
const PLAIN = /^https?:\/\/[^/?#]+(\/[\w\-./~]*)(?:[?#]|$)/;

/** The path of an absolute address. Asked twice for every request: taking the address apart costs far more. */
export function pathOf(url: string): string {
  const path = PLAIN.exec(url)?.[1];
  return path === undefined || path.includes('/.') ? new URL(url).pathname : path;
}

/** Undefined for a path that lies outside the prefix. */
export function withoutPrefix(path: string, prefix: string): string | undefined {
  if (prefix === '') return path;
  if (path === prefix) return '/';
  if (!path.startsWith(`${prefix}/`)) return undefined;
  const rest = path.slice(prefix.length);
  // Clients add the place of a lost stream, which carries the prefix, to a base that carries it too.
  const again = withoutPrefix(rest, prefix);
  return again !== undefined && RUN_REPLY.test(again) ? again : rest;
}

/** Where `Location` headers of this server lead. */
const RUN_REPLY = /^(\/threads\/[^/]+)?\/runs\/[^/]+\/(stream|join)$/;

/** The singular form of every thread path is the same route. */
export const pluralPath = (path: string): string => path.replace(/^\/thread(?=\/|$)/, '/threads');

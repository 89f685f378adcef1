/** Normalizes request paths for routing: strips the mount prefix and rewrites the alias `/thread`. */

/** URLs whose path the URL parser would not change. */
const PLAIN_URL = /^https?:\/\/[^/?#]+(\/[\w\-./~]*)(?:[?#]|$)/;

/** The path of an absolute URL. Runs twice per request, and a regular expression is far cheaper than `new URL`. */
export function pathOf(url: string): string {
  const path = PLAIN_URL.exec(url)?.[1];
  return path === undefined || path.includes('/.') ? new URL(url).pathname : path;
}

/** Undefined for a path that lies outside the prefix. */
export function withoutPrefix(path: string, prefix: string): string | undefined {
  if (prefix === '') return path;
  if (path === prefix) return '/';
  if (!path.startsWith(`${prefix}/`)) return undefined;
  const rest = path.slice(prefix.length);
  // Clients append a `Location` path, which has the prefix, to a base URL that has it too.
  const again = withoutPrefix(rest, prefix);
  return again !== undefined && RUN_REPLY.test(again) ? again : rest;
}

/** Paths in `Location` headers of run replies. */
const RUN_REPLY = /^(\/threads\/[^/]+)?\/runs\/[^/]+\/(stream|join)$/;

/** Rewrites the alias `/thread/…` to `/threads/…`. */
export const pluralPath = (path: string): string => path.replace(/^\/thread(?=\/|$)/, '/threads');

/** Selects the request headers that the configuration allows in log lines and in runs. */
import type { HeaderRule, InheritanceRule } from '../config/http.ts';

/** Headers that no rule can allow: they hold credentials. */
const FORBIDDEN: ReadonlySet<string> = new Set([
  'x-api-key',
  'x-tenant-id',
  'x-service-key',
  'authorization',
  'proxy-authorization',
  'cookie',
]);

/** Returns header names in lower case; the values of a header sent twice are joined. */
export type HeaderFilter = (headers: Iterable<readonly [string, string]>) => Record<string, string>;

export function createHeaderFilter({ include, exclude }: HeaderRule): HeaderFilter {
  if (include.length === 0) return () => ({});
  const isIncluded = toTest(include);
  const isExcluded = toTest(exclude);
  return (headers) =>
    Object.fromEntries(
      [...headers].filter(([name]) => isIncluded(name) && !FORBIDDEN.has(name) && !isExcluded(name)),
    );
}

/** Tests names with `*` as wildcard; the comparison ignores case. */
function toTest(names: readonly string[]): (name: string) => boolean {
  const choices = names.map((name) => name.toLowerCase().split('*'));
  return (name) => choices.some((parts) => hasParts(name, parts));
}

/** Whether the text consists of the parts in this order, with any characters between two of them. */
function hasParts(text: string, [first = '', ...more]: readonly string[]): boolean {
  const last = more.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of more) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - at >= last.length && text.endsWith(last);
}

/** Keys of `configurable` that the server or graphs interpret: headers of these names are dropped. */
const RESERVED = /^(__|checkpoint_|platform_auth_|langgraph_auth_)|^(run|thread|graph|assistant|user)_id$/;

/** Headers that runs inherit unless the configuration names others. */
const DEFAULT_INHERITED = ['x-*'];

/** A4 Returns the headers that only graph code sees: proxies add signed identities to requests. */
export function createInheritance({ include = DEFAULT_INHERITED, exclude }: InheritanceRule): HeaderFilter {
  const filter = createHeaderFilter({ include, exclude });
  return (headers) =>
    Object.fromEntries(Object.entries(filter(headers)).filter(([name]) => !RESERVED.test(name)));
}

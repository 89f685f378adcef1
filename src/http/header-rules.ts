/** Selects the request headers that the configuration allows in log lines and in runs. */
import type { HeaderRule, InheritanceRule } from '../config/http.ts';
import { compilePattern, quotePattern, type Pattern } from '../kernel/pattern.ts';

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
export type HeaderFilter = (headers: Headers) => Record<string, string>;

export function createHeaderFilter({ include, exclude }: HeaderRule): HeaderFilter {
  if (include.length === 0) return () => ({});
  const included = toPattern(include);
  const excluded = exclude.length === 0 ? undefined : toPattern(exclude);
  return (headers) =>
    Object.fromEntries(
      [...headers].filter(
        ([name]) => !FORBIDDEN.has(name) && included.matches(name) && excluded?.matches(name) !== true,
      ),
    );
}

/** Compiles names with `*` as wildcard; the comparison ignores case. */
function toPattern(names: readonly string[]): Pattern {
  const choices = names.map((name) => name.toLowerCase().split('*').map(quotePattern).join('.*'));
  return compilePattern(choices.join('|'));
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

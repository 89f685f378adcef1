/** Which request headers may be shown to whom, by the rules of the configuration. */
import type { HeaderRule, InheritanceRule } from '../config/http.ts';
import { compilePattern, quotePattern, type Pattern } from '../kernel/pattern.ts';

/** Credentials: no rule can let them out. */
const NEVER: ReadonlySet<string> = new Set([
  'x-api-key',
  'x-tenant-id',
  'x-service-key',
  'authorization',
  'proxy-authorization',
  'cookie',
]);

/** Header names are lower case; a header sent twice is one text. */
export type HeaderFilter = (headers: Headers) => Record<string, string>;

export function createHeaderFilter({ include, exclude }: HeaderRule): HeaderFilter {
  if (include.length === 0) return () => ({});
  const included = toPattern(include);
  const excluded = exclude.length === 0 ? undefined : toPattern(exclude);
  return (headers) =>
    Object.fromEntries(
      [...headers].filter(
        ([name]) => !NEVER.has(name) && included.matches(name) && excluded?.matches(name) !== true,
      ),
    );
}

/** Only `*` means something, and names are compared without regard to case. */
function toPattern(names: readonly string[]): Pattern {
  const choices = names.map((name) => name.toLowerCase().split('*').map(quotePattern).join('.*'));
  return compilePattern(choices.join('|'));
}

/** Keys of `configurable` that have a meaning: no header may pose as one. */
const MEANT = /^(__|checkpoint_|platform_auth_|langgraph_auth_)|^(run|thread|graph|assistant|user)_id$/;

/** Headers that runs inherit unless the configuration names others. */
const DEFAULT_INHERITED = ['x-*', 'user-agent'];
/** Names of headers that carry credentials. */
const CREDENTIAL = /auth|token|secret|key|cookie|session|password/;

/** The headers that runs of a request find in their `configurable`. */
export interface InheritedHeaders {
  /** Kept in the run's own `configurable`, like keys that the client sent there. */
  readonly open: Readonly<Record<string, string>>;
  /** A4 Kept in the run's secret row: headers that the configuration names, and credentials. */
  readonly secret: Readonly<Record<string, string>>;
}

export type Inherit = (headers: Headers) => InheritedHeaders;

export function createInheritance({ include, exclude }: InheritanceRule): Inherit {
  const filter = createHeaderFilter({ include: include ?? DEFAULT_INHERITED, exclude });
  const isSecret = (name: string): boolean => include !== undefined || CREDENTIAL.test(name);
  return (headers) => {
    const chosen = Object.entries(filter(headers)).filter(([name]) => !MEANT.test(name));
    return {
      open: Object.fromEntries(chosen.filter(([name]) => !isSecret(name))),
      secret: Object.fromEntries(chosen.filter(([name]) => isSecret(name))),
    };
  };
}

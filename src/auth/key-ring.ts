import { sameSecret } from '../kernel/ids.ts';

/** Several keys of which any one opens, so that an old one stays good until everybody has the new one. */
export interface KeyRing {
  readonly any: boolean;
  /** Tells, by time, neither which key it was nor how much of one was right. */
  holds(given: string | null): boolean;
}

/** Throws a `RangeError` for an empty key, which every request that lacks one would meet. */
export function createKeyRing(keys: readonly string[]): KeyRing {
  if (keys.includes('')) throw new RangeError('a key must not be empty');
  return {
    any: keys.length > 0,
    holds: (given) => keys.filter((key) => sameSecret(given ?? '', key)).length > 0,
  };
}

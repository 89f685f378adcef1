/** Checks a secret against several accepted keys, which allows key rotation. */
import { sameSecret } from '../kernel/ids.ts';

export interface KeyRing {
  /** True if there is at least one key. */
  readonly any: boolean;
  /** Compares in constant time: the duration reveals neither the matching key nor a matching prefix. */
  holds(given: string | null): boolean;
}

/** Throws a `RangeError` for an empty key, because a request without a key would match it. */
export function createKeyRing(keys: readonly string[]): KeyRing {
  if (keys.includes('')) throw new RangeError('a key must not be empty');
  return {
    any: keys.length > 0,
    holds: (given) => keys.filter((key) => sameSecret(given ?? '', key)).length > 0,
  };
}

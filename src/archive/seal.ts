/** R4 Secrets and kept answers within a file: sealed under a key of the log that they come from. */
import { createEncrypt, decrypt, toCipherKey } from '../kernel/cipher.ts';
import { PRODUCT } from '../kernel/product.ts';
import { Unavailable } from '../kernel/unavailable.ts';

/** Bytes that were sealed elsewhere open nowhere else. */
const CONTEXT = Buffer.from(`${PRODUCT}-export`);

/** `key` and `keys` are of hexadecimal digits. */
export function createSeal(key: string): (content: string | Uint8Array) => Buffer {
  const encrypt = createEncrypt();
  const own = toCipherKey(key);
  return (content) => Buffer.concat(encrypt(own, content, CONTEXT));
}

/** Throws `Unavailable` when none of the keys opens the bytes. */
export function createUnseal(keys: readonly string[]): (sealed: Uint8Array) => Uint8Array {
  const own = keys.map(toCipherKey);
  return (sealed) => {
    for (const key of own)
      try {
        return decrypt(key, sealed, CONTEXT);
      } catch {
        // Sealed under another one.
      }
    throw new Unavailable(
      'secrets of the file are sealed under a key that is not among those of PLATFORM_ENCRYPTION_KEY: ' +
        'add the first key of the log that it was exported from, behind those of this one',
    );
  };
}

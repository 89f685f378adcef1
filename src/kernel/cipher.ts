/** Authenticated encryption with AES-256-GCM. Encrypted content is a nonce, a tag and as many bytes as the content has. */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  randomFillSync,
  type KeyObject,
} from 'node:crypto';

/** Encryption adds so many bytes: the nonce and the tag. */
export const CIPHER_BYTES = 28;

/** A `KeyObject`: raw bytes would be imported at each use, 41 instead of 11 µs a row. */
export type CipherKey = KeyObject;

export const toCipherKey = (hexadecimal: string): CipherKey =>
  createSecretKey(Buffer.from(hexadecimal, 'hex'));

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const NONCES = 512;

/** `context` is no part of the result; decrypting needs the same. */
export type Encrypt = (
  key: CipherKey,
  content: string | Uint8Array,
  context: Uint8Array,
) => readonly Uint8Array[];

/** The parts of the result belong together in their order. Nonces are random, so a key serves 2 ** 32 contents. */
export function createEncrypt(): Encrypt {
  // Drawn many at a time: each call of the generator costs as much as encrypting a short text.
  const nonces = Buffer.alloc(NONCES * NONCE_BYTES);
  let next = nonces.length;
  return (key, content, context) => {
    if (next === nonces.length) {
      randomFillSync(nonces);
      next = 0;
    }
    const nonce = nonces.subarray(next, (next += NONCE_BYTES));
    const cipher = createCipheriv(CIPHER, key, nonce).setAAD(context);
    const body = typeof content === 'string' ? cipher.update(content, 'utf8') : cipher.update(content);
    cipher.final();
    return [nonce, cipher.getAuthTag(), body];
  };
}

/** Throws for anything but what was encrypted with this key and context. */
export function decrypt(key: CipherKey, encrypted: Uint8Array, context: Uint8Array): Buffer {
  const cipher = createDecipheriv(CIPHER, key, encrypted.subarray(0, NONCE_BYTES))
    .setAAD(context)
    .setAuthTag(encrypted.subarray(NONCE_BYTES, CIPHER_BYTES));
  const content = cipher.update(encrypted.subarray(CIPHER_BYTES));
  cipher.final();
  return content;
}

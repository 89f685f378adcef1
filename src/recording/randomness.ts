/** Draws the random values of tasks of recorded and re-executed runs from their seed. */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { currentSession } from './session.ts';
import type { Random } from './random.ts';

let isInstalled = false;

export function interceptRandomness(): void {
  if (isInstalled) return;
  isInstalled = true;
  const current = (): Random | undefined => currentSession()?.random();

  const { random } = Math;
  Math.random = () => current()?.float() ?? random();

  const { randomBytes, randomUUID } = crypto;
  crypto.randomBytes = ((size: number, callback?: (error: Error | null, bytes: Buffer) => void): unknown => {
    const source = current();
    if (source === undefined) return callback === undefined ? randomBytes(size) : randomBytes(size, callback);
    const bytes = Buffer.alloc(size);
    source.fill(bytes);
    return callback === undefined ? bytes : void globalThis.setImmediate(callback, null, bytes);
  }) as typeof randomBytes;
  const uuid = (options?: Parameters<typeof randomUUID>[0]) => {
    const source = current();
    return source === undefined ? randomUUID(options) : uuidOf(source);
  };
  crypto.randomUUID = uuid;

  const web = globalThis.Crypto.prototype;
  const { getRandomValues } = web;
  web.randomUUID = () => uuid();
  web.getRandomValues = function <T extends ArrayBufferView | null>(this: Crypto, array: T): T {
    const source = array === null ? undefined : current();
    if (source === undefined || array === null) return getRandomValues.call(this, array as never) as T;
    source.fill(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    return array;
  };
  // `getRandomValues` of `node:crypto` calls the patched one; named imports of built-in modules see the new functions.
  syncBuiltinESMExports();
}

/** A UUIDv4. */
function uuidOf(source: Random): `${string}-${string}-${string}-${string}-${string}` {
  const bytes = Buffer.alloc(16);
  source.fill(bytes);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

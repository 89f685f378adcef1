/**
 * Draws the random values of recorded and re-executed runs from their seed. Each function has a stream of its own: a draw
 * by one of them shifts no values of the others.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { openRandomPool } from '../kernel/ids.ts';
import type { Random } from './random.ts';
import { clockSession } from './session.ts';

let isInstalled = false;

export function interceptRandomness(): void {
  if (isInstalled) return;
  isInstalled = true;
  const source = (api: string, bytes: number): Random | undefined => clockSession()?.random(api, bytes);
  const { random } = Math;
  Math.random = () => source('random', 8)?.float() ?? random();

  const { randomBytes, randomFill, randomFillSync, randomInt, randomUUID } = crypto;
  const later = (callback: (...args: any[]) => void, value: unknown): void =>
    void globalThis.setImmediate(callback, null, value);

  crypto.randomBytes = ((size: number, callback?: (error: Error | null, bytes: Buffer) => void): unknown => {
    const from = source('randomBytes', size);
    if (from === undefined) return callback === undefined ? randomBytes(size) : randomBytes(size, callback);
    const bytes = Buffer.alloc(size);
    from.fill(bytes);
    return callback === undefined ? bytes : later(callback, bytes);
  }) as typeof randomBytes;

  const fill = (api: string, view: ArrayBufferView | ArrayBuffer, offset = 0, size?: number): boolean => {
    const bytes = ArrayBuffer.isView(view)
      ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
      : new Uint8Array(view);
    const unit = (view as { BYTES_PER_ELEMENT?: number }).BYTES_PER_ELEMENT ?? 1;
    const part = bytes.subarray(offset * unit, size === undefined ? undefined : (offset + size) * unit);
    const from = source(api, part.length);
    from?.fill(part);
    return from !== undefined;
  };
  crypto.randomFillSync = ((view: ArrayBufferView, offset?: number, size?: number) =>
    fill('randomFillSync', view, offset, size)
      ? view
      : randomFillSync(view as Buffer, offset!, size!)) as typeof randomFillSync;
  crypto.randomFill = ((view: ArrayBufferView, ...rest: unknown[]) => {
    if (fill('randomFill', view, ...(rest.slice(0, -1) as [number?, number?])))
      later(rest.at(-1) as () => void, view);
    else (randomFill as (...args: unknown[]) => void)(view, ...rest);
  }) as typeof randomFill;

  crypto.randomInt = ((...args: unknown[]) => {
    const callback = typeof args.at(-1) === 'function' ? (args.at(-1) as () => void) : undefined;
    const bounds = callback === undefined ? args : args.slice(0, -1);
    const [min, max] = (bounds.length === 1 ? [0, bounds[0]] : bounds) as [number, number];
    // The original refuses wrong bounds.
    const real = randomInt(min, max);
    const from = source('randomInt', 8);
    const value = from === undefined ? real : min + Math.floor(from.float() * (max - min));
    return callback === undefined ? value : later(callback, value);
  }) as typeof randomInt;

  const uuid = (options?: Parameters<typeof randomUUID>[0]) => {
    const from = source('randomUUID', 16);
    return from === undefined ? randomUUID(options) : uuidOf(from);
  };
  crypto.randomUUID = uuid;

  const { crypto: own } = globalThis;
  const fromPool = openRandomPool();
  const web = globalThis.Crypto.prototype;
  const { getRandomValues } = web;
  web.randomUUID = () => uuid();
  web.getRandomValues = function <T extends ArrayBufferView | null>(this: Crypto, array: T): T {
    if (this === own && array instanceof Uint8Array && array.length <= MAX_POOLED_BYTES) {
      const from = source('getRandomValues', array.length);
      if (from === undefined) fromPool(array);
      else from.fill(array);
      return array;
    }
    // The original refuses what it cannot fill.
    getRandomValues.call(this, array as never);
    fill('getRandomValues', array!);
    return array;
  };
  // `getRandomValues` of `node:crypto` calls the patched one; named imports of built-in modules see the new functions.
  syncBuiltinESMExports();
}

/** Larger draws make their own system call, which is a small part of their cost. */
const MAX_POOLED_BYTES = 64;

/** A UUIDv4. */
function uuidOf(source: Random): `${string}-${string}-${string}-${string}-${string}` {
  const bytes = Buffer.alloc(16);
  source.fill(bytes);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

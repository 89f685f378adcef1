/**
 * Work of this program and of Node's thread pool that code waits for: checkpoints, files, compression, cryptography. It ends
 * in the recorded order. A re-execution also asks whether the process still waits for any.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import crypto from 'node:crypto';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import zlib from 'node:zlib';
import { breathe } from '../kernel/breathe.ts';
import { currentSession } from './session.ts';

/** Names of Node's requests to the operating system or to the thread pool. */
const REQUESTS = /^(?:FSReq|CloseReq|GetAddrInfo|GetNameInfo|TCPConnectWrap|WriteWrap|ShutdownWrap)/;

let pending = 0;
let isInstalled = false;

export const isWorking = (): boolean =>
  pending > 0 || process.getActiveResourcesInfo().some((name) => REQUESTS.test(name));

export const pendingImmediates = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'Immediate').length;

/**
 * Returns what to call when the operation has ended, with what to do in its turn; undefined for code without a session.
 * `isReal`: an operation that the recording does not have ends at once.
 */
function begin(operation: string, isReal: boolean): ((deliver: () => void) => void) | undefined {
  const session = currentSession();
  if (session?.begin === undefined) return undefined;
  pending += 1;
  const arrive = session.begin(operation, isReal);
  const inContext = AsyncLocalStorage.snapshot();
  return (deliver) => {
    pending -= 1;
    arrive(() => inContext(deliver));
  };
}

/** Settles like `work`, in the turn of the operation. Without a session it only does `work`. */
export async function inTurn<T>(operation: string, work: () => Promise<T>, isReal = false): Promise<T> {
  const end = begin(operation, isReal);
  if (end === undefined) return work();
  try {
    return await work();
  } finally {
    // What one packet of a pipe ends comes apart: a re-execution delivers one arrival in a turn of the event loop.
    await breathe();
    await new Promise<void>(end);
  }
}

type Callback = (this: unknown, ...given: unknown[]) => unknown;

/** Call it before graph code loads, which may keep these functions. */
export function interceptWork(): void {
  if (isInstalled) return;
  isInstalled = true;
  for (const owner of [fs, crypto]) {
    const functions = owner as unknown as Record<string, unknown>;
    for (const name of Object.keys(functions).filter(
      (each) => typeof functions[`${each}Sync`] === 'function',
    ))
      intercept(functions, name);
  }
  for (const owner of [fs.promises, Object.getPrototypeOf(crypto.subtle) as object])
    for (const name of Object.getOwnPropertyNames(owner))
      if (name !== 'constructor') intercept(owner as Record<string, unknown>, name);
  interceptCompression();
  syncBuiltinESMExports();
}

/** A function that takes a callback, or returns a promise. */
function intercept(functions: Record<string, unknown>, name: string): void {
  const original = functions[name];
  if (typeof original !== 'function') return;
  functions[name] = new Proxy(original, {
    apply(target, self, args: unknown[]): unknown {
      const callback = args.at(-1);
      if (typeof callback !== 'function') {
        const result: unknown = Reflect.apply(target, self, args);
        return result instanceof Promise ? inTurn(name, () => result, true) : result;
      }
      const end = begin(name, true);
      if (end === undefined) return Reflect.apply(target, self, args);
      const inTime: Callback = function (...given) {
        end(() => void Reflect.apply(callback, this, given));
      };
      return Reflect.apply(target, self, args.with(-1, inTime));
    },
  });
}

interface ZlibHandle {
  onerror: Callback;
  init(...args: unknown[]): unknown;
  write(...args: unknown[]): unknown;
}

/** Streams of a kind share the prototype of their native handles. A write ends in the handle's callback or its `onerror`. */
function interceptCompression(): void {
  const ends = new WeakMap<ZlibHandle, (deliver: () => void) => void>();
  const inTurnOf = (handle: ZlibHandle, deliver: () => unknown): unknown => {
    const end = ends.get(handle);
    ends.delete(handle);
    return end === undefined ? deliver() : end(() => void deliver());
  };
  for (const stream of [zlib.createGzip(), zlib.createBrotliDecompress(), zlib.createZstdDecompress()]) {
    const prototype = Object.getPrototypeOf((stream as unknown as { _handle: object })._handle) as ZlibHandle;
    const { init, write } = prototype;
    prototype.init = function (...args) {
      const noted = args.map((each) =>
        typeof each !== 'function'
          ? each
          : function (this: ZlibHandle, ...given: unknown[]): unknown {
              return inTurnOf(this, () => Reflect.apply(each, this, given));
            },
      );
      return init.apply(this, noted);
    };
    prototype.write = function (...args) {
      const end = begin('compression', true);
      if (end !== undefined) ends.set(this, end);
      const { onerror } = this;
      this.onerror = (...given) => inTurnOf(this, () => onerror.apply(this, given));
      return write.apply(this, args);
    };
    stream.close();
  }
}

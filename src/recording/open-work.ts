/** Tells whether the process waits for work of its own that a recording does not have: files, compression, cryptography. */
import crypto from 'node:crypto';
import zlib from 'node:zlib';

/** Names of Node's requests to the operating system or to the thread pool. */
const REQUESTS = /^(?:FSReq|CloseReq|GetAddrInfo|GetNameInfo|TCPConnectWrap|WriteWrap|ShutdownWrap)/;

let pending = 0;
let isInstalled = false;

export const isWorking = (): boolean =>
  pending > 0 || process.getActiveResourcesInfo().some((name) => REQUESTS.test(name));

export const pendingImmediates = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'Immediate').length;

/** Counts work in the thread pool that Node does not list. */
export function countWork(): void {
  if (isInstalled) return;
  isInstalled = true;
  countCompression();
  countCryptography();
}

interface ZlibHandle {
  onerror: (...args: unknown[]) => unknown;
  init(...args: unknown[]): unknown;
  write(...args: unknown[]): unknown;
}

/** Streams of a kind share the prototype of their native handles. A write ends in the handle's callback or its `onerror`. */
function countCompression(): void {
  const open = new WeakSet<ZlibHandle>();
  const done = (handle: ZlibHandle): void => {
    if (open.delete(handle)) pending -= 1;
  };
  for (const stream of [zlib.createGzip(), zlib.createBrotliDecompress(), zlib.createZstdDecompress()]) {
    const prototype = Object.getPrototypeOf((stream as unknown as { _handle: object })._handle) as ZlibHandle;
    const { init, write } = prototype;
    prototype.init = function (...args) {
      const noted = args.map((each) =>
        typeof each !== 'function'
          ? each
          : function (this: ZlibHandle, ...given: unknown[]): unknown {
              done(this);
              return Reflect.apply(each, this, given) as unknown;
            },
      );
      return init.apply(this, noted);
    };
    prototype.write = function (...args) {
      open.add(this);
      pending += 1;
      const { onerror } = this;
      this.onerror = (...given) => {
        done(this);
        return onerror.apply(this, given);
      };
      return write.apply(this, args);
    };
    stream.close();
  }
}

function countCryptography(): void {
  const prototype = Object.getPrototypeOf(crypto.subtle) as Record<string, (...args: unknown[]) => unknown>;
  for (const name of Object.getOwnPropertyNames(prototype)) {
    const original = prototype[name];
    if (name === 'constructor' || typeof original !== 'function') continue;
    prototype[name] = function (this: unknown, ...args) {
      const result = original.apply(this, args);
      if (!(result instanceof Promise)) return result;
      pending += 1;
      const done = (): void => void (pending -= 1);
      result.then(done, done);
      return result;
    };
  }
}

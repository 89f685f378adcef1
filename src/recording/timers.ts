/**
 * Timers of recorded and re-executed runs: `setTimeout`, `setInterval`, `setImmediate`, their forms in
 * `node:timers/promises`, and `AbortSignal.timeout`. A recording notes when they fire; a re-execution fires them in that turn, without waiting.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import promises from 'node:timers/promises';
import { promisify } from 'node:util';
import { clockSession } from './session.ts';

type Callback = (...args: unknown[]) => unknown;
type Start = (callback: Callback, delay?: number, ...args: unknown[]) => NodeJS.Timeout;

/** Longest delay; Node takes others for 1 ms. */
const MAX_DELAY_MS = 2 ** 31 - 1;

function delayOf(delay: unknown): number {
  const ms = Math.trunc(Number(delay));
  return ms >= 1 && ms <= MAX_DELAY_MS ? ms : 1;
}

let isInstalled = false;

/** Call it before graph code loads, which may keep these functions. */
export function interceptTimers(): void {
  if (isInstalled) return;
  isInstalled = true;
  const setTimeout = intercept('setTimeout');
  const setInterval = intercept('setInterval');
  interceptImmediates();
  interceptPromises(setTimeout, setInterval);
  const { timeout } = AbortSignal;
  AbortSignal.timeout = (ms) => {
    if (clockSession()?.timer === undefined) return timeout(ms);
    const controller = new AbortController();
    const expire = (): void =>
      controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    setTimeout(expire, ms).unref();
    return controller.signal;
  };
  syncBuiltinESMExports();
}

function intercept(name: 'setTimeout' | 'setInterval'): Start {
  const real = globalThis[name] as unknown as Start;
  const start: Start = (callback, delay, ...args) => {
    const session = clockSession();
    if (session?.timer === undefined || typeof callback !== 'function') return real(callback, delay, ...args);
    const ms = delayOf(delay);
    if (session.mode === 'record') {
      const onFire = session.timer(name, ms);
      const noted = function (this: unknown, ...given: unknown[]): unknown {
        onFire();
        return Reflect.apply(callback, this, given);
      };
      return real(noted, delay, ...args);
    }
    // A real timer that never fires has all methods of one.
    const timer = real(callback, MAX_DELAY_MS, ...args);
    const inContext = AsyncLocalStorage.snapshot();
    session.timer(name, ms, {
      repeats: name === 'setInterval',
      isLive: () => !(timer as unknown as { _destroyed: boolean })._destroyed,
      // It may be refreshed, so it is not cleared.
      fire: () => void inContext(() => Reflect.apply(callback, timer, args)),
      clear: () => clearTimeout(timer),
    });
    return timer;
  };
  const shown = Object.defineProperties(start, {
    ...Object.getOwnPropertyDescriptors(real),
    ...(name === 'setTimeout' && {
      [promisify.custom]: { get: () => promises.setTimeout, enumerable: true },
    }),
  });
  Object.assign(globalThis, { [name]: shown });
  Object.assign(timers, { [name]: shown });
  return shown;
}

function interceptImmediates(): void {
  const { setImmediate: real, clearImmediate: realClear } = globalThis;
  const cleared = new WeakSet<object>();
  const start = (callback: Callback, ...args: unknown[]): NodeJS.Immediate => {
    const session = clockSession();
    if (session?.begin === undefined || typeof callback !== 'function') return real(callback, ...args);
    const arrive = session.begin('setImmediate', true);
    const inContext = AsyncLocalStorage.snapshot();
    const fire = (): void => {
      if (!cleared.has(immediate)) inContext(() => Reflect.apply(callback, immediate, args));
    };
    const immediate = real(() => arrive(fire));
    return immediate;
  };
  const clear = (immediate: NodeJS.Immediate | undefined): void => {
    if (immediate instanceof Object) cleared.add(immediate);
    realClear(immediate);
  };
  const { setImmediate: realTurn, scheduler } = promises;
  const turn = <T>(value?: T, options?: WaitOptions): Promise<T> =>
    clockSession()?.begin === undefined || options?.signal !== undefined
      ? realTurn(value as T, options)
      : new Promise((resolve) => start(() => resolve(value as T)));
  Object.defineProperty(start, promisify.custom, { value: turn, enumerable: true });
  for (const owner of [globalThis, timers])
    Object.assign(owner, { setImmediate: start, clearImmediate: clear });
  promises.setImmediate = turn as typeof promises.setImmediate;
  (Object.getPrototypeOf(scheduler) as typeof scheduler).yield = turn as typeof scheduler.yield;
}

interface WaitOptions {
  readonly signal?: AbortSignal;
  readonly ref?: boolean;
}

function interceptPromises(setTimeout: Start, setInterval: Start): void {
  const { setTimeout: realWait, setInterval: realTicks, scheduler } = promises;

  const wait = <T>(ms?: number, value?: T, options: WaitOptions = {}): Promise<T> => {
    if (clockSession()?.timer === undefined) return realWait(ms, value as T, options);
    const { signal, ref = true } = options;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        clearTimeout(timer);
        reject(abortError(signal!));
      };
      if (signal?.aborted === true) return reject(abortError(signal));
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve(value as T);
      }, ms);
      if (!ref) timer.unref();
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  };

  async function* ticks<T>(ms?: number, value?: T, { signal, ref = true }: WaitOptions = {}) {
    let due = 0;
    let wake = (): void => undefined;
    const timer = setInterval(() => {
      due += 1;
      wake();
    }, ms);
    if (!ref) timer.unref();
    const onAbort = (): void => wake();
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      for (;;) {
        if (signal?.aborted === true) throw abortError(signal);
        if (due === 0) await new Promise<void>((resolve) => (wake = resolve));
        else {
          due -= 1;
          yield value as T;
        }
      }
    } finally {
      clearInterval(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  promises.setTimeout = wait as typeof promises.setTimeout;
  promises.setInterval = ((...args: Parameters<typeof ticks>) =>
    clockSession()?.timer === undefined
      ? realTicks(...(args as [number]))
      : ticks(...args)) as typeof promises.setInterval;
  const prototype = Object.getPrototypeOf(scheduler) as typeof scheduler;
  const { wait: realSchedulerWait } = prototype;
  prototype.wait = function (ms, options) {
    return clockSession()?.timer === undefined
      ? realSchedulerWait.call(this, ms, options)
      : wait(ms, undefined, options);
  };
}

const abortError = (signal: AbortSignal): Error =>
  Object.assign(new Error('The operation was aborted', { cause: signal.reason }), {
    ...{ name: 'AbortError', code: 'ABORT_ERR' },
  });

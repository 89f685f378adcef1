/**
 * Clocks of recorded and re-executed runs: `Date`, `performance`, `process.hrtime`, `process.uptime` and `Intl` without an
 * argument ask the session for the time to show. Code outside of a session, and transport, read the real clocks.
 */
import type { ClockKind } from './parts.ts';
import { loadingModule, noteModuleReading } from './module-loading.ts';
import { clockSession, type Session } from './session.ts';

/** Wall time in milliseconds since 1970, whatever `Date` shows. */
export const realNow: () => number = globalThis.Date.now;

/** Recordings of later runs have what modules read that load outside of runs. */
const MODULES: Pick<Session, 'reading'> = {
  reading: (kind, real) => noteModuleReading(loadingModule()!, kind, real),
};
const reader = (): Pick<Session, 'reading'> | undefined =>
  clockSession() ?? (loadingModule() === undefined ? undefined : MODULES);

const read = (kind: ClockKind, real: number): number => reader()?.reading(kind, real) ?? real;

/** A session counts in whole units of 1 / `perUnit` of the clock's own unit. */
function readFraction(kind: ClockKind, real: number, perUnit: number): number {
  const session = reader();
  return session === undefined ? real : session.reading(kind, Math.round(real * perUnit)) / perUnit;
}

let isInstalled = false;

/** Call it before graph code loads, which may keep these functions. */
export function interceptClock(): void {
  if (isInstalled) return;
  isInstalled = true;
  interceptDate();
  interceptIntl();
  interceptPerformance();
  interceptProcess();
}

function interceptDate(): void {
  const Real = globalThis.Date;
  const now = (): number => read('date', realNow());
  Real.now = now;
  const Shown: DateConstructor = new Proxy(Real, {
    construct: (target, args, newTarget): object =>
      Reflect.construct(
        target,
        args.length === 0 ? [now()] : args,
        newTarget === Shown ? target : newTarget,
      ) as object,
    apply: () => new Real(now()).toString(),
  });
  Real.prototype.constructor = Shown;
  globalThis.Date = Shown;
}

/** Formats of the current time; `format` is a getter of a bound function. */
function interceptIntl(): void {
  const prototype = Intl.DateTimeFormat.prototype;
  const withTime = (date: unknown): unknown => (date === undefined ? read('date', realNow()) : date);
  const { get } = Object.getOwnPropertyDescriptor(prototype, 'format')!;
  const bound = new WeakMap<object, (date?: unknown) => unknown>();
  Object.defineProperty(prototype, 'format', {
    configurable: true,
    get(this: object) {
      const known = bound.get(this);
      if (known !== undefined) return known;
      const original = get!.call(this) as (date: unknown) => unknown;
      const format = (date?: unknown): unknown => original(withTime(date));
      bound.set(this, format);
      return format;
    },
  });
  const { formatToParts } = prototype;
  prototype.formatToParts = function (date) {
    return formatToParts.call(this, withTime(date) as number);
  };
}

function interceptPerformance(): void {
  const prototype = globalThis.Performance.prototype;
  const { now } = prototype;
  prototype.now = function () {
    return readFraction('performance', now.call(this), 1_000);
  };
  const { get } = Object.getOwnPropertyDescriptor(prototype, 'timeOrigin')!;
  Object.defineProperty(prototype, 'timeOrigin', {
    ...{ configurable: true, enumerable: true },
    get(this: Performance) {
      return readFraction('origin', get!.call(this) as number, 1_000);
    },
  });
}

function interceptProcess(): void {
  const { hrtime, uptime } = process;
  const { bigint } = hrtime;
  const nanoseconds = (): bigint => {
    const session = reader();
    return session === undefined ? bigint() : BigInt(session.reading('hrtime', Number(bigint())));
  };
  const shown = (since?: [number, number]): [number, number] => {
    if (reader() === undefined) return hrtime(since);
    const given = since === undefined ? 0n : BigInt(since[0]) * NS_PER_S + BigInt(since[1]);
    const time = nanoseconds() - given;
    const seconds = time / NS_PER_S - (time % NS_PER_S < 0n ? 1n : 0n);
    return [Number(seconds), Number(time - seconds * NS_PER_S)];
  };
  process.hrtime = Object.assign(shown, { bigint: nanoseconds });
  process.uptime = () => readFraction('uptime', uptime(), 1_000);
}

const NS_PER_S = 1_000_000_000n;

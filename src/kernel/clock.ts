/** Injected time: no module outside this file reads a clock or starts a timer. */
export interface Clock {
  /** Wall time, milliseconds since 1970. */
  now(): number;
  /** Monotonic milliseconds; only differences are meaningful. */
  monotonic(): number;
  /** Runs `fn` once after `ms`, at most 1 ms early. The returned function cancels the timer; a stop must call it. */
  after(ms: number, fn: () => void): () => void;
}

/** Recorded and re-executed runs replace these for graph code; the server's own code reads the real ones. */
const realNow = Date.now;
const realMonotonic = performance.now.bind(performance);
const { setTimeout: realTimeout } = globalThis;

/** Node fires at once for delays beyond 2^31 - 1 ms. */
const MAX_DELAY_MS = 2 ** 31 - 1;

export function systemClock(): Clock {
  return {
    now: realNow,
    monotonic: realMonotonic,
    after(ms, fn) {
      const due = realMonotonic() + ms;
      const arm = (): NodeJS.Timeout =>
        realTimeout(
          () => {
            // Node truncates delays and its clock to whole milliseconds, so a timer may fire up to 2 ms early.
            if (due - realMonotonic() >= 1) timer = arm();
            else fn();
          },
          Math.min(Math.ceil(Math.max(0, due - realMonotonic())), MAX_DELAY_MS),
        );
      let timer = arm();
      return () => clearTimeout(timer);
    },
  };
}

/** Monotonic nanoseconds that are the same in all threads of the process. */
export const processTime = (): bigint => process.hrtime.bigint();

/** A clock whose wall time is that of a store which several servers share. */
export interface FollowingClock extends Clock {
  /** The store's time, milliseconds since 1970. A difference below `MAX_OFF_MS` may be the way of the answer. */
  follow(storeNow: number): void;
}

const MAX_OFF_MS = 100;

/** Shows the time of `clock` until it is told another. */
export function createFollowingClock(clock: Clock): FollowingClock {
  let known: { readonly time: number; readonly at: number } | undefined;
  const now = (): number =>
    known === undefined ? clock.now() : Math.round(known.time + clock.monotonic() - known.at);
  return {
    now,
    monotonic: clock.monotonic,
    after: clock.after,
    follow(storeNow) {
      if (known !== undefined && Math.abs(storeNow - now()) < MAX_OFF_MS) return;
      known = { time: storeNow, at: clock.monotonic() };
    },
  };
}

const dueTimes = new WeakMap<Clock, { readonly time: number; readonly at: number }>();

/**
 * Wall time in milliseconds that never goes back: it follows forward jumps of the wall clock and otherwise the
 * monotonic clock. Code that sets due times and code that reads them must both use it: after a backward jump, plain
 * wall times would be wrong. Begins anew with the process.
 */
export function dueTime(clock: Clock): number {
  const at = clock.monotonic();
  const last = dueTimes.get(clock) ?? { time: -Infinity, at };
  const time = Math.max(clock.now(), last.time + Math.max(0, at - last.at));
  dueTimes.set(clock, { time, at });
  return Math.floor(time);
}

/** `2026-11-20T23:49:50.868000+00:00`: ISO 8601 with microseconds and offset, as clients of this API expect. */
export function toTimestamp(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000+00:00');
}

/** Formats microseconds since 1970 like `toTimestamp`. */
export function microsToTimestamp(us: number): string {
  const ms = Math.floor(us / 1000);
  return `${new Date(ms).toISOString().slice(0, -1)}${String(us - ms * 1000).padStart(3, '0')}+00:00`;
}

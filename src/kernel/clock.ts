/** Time as an argument: nothing outside this file reads a clock or starts a timer. */
export interface Clock {
  /** Wall time, milliseconds since 1970. */
  now(): number;
  /** Milliseconds of a clock that never jumps; only differences mean something. */
  monotonic(): number;
  /**
   * Runs `fn` once after `ms`, less than a millisecond of it missing; the returned function cancels it. Whoever starts a
   * timer cancels it when it stops.
   */
  after(ms: number, fn: () => void): () => void;
}

/** Node refuses delays beyond 2^31 - 1 ms and fires at once instead. */
const LONGEST_DELAY = 2 ** 31 - 1;

export function systemClock(): Clock {
  const monotonic = performance.now.bind(performance);
  return {
    now: () => Date.now(),
    monotonic,
    after(ms, fn) {
      const due = monotonic() + ms;
      const arm = (): NodeJS.Timeout =>
        setTimeout(
          () => {
            // Node cuts delays and its clock to whole milliseconds, and may be early by two.
            if (due - monotonic() >= 1) timer = arm();
            else fn();
          },
          Math.min(Math.ceil(Math.max(0, due - monotonic())), LONGEST_DELAY),
        );
      let timer = arm();
      return () => clearTimeout(timer);
    },
  };
}

const reckoned = new WeakMap<Clock, { readonly time: number; readonly at: number }>();

/**
 * The time that pauses are counted from and compared with: wall time that is never set back. It follows the wall clock
 * forward, and otherwise the clock that never jumps. Whoever asks what is due and whoever says when it will be must
 * both ask here: a moment of the wall clock that was set back would be due at once. Begins anew with the process.
 */
export function dueTime(clock: Clock): number {
  const at = clock.monotonic();
  const last = reckoned.get(clock) ?? { time: -Infinity, at };
  const time = Math.max(clock.now(), last.time + Math.max(0, at - last.at));
  reckoned.set(clock, { time, at });
  return Math.floor(time);
}

/** `2026-11-20T23:49:50.868000+00:00`: ISO 8601 with microseconds and offset, as clients of this API expect. */
export function toTimestamp(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000+00:00');
}

/** The same for microseconds since 1970. */
export function microsToTimestamp(us: number): string {
  const ms = Math.floor(us / 1000);
  return `${new Date(ms).toISOString().slice(0, -1)}${String(us - ms * 1000).padStart(3, '0')}+00:00`;
}

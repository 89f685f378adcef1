import type { Clock } from '../../src/kernel/clock.ts';

export interface ManualClock extends Clock {
  /**
   * Moves time forward by `ms`. Timers fire in the order in which they are due, each at its own time, and what
   * they set off settles before the next one fires; timers set meanwhile fire too if they fall due in time.
   */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock forward or back; what waits is not affected. */
  jump(ms: number): void;
  /** When the timers that wait are due, milliseconds since 1970, soonest first. */
  pending(): number[];
}

/** A clock that stands still until it is told to move; `start` is its wall time. */
export function createManualClock(start = Date.UTC(2026, 0, 1)): ManualClock {
  let now = start;
  let offset = 0;
  const timers = new Set<{ due: number; fn: () => void }>();
  const soonestFirst = () => [...timers].sort((a, b) => a.due - b.due);
  return {
    now: () => now + offset,
    monotonic: () => now - start,
    after(ms, fn) {
      // Wall time is whole milliseconds, whatever was asked for.
      const timer = { due: now + Math.max(0, Math.ceil(ms)), fn };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async advance(ms) {
      const end = now + ms;
      await settle();
      for (let timer = soonestFirst()[0]; timer && timer.due <= end; timer = soonestFirst()[0]) {
        timers.delete(timer);
        now = Math.max(now, timer.due);
        timer.fn();
        await settle();
      }
      now = Math.max(now, end);
    },
    jump: (ms) => void (offset += ms),
    pending: () => soonestFirst().map((timer) => timer.due),
  };
}

/** One turn of the event loop: every microtask has run by then, however long the chain of promises. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

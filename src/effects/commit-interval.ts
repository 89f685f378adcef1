/**
 * The commit interval: writes of many runs that can wait a moment share one commit. Each stream writes a frame now and
 * then, and a commit for every one of them costs as much as twenty frames.
 */
import { breathe } from '../kernel/breathe.ts';
import type { Clock } from '../kernel/clock.ts';

export interface CommitInterval {
  /** Calls `fn` once, at the end of the interval. The returned function cancels the call. */
  next(fn: () => void): () => void;
}

/** Readers do not notice it, and it halves the commits of a busy server. */
const COMMIT_INTERVAL_MS = 5;

/** Intervals run while writes wait: the first after a rest ends with the turn of the event loop. */
export function createCommitInterval(clock: Pick<Clock, 'monotonic' | 'after'>): CommitInterval {
  let waiting = new Set<() => void>();
  let endedAt = -Infinity;
  let isTurnsEnd = false;
  let cancel: (() => void) | undefined;

  function end(): void {
    isTurnsEnd = false;
    cancel = undefined;
    endedAt = clock.monotonic();
    const due = waiting;
    waiting = new Set();
    for (const fn of due) fn();
  }

  return {
    next(fn) {
      waiting.add(fn);
      if (!isTurnsEnd && cancel === undefined) {
        const ms = endedAt + COMMIT_INTERVAL_MS - clock.monotonic();
        isTurnsEnd = ms <= 0;
        if (isTurnsEnd) void breathe().then(end);
        else cancel = clock.after(ms, end);
      }
      return () => {
        waiting.delete(fn);
        if (waiting.size > 0) return;
        cancel?.();
        cancel = undefined;
      };
    },
  };
}

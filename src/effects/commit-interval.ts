/** Lets writes of many runs share one commit, which costs as much as 20 frames. */
import { breathe } from '../kernel/breathe.ts';
import type { Clock } from '../kernel/clock.ts';

export interface CommitInterval {
  /** Calls `fn` once, at the end of the interval. The returned function cancels the call. */
  next(fn: () => void): () => void;
}

/** Too short for readers to notice; halves the commits of a busy server. */
const COMMIT_INTERVAL_MS = 5;

/** An interval that starts after an idle period ends with the current turn of the event loop. */
export function createCommitInterval(clock: Pick<Clock, 'monotonic' | 'after'>): CommitInterval {
  let waiting = new Set<() => void>();
  let endedAt = -Infinity;
  let endsWithTurn = false;
  let cancel: (() => void) | undefined;

  function end(): void {
    endsWithTurn = false;
    cancel = undefined;
    endedAt = clock.monotonic();
    const due = waiting;
    waiting = new Set();
    for (const fn of due) fn();
  }

  return {
    next(fn) {
      waiting.add(fn);
      if (!endsWithTurn && cancel === undefined) {
        const ms = endedAt + COMMIT_INTERVAL_MS - clock.monotonic();
        endsWithTurn = ms <= 0;
        if (endsWithTurn) void breathe().then(end);
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

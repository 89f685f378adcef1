/**
 * Lets what can wait a moment happen together with what others do: of many streams each writes a frame now and then, and
 * a commit for every one of them costs as much as twenty frames.
 */
import { breathe } from '../kernel/breathe.ts';
import type { Clock } from '../kernel/clock.ts';

export interface Beat {
  /** Calls `fn` once, at the next beat. The returned function takes it back. */
  next(fn: () => void): () => void;
}

/** In milliseconds: nothing to whoever reads, and half the commits of a busy server. */
const BEAT_MS = 5;

/** Beats come when somebody waits: after a rest at the end of the turn, else in their time. */
export function createBeat(clock: Pick<Clock, 'monotonic' | 'after'>): Beat {
  let waiting = new Set<() => void>();
  let last = -Infinity;
  let isTurnsEnd = false;
  let cancel: (() => void) | undefined;

  function beat(): void {
    isTurnsEnd = false;
    cancel = undefined;
    last = clock.monotonic();
    const those = waiting;
    waiting = new Set();
    for (const fn of those) fn();
  }

  return {
    next(fn) {
      waiting.add(fn);
      if (!isTurnsEnd && cancel === undefined) {
        const ms = last + BEAT_MS - clock.monotonic();
        isTurnsEnd = ms <= 0;
        if (isTurnsEnd) void breathe().then(beat);
        else cancel = clock.after(ms, beat);
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

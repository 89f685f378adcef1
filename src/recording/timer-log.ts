/** Timers of one attempt that fired, with their places in the sequence of arrivals. */
import type { TaskKey, TimersPart } from './parts.ts';
import type { TimerName } from './session.ts';

/** Above it a recording is incomplete. */
export const MAX_TIMERS = 100_000;

/** Timers of one name and delay. */
export const timerOf = (name: TimerName, delayMs: number): string => `${name} ${delayMs}`;

/**
 * The graph library polls its queue of the item store by a timer that fires every millisecond, outside of tasks. Only a
 * firing that a batch follows is recorded.
 */
export const isPoll = (task: TaskKey, name: TimerName, delayMs: number): boolean =>
  task === '' && name === 'setTimeout' && delayMs <= 1;

export interface TimerLog {
  /** Returns what to call whenever the timer fires. */
  start(task: TaskKey, name: TimerName, delayMs: number): () => void;
  /** The item store is asked for what a queue has. */
  polled(): void;
  /** Returns what fired since the last call; undefined when there is nothing. */
  take(): TimersPart['fired'] | undefined;
}

/** `onFull` is called once when too many timers have fired. */
export function openTimerLog(nextNumber: () => number, onFull: (task: TaskKey) => void): TimerLog {
  const started = new Map<string, number>();
  let fired: [TaskKey, string, number, number][] = [];
  let count = 0;
  let poll: (() => void) | undefined;

  return {
    start(task, name, delayMs) {
      const timer = timerOf(name, delayMs);
      if (isPoll(task, name, delayMs))
        return () => {
          const number = nextNumber();
          poll = () => void fired.push([task, timer, countOf(timer), number]);
        };
      const index = countOf(`${task} ${timer}`);
      return () => {
        if (count > MAX_TIMERS) return;
        fired.push([task, timer, index, nextNumber()]);
        if (++count > MAX_TIMERS) onFull(task);
      };
    },
    polled() {
      poll?.();
      poll = undefined;
    },
    take() {
      if (fired.length === 0) return undefined;
      const taken = fired;
      fired = [];
      return taken;
    },
  };

  function countOf(key: string): number {
    const index = started.get(key) ?? 0;
    started.set(key, index + 1);
    return index;
  }
}

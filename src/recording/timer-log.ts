/** Timers of one attempt that fired and operations that ended, with their places in the sequence of arrivals. */
import type { TaskKey, TimersPart } from './parts.ts';
import type { Queue, TimerName } from './session.ts';

/** Above it a recording is incomplete. */
export const MAX_TIMERS = 100_000;

/** Timers of one name and delay. */
export const timerOf = (name: TimerName, delayMs: number): string => `${name} ${delayMs}`;

/** Polls of one queue of the item store. */
export const pollOf = ({ id }: Pick<Queue, 'id'>): string => `poll ${id}`;

export interface TimerLog {
  /** Counts a timer or operation that begins. Returns what to call whenever it fires or ends. `isReal`: see `end`. */
  begin(task: TaskKey, what: string, isReal?: boolean): () => void;
  /** The library polls a queue every millisecond: only a firing that has an effect is recorded. */
  poll(queue: Queue): () => void;
  /** Returns what fired since the last call; undefined when there is nothing. */
  take(): TimersPart['fired'] | undefined;
  /** Notes the real operations that have not ended: a re-execution would end them at once. */
  end(): void;
}

/** `onFull` is called once when too many timers have fired. */
export function openTimerLog(nextNumber: () => number, onFull: (task: TaskKey) => void): TimerLog {
  const begun = new Map<string, number>();
  let fired: [TaskKey, string, number, number | null][] = [];
  const open = new Set<() => void>();
  let count = 0;

  function countOf(key: string): number {
    const index = begun.get(key) ?? 0;
    begun.set(key, index + 1);
    return index;
  }

  function note(task: TaskKey, what: string, index: number, number: number | null): void {
    if (count > MAX_TIMERS) return;
    fired.push([task, what, index, number]);
    if (++count > MAX_TIMERS) onFull(task);
  }

  return {
    begin(task, what, isReal = false) {
      const index = countOf(`${task} ${what}`);
      const unended = (): void => note(task, what, index, null);
      if (isReal) open.add(unended);
      return () => {
        open.delete(unended);
        note(task, what, index, nextNumber());
      };
    },
    poll: (queue) => () => {
      const number = nextNumber();
      queue.onEffect = () => {
        queue.onEffect = () => undefined;
        note('', pollOf(queue), countOf(pollOf(queue)), number);
      };
    },
    take() {
      if (fired.length === 0) return undefined;
      const taken = fired;
      fired = [];
      return taken;
    },
    end() {
      for (const unended of open) unended();
    },
  };
}

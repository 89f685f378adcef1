/** Wake-ups for whoever waits on a run or a thread. Hints only: a waiter reads the log again and has a poll behind it. */
import type { EventLog } from '../log/log.ts';

export interface Wake {
  readonly woken: Promise<void>;
  cancel(): void;
}

export interface Hub {
  /**
   * Settles at the next change of a run, or when a run of a thread starts or ends. Ask before reading, so that nothing
   * falls between.
   */
  next(runOrThreadId: string): Wake;
  /** How many wait. */
  readers(): number;
  close(): void;
}

export function createHub(log: EventLog): Hub {
  const waiting = new Map<string, Set<() => void>>();
  const wake = (runId: string): void => {
    const listeners = waiting.get(runId);
    if (listeners === undefined) return;
    waiting.delete(runId);
    for (const listener of listeners) listener();
  };
  const unsubscribe = log.onCommitted(({ events, frames }) => {
    for (const runId of frames) wake(runId);
    for (const { type, data } of events) {
      if (type === 'RunCompleted') wake(data.runId);
      if (type === 'RunStarted' || type === 'RunCompleted' || type === 'ThreadDeleted') wake(data.threadId);
    }
  });
  return {
    next(runId) {
      const listeners = waiting.get(runId) ?? new Set();
      waiting.set(runId, listeners);
      let listener: () => void = () => undefined;
      const woken = new Promise<void>((resolve) => (listener = resolve));
      listeners.add(listener);
      return {
        woken,
        cancel() {
          listeners.delete(listener);
          if (listeners.size === 0 && waiting.get(runId) === listeners) waiting.delete(runId);
        },
      };
    },
    readers: () => [...waiting.values()].reduce((sum, { size }) => sum + size, 0),
    close() {
      unsubscribe();
      for (const runId of [...waiting.keys()]) wake(runId);
    },
  };
}

/** Wakes readers of runs and threads after commits. Its calls are hints: the log has everything, and each reader polls it too. */
import type { EventLog } from '../log/log.ts';
import type { RunRef } from '../thread/events.ts';
import { createSubscriber, type Subscriber } from './subscriber.ts';

export interface Wake {
  readonly woken: Promise<void>;
  cancel(): void;
}

export interface Hub {
  /** A subscription to the run's frames and its end, until it is closed. */
  subscribe(run: RunRef): Subscriber;
  /** Settles when a run of the thread starts or ends, or a client writes its state. Ask before reading, so that nothing falls between. */
  next(threadId: string): Wake;
  /** Settles when the run ends. */
  end(runId: string): Wake;
  /** The run has a subscriber. */
  isRead(runId: string): boolean;
  /** A run of the thread has a subscriber, which may want the next runs too. */
  isThreadRead(threadId: string): boolean;
  /** Subscribers and waiters. */
  readers(): number;
  close(): void;
}

const WAKING: ReadonlySet<string> = new Set(['RunStarted', 'RunCompleted', 'StateUpdated', 'ThreadDeleted']);

export function createHub(log: EventLog): Hub {
  const waiting = new Map<string, Set<() => void>>();
  const byRun = new Map<string, Set<Subscriber>>();
  const byThread = new Map<string, Set<Subscriber>>();
  const endOf = (runId: string): string => `end of ${runId}`;
  const wake = (id: string): void => {
    const listeners = waiting.get(id) ?? [];
    waiting.delete(id);
    for (const listener of listeners) listener();
  };
  const unsubscribe = log.onCommitted(({ events, frames }) => {
    for (const [runId, told] of frames)
      for (const subscriber of byRun.get(runId) ?? []) subscriber.push(told);
    for (const { type, data } of events) {
      if (type === 'RunCompleted') {
        for (const subscriber of byRun.get(data.runId) ?? []) subscriber.wake();
        wake(endOf(data.runId));
      }
      if (WAKING.has(type)) wake((data as { threadId: string }).threadId);
    }
  });
  function next(id: string): Wake {
    let listener: () => void = () => undefined;
    const woken = new Promise<void>((resolve) => (listener = resolve));
    return { woken, cancel: enter(waiting, id, listener) };
  }
  return {
    subscribe({ runId, threadId }) {
      const subscriber = createSubscriber(() => leaves.forEach((leave) => leave()));
      const leaves = [enter(byRun, runId, subscriber), enter(byThread, threadId, subscriber)];
      return subscriber;
    },
    next,
    end: (runId) => next(endOf(runId)),
    isRead: (runId) => byRun.has(runId),
    isThreadRead: (threadId) => byThread.has(threadId),
    readers: () =>
      [waiting, byRun].flatMap((of) => [...of.values()]).reduce((sum, { size }) => sum + size, 0),
    close() {
      unsubscribe();
      for (const runId of [...waiting.keys()]) wake(runId);
      for (const subscribers of byRun.values()) for (const subscriber of subscribers) subscriber.wake();
      byRun.clear();
      byThread.clear();
    },
  };
}

/** The returned function takes it out again. */
function enter<T>(all: Map<string, Set<T>>, id: string, one: T): () => void {
  const those = all.get(id) ?? new Set();
  all.set(id, those.add(one));
  return () => {
    those.delete(one);
    if (those.size === 0 && all.get(id) === those) all.delete(id);
  };
}

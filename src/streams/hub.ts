/** Wakes readers of runs and threads after commits. Wake-ups are hints: each reader also polls the log. */
import type { EventLog } from '../store/port/log.ts';
import type { RunRef } from '../thread/events.ts';
import { createSubscriber, type Subscriber } from './subscriber.ts';

export interface Wake {
  readonly woken: Promise<void>;
  cancel(): void;
}

export interface Hub {
  /** Subscribes to the run's frames and its end. The caller closes the subscriber. */
  subscribe(run: RunRef): Subscriber;
  /** Settles when a run of the thread starts or ends, or a client writes its state. Call it before reading, or a change is missed. */
  next(threadId: string): Wake;
  /** Settles when the run ends. */
  end(runId: string): Wake;
  /** True while the run has a subscriber. */
  isRead(runId: string): boolean;
  /** True while a run of the thread has a subscriber. Thread readers go on to the next runs. */
  isThreadRead(threadId: string): boolean;
  /** The number of subscribers and pending waits. */
  readers(): number;
  close(): void;
}

const WAKING_EVENTS: ReadonlySet<string> = new Set([
  'RunStarted',
  'RunCompleted',
  'StateUpdated',
  'ThreadDeleted',
]);

export function createHub(log: EventLog, onThreadDeleted: () => void = () => undefined): Hub {
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
    for (const [runId, committed] of frames)
      for (const subscriber of byRun.get(runId) ?? []) subscriber.push(committed);
    for (const { type, data } of events) {
      if (type === 'RunCompleted') {
        for (const subscriber of byRun.get(data.runId) ?? []) subscriber.wake();
        wake(endOf(data.runId));
      }
      if (type === 'ThreadDeleted') onThreadDeleted();
      if (WAKING_EVENTS.has(type)) wake((data as { threadId: string }).threadId);
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

/** Adds the member to the set of this id. The returned function removes it. */
function enter<T>(sets: Map<string, Set<T>>, id: string, member: T): () => void {
  const members = sets.get(id) ?? new Set();
  sets.set(id, members.add(member));
  return () => {
    members.delete(member);
    if (members.size === 0 && sets.get(id) === members) sets.delete(id);
  };
}

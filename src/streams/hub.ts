/**
 * Tells readers of runs and threads what was committed, so that they need not read it. Notices may be lost: each reader
 * also polls the log.
 */
import type { EventLog, Notice } from '../store/port/log.ts';
import type { EndedRun } from '../store/port/views/runs.ts';
import type { RunRef, ThreadEventMap } from '../thread/events.ts';
import { withoutOrigin } from '../thread/run-end.ts';
import { createSubscriber, type Subscriber } from './subscriber.ts';

export interface Wake<T = undefined> {
  readonly woken: Promise<T | undefined>;
  cancel(): void;
}

/** A run's end as its commit told it. */
export interface ToldEnd extends EndedRun {
  /** Values that the run showed and that no checkpoint holds, as JSON text; undefined without any. */
  readonly untracked: string | undefined;
}

export interface Hub {
  /** Subscribes to the run's frames and its end. The caller closes the subscriber. */
  subscribe(run: RunRef): Subscriber;
  /** Settles when a run of the thread starts or ends, or a client writes its state. Call it before reading, or a change is missed. */
  next(threadId: string): Wake;
  /** Settles when the run ends: with its end, or with undefined where the log has to be read. */
  end(run: RunRef): Wake<ToldEnd>;
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
  const waiting = new Map<string, Set<(end?: ToldEnd) => void>>();
  /** The waits for ends of runs, by thread. */
  const endings = new Map<string, Set<() => void>>();
  const byRun = new Map<string, Set<Subscriber>>();
  const byThread = new Map<string, Set<Subscriber>>();
  const endOf = (runId: string): string => `end of ${runId}`;
  const wake = (id: string, end?: ToldEnd): void => {
    const listeners = waiting.get(id) ?? [];
    waiting.delete(id);
    for (const listener of listeners) listener(end);
  };
  let heard = 0;
  const wakeReaders = (): void => {
    for (const subscribers of byRun.values()) for (const subscriber of subscribers) subscriber.wake();
  };
  const unsubscribe = log.onCommitted((notice) => {
    const { count, events, frames, elsewhere } = notice;
    // What an earlier notice told is in the log.
    if (count !== heard + 1) wakeReaders();
    heard = Math.max(heard, count);
    for (const [runId, committed] of frames)
      for (const subscriber of byRun.get(runId) ?? []) subscriber.push(committed);
    for (const { type, data } of events) {
      if (type === 'RunCompleted') {
        const end = toldEnd(data, notice);
        for (const subscriber of byRun.get(data.runId) ?? [])
          if (end === undefined) subscriber.wake();
          else subscriber.end();
        wake(endOf(data.runId), end);
      }
      if (type === 'ThreadDeleted') onThreadDeleted();
      if (WAKING_EVENTS.has(type)) wake((data as { threadId: string }).threadId);
    }
    for (const threadId of elsewhere?.threads ?? []) {
      for (const subscriber of byThread.get(threadId) ?? []) subscriber.wake();
      for (const listener of endings.get(threadId) ?? []) listener();
      wake(threadId);
    }
  });
  function next<T extends ToldEnd | undefined>(id: string, threadId: string): Wake<T> {
    let settle: (end?: ToldEnd) => void = () => undefined;
    const woken = new Promise<T | undefined>((resolve) => (settle = resolve as typeof settle));
    const cancel = (): void => leaves.forEach((leave) => leave());
    const listener = (end?: ToldEnd): void => {
      cancel();
      settle(end);
    };
    const leaves = [enter(waiting, id, listener), log.follow({ threadId })];
    if (id !== threadId) leaves.push(enter(endings, threadId, listener));
    return { woken, cancel };
  }
  return {
    subscribe(run) {
      const { runId, threadId } = run;
      const subscriber = createSubscriber(() => leaves.forEach((leave) => leave()));
      const leaves = [
        enter(byRun, runId, subscriber),
        enter(byThread, threadId, subscriber),
        log.follow(run),
      ];
      return subscriber;
    },
    next: (threadId) => next(threadId, threadId),
    end: ({ runId, threadId }) => next(endOf(runId), threadId),
    isRead: (runId) => byRun.has(runId),
    isThreadRead: (threadId) => byThread.has(threadId),
    readers: () =>
      [waiting, byRun].flatMap((of) => [...of.values()]).reduce((sum, { size }) => sum + size, 0),
    close() {
      unsubscribe();
      for (const runId of [...waiting.keys()]) wake(runId);
      wakeReaders();
      byRun.clear();
      byThread.clear();
    },
  };
}

/** Undefined for a run that its end erases. */
function toldEnd(
  { runId, threadId, outcome, head }: ThreadEventMap['RunCompleted'],
  { events, untracked }: Notice,
): ToldEnd | undefined {
  const isGone =
    outcome.kind === 'rolled-back' ||
    events.some(({ type, data }) => type === 'ThreadDeleted' && data.threadId === threadId);
  return isGone
    ? undefined
    : { runId, threadId, outcome: withoutOrigin(outcome), head, untracked: untracked.get(runId) };
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

/** Tells those who read a run or wait for a thread. Hints only: all of it is in the log, and each has a poll behind it. */
import type { EventLog } from '../log/log.ts';
import { createFollower, type Follower } from './follower.ts';

export interface Wake {
  readonly woken: Promise<void>;
  cancel(): void;
}

/** A run, and where it belongs. */
export interface RunPlace {
  readonly runId: string;
  readonly threadId: string;
}

export interface Hub {
  /** What is told of the run until it is closed. */
  follow(run: RunPlace): Follower;
  /** Settles when a run of the thread starts or ends, or a client writes its state. Ask before reading, so that nothing falls between. */
  next(threadId: string): Wake;
  /** Settles when the run ends. For those who want nothing of it before. */
  end(runId: string): Wake;
  /** Somebody follows the run. */
  isRead(runId: string): boolean;
  /** Somebody is in the middle of a run of the thread, and may want the next ones. */
  isThreadRead(threadId: string): boolean;
  /** How many follow or wait. */
  readers(): number;
  close(): void;
}

const WAKING: ReadonlySet<string> = new Set(['RunStarted', 'RunCompleted', 'StateUpdated', 'ThreadDeleted']);

export function createHub(log: EventLog): Hub {
  const waiting = new Map<string, Set<() => void>>();
  const following = new Map<string, Set<Follower>>();
  const followed = new Map<string, Set<Follower>>();
  const endOf = (runId: string): string => `end of ${runId}`;
  const wake = (id: string): void => {
    const listeners = waiting.get(id) ?? [];
    waiting.delete(id);
    for (const listener of listeners) listener();
  };
  const unsubscribe = log.onCommitted(({ events, frames }) => {
    for (const [runId, told] of frames)
      for (const follower of following.get(runId) ?? []) follower.tell(told);
    for (const { type, data } of events) {
      if (type === 'RunCompleted') {
        for (const follower of following.get(data.runId) ?? []) follower.rouse();
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
    follow({ runId, threadId }) {
      const follower = createFollower(() => leaves.forEach((leave) => leave()));
      const leaves = [enter(following, runId, follower), enter(followed, threadId, follower)];
      return follower;
    },
    next,
    end: (runId) => next(endOf(runId)),
    isRead: (runId) => following.has(runId),
    isThreadRead: (threadId) => followed.has(threadId),
    readers: () =>
      [waiting, following].flatMap((of) => [...of.values()]).reduce((sum, { size }) => sum + size, 0),
    close() {
      unsubscribe();
      for (const runId of [...waiting.keys()]) wake(runId);
      for (const followers of following.values()) for (const follower of followers) follower.rouse();
      following.clear();
      followed.clear();
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

/** Wake-ups for whoever waits on a run or a thread. Hints only: a waiter reads the log again and has a poll behind it. */
import type { EventLog } from '../log/log.ts';
import { createFollower, type Follower } from './follower.ts';

export interface Wake {
  readonly woken: Promise<void>;
  cancel(): void;
}

export interface Hub {
  /** Until it is closed or the signal aborts. */
  follow(runId: string, signal: AbortSignal): Follower;
  /**
   * Settles at the next change of a run, or when a run of a thread starts or ends. Ask before reading, so that nothing
   * falls between.
   */
  next(runOrThreadId: string): Wake;
  /** Settles when the run ends. For those who want nothing of it before. */
  end(runId: string): Wake;
  /** Somebody waits for what the run tells, or did so since it began. */
  isRead(runId: string): boolean;
  /** How many wait. */
  readers(): number;
  close(): void;
}

export function createHub(log: EventLog): Hub {
  const waiting = new Map<string, Set<() => void>>();
  const following = new Map<string, Set<Follower>>();
  /** Runs whose readers are between two waits. */
  const read = new Set<string>();
  const endOf = (runId: string): string => `end of ${runId}`;
  /** Whether anybody waited. */
  const wake = (id: string): boolean => {
    const listeners = waiting.get(id);
    if (listeners === undefined) return false;
    waiting.delete(id);
    for (const listener of listeners) listener();
    return true;
  };
  const unsubscribe = log.onCommitted(({ events, frames }) => {
    for (const [runId, told] of frames) {
      for (const follower of following.get(runId) ?? []) follower.tell(told);
      if (wake(runId)) read.add(runId);
    }
    for (const { type, data } of events) {
      if (type === 'RunCompleted') {
        read.delete(data.runId);
        for (const follower of following.get(data.runId) ?? []) follower.rouse();
        wake(data.runId);
        wake(endOf(data.runId));
      }
      if (type === 'RunStarted' || type === 'RunCompleted' || type === 'ThreadDeleted') wake(data.threadId);
    }
  });
  function next(id: string): Wake {
    const listeners = waiting.get(id) ?? new Set();
    waiting.set(id, listeners);
    let listener: () => void = () => undefined;
    const woken = new Promise<void>((resolve) => (listener = resolve));
    listeners.add(listener);
    return {
      woken,
      cancel() {
        listeners.delete(listener);
        if (listeners.size === 0 && waiting.get(id) === listeners) waiting.delete(id);
      },
    };
  }
  return {
    follow(runId, signal) {
      const followers = following.get(runId) ?? new Set();
      following.set(runId, followers);
      const leave = (): void => {
        signal.removeEventListener('abort', leave);
        followers.delete(follower);
        if (followers.size === 0 && following.get(runId) === followers) following.delete(runId);
      };
      const follower = createFollower(leave);
      followers.add(follower);
      signal.addEventListener('abort', leave, { once: true });
      if (signal.aborted) leave();
      return follower;
    },
    next,
    end: (runId) => next(endOf(runId)),
    isRead: (runId) => following.has(runId) || waiting.has(runId) || read.has(runId),
    readers: () =>
      [waiting, following].flatMap((of) => [...of.values()]).reduce((sum, { size }) => sum + size, 0),
    close() {
      unsubscribe();
      for (const runId of [...waiting.keys()]) wake(runId);
      for (const followers of following.values()) for (const follower of followers) follower.rouse();
    },
  };
}

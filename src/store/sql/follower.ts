/**
 * Tells what other nodes did to the threads and runs that are followed here. Hints say where to look; every followed thread
 * and run is looked at each 250 ms besides, so a lost hint is a delay. Nothing is asked while nothing is followed.
 *
 * S2 A run's frames are told in the order of their ids.
 */
import { systemClock } from '../../kernel/clock.ts';
import { LogUnavailable } from '../port/log-failures.ts';
import type { Elsewhere, Followed, Notice } from '../port/log.ts';
import type { StoredFrame } from '../port/payloads.ts';
import { isThreadEvent, type Hint } from './hints.ts';

/** The log's answer about followed threads and runs. */
export interface Found {
  /** `isMoved`: more happened since the version that was asked about than saved checkpoints. */
  readonly threads: readonly {
    readonly threadId: string;
    readonly version: number;
    readonly isMoved: boolean;
  }[];
  /** `last`: id of the last frame, -1 without frames. */
  readonly runs: readonly { readonly runId: string; readonly last: number }[];
}

export interface FollowerOptions {
  /** Threads with the versions that are known of them, and runs. */
  readonly look: (threads: ReadonlyMap<string, number>, runs: readonly string[]) => Promise<Found>;
  /** The next frames after these ids, by run, in order; none where the next one is large. */
  readonly frames: (after: ReadonlyMap<string, number>) => Promise<Notice['frames']>;
  readonly tell: (elsewhere: Elsewhere, frames: Notice['frames']) => void;
  readonly onFault: (error: unknown) => void;
}

export interface Follower {
  follow(what: Followed): () => void;
  /** Takes note of a commit of this node. Returns what other nodes seem to have done before it. */
  note(notice: Notice): Elsewhere | undefined;
  hear(hint: Hint): void;
  close(): void;
}

const POLL_MS = 250;
/** A reader that is further behind reads the log itself. */
const MAX_FRAMES_BEHIND = 200;
/** Threads that are not followed and whose versions are known, so that a new reader need not be told of what is old. */
const MAX_REMEMBERED = 10_000;

export function createFollower({ look, frames, tell, onFault }: FollowerOptions): Follower {
  // Real time, whatever the server's clock says: the other nodes live in it.
  const { after } = systemClock();
  const threads = new Map<string, { followers: number; version: number }>();
  const runs = new Map<string, { followers: number; last: number; readonly threadId: string }>();
  const remembered = new Map<string, number>();
  /** Last frames of runs that are to be read. */
  const behind = new Map<string, number>();
  let isLookDue = false;
  let isBusy = false;
  let isClosed = false;
  let cancelPoll: (() => void) | undefined;

  function remember(threadId: string, version: number): void {
    remembered.delete(threadId);
    remembered.set(threadId, version);
    if (remembered.size > MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!);
  }

  function schedulePoll(): void {
    if (isClosed || threads.size === 0) return;
    cancelPoll ??= after(POLL_MS, () => {
      cancelPoll = undefined;
      isLookDue = threads.size > 0;
      pump();
    });
  }

  function pump(): void {
    if (isBusy || isClosed) return;
    isBusy = true;
    work()
      // A database that is away is asked again at the next poll.
      .catch((error: unknown) => error instanceof LogUnavailable || onFault(error))
      .finally(() => {
        isBusy = false;
        schedulePoll();
      });
  }

  async function work(): Promise<void> {
    while (!isClosed && (isLookDue || behind.size > 0)) {
      if (isLookDue) await lookAtAll();
      await readBehind();
    }
  }

  async function lookAtAll(): Promise<void> {
    isLookDue = false;
    const versions = new Map([...threads].map(([threadId, { version }]) => [threadId, version]));
    const found = await look(versions, [...runs.keys()]);
    const moved = new Set<string>();
    for (const { threadId, version, isMoved } of found.threads) {
      const thread = threads.get(threadId);
      if (thread === undefined || version <= thread.version) continue;
      thread.version = version;
      if (isMoved) moved.add(threadId);
    }
    for (const { runId, last } of found.runs) {
      const run = runs.get(runId);
      if (run === undefined || last <= run.last) continue;
      if (last - run.last <= MAX_FRAMES_BEHIND) behind.set(runId, last);
      else {
        run.last = last;
        moved.add(run.threadId);
      }
    }
    if (moved.size > 0) tell({ threads: moved, mayStart: false }, new Map());
  }

  async function readBehind(): Promise<void> {
    const wanted = [...behind];
    behind.clear();
    const known = new Map<string, number>();
    for (const [runId, last] of wanted) {
      const from = runs.get(runId)?.last ?? last;
      if (from < last) known.set(runId, from);
    }
    if (known.size === 0) return;
    const found = await frames(known);
    const added = new Map<string, readonly StoredFrame[]>();
    const moved = new Set<string>();
    for (const [runId, last] of wanted) {
      const run = runs.get(runId);
      if (run === undefined || run.last >= last) continue;
      const page = (found.get(runId) ?? []).filter(({ id }) => id > run.last);
      if (page.length > 0) added.set(runId, page);
      // What is gone meanwhile, or large, is left to the readers.
      else moved.add(run.threadId);
      run.last = page.at(-1)?.id ?? last;
      if (run.last < last) behind.set(runId, last);
    }
    tell({ threads: moved, mayStart: false }, added);
  }

  return {
    follow({ threadId, runId }) {
      const thread = threads.get(threadId) ?? { followers: 0, version: remembered.get(threadId) ?? 0 };
      threads.set(threadId, thread);
      thread.followers += 1;
      const run = runId === undefined ? undefined : (runs.get(runId) ?? { followers: 0, last: -1, threadId });
      if (run !== undefined) {
        runs.set(runId!, run);
        run.followers += 1;
      }
      schedulePoll();
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        if ((thread.followers -= 1) === 0) {
          threads.delete(threadId);
          remember(threadId, thread.version);
        }
        if (run !== undefined && (run.followers -= 1) === 0) runs.delete(runId!);
      };
    },
    note({ events, frames: told }) {
      const moved = new Set<string>();
      for (const [runId, own] of told) {
        const run = runs.get(runId);
        if (run !== undefined) run.last = Math.max(run.last, own.at(-1)!.id);
      }
      for (const event of events) {
        if (!isThreadEvent(event)) continue;
        const { data, meta, type } = event;
        const thread = threads.get(data.threadId);
        if (thread === undefined) {
          remember(data.threadId, meta.version);
          continue;
        }
        if (meta.version > thread.version + 1) moved.add(data.threadId);
        thread.version = Math.max(thread.version, meta.version);
        // A run that ends without a frame may have frames of another node that were not told.
        if (type === 'RunCompleted' && runs.has(data.runId) && !told.has(data.runId))
          moved.add(data.threadId);
      }
      return moved.size > 0 ? { threads: moved, mayStart: false } : undefined;
    },
    hear({ mayStart, changed }) {
      const moved = new Set<string>();
      if (changed === undefined) isLookDue = threads.size > 0;
      for (const [threadId, version] of changed?.threads ?? []) {
        const thread = threads.get(threadId);
        if (thread === undefined || version <= thread.version) continue;
        thread.version = version;
        moved.add(threadId);
      }
      for (const [runId, last] of changed?.runs ?? []) {
        const run = runs.get(runId);
        if (run !== undefined && last > run.last) behind.set(runId, Math.max(last, behind.get(runId) ?? -1));
      }
      if (moved.size > 0 || mayStart) tell({ threads: moved, mayStart }, new Map());
      pump();
    },
    close() {
      isClosed = true;
      cancelPoll?.();
    },
  };
}

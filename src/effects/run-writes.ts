/**
 * Commits what one attempt writes, in order and in few commits: writes that arrive during a commit, or within a commit
 * interval, share the next one.
 *
 * X5 The end of a step requests a commit at once, since a crash would repeat an unsaved step; frames may wait. L1
 * `settled` and `sync` wait until a write is durable; nothing is visible before that. S1 Frames, checkpoints and
 * events reach the log in the order in which they were added. X2 Every commit carries the lease. All pending and later
 * calls reject after a refusal.
 */
import { commit as commitTo } from '../actors/aggregate.ts';
import type { Dispatched, Threads } from '../actors/threads.ts';
import { breathe } from '../kernel/breathe.ts';
import type { Clock } from '../kernel/clock.ts';
import type { EventLog, Lease } from '../store/port/log.ts';
import type { PayloadWrite } from '../store/port/payloads.ts';
import type { ThreadCommand } from '../thread/decide.ts';
import type { ThreadEvent } from '../thread/events.ts';
import { isStepEnd } from '../thread/state.ts';
import type { CommitInterval } from './commit-interval.ts';
import { onlyLatest } from './only-latest.ts';
import type { Patience } from '../store/port/patience.ts';

export interface RunWrite {
  readonly payload: PayloadWrite;
  /** Command whose event belongs to the payload, if any. */
  readonly command?: ThreadCommand;
  /** Approximate size in characters. */
  readonly size: number;
  /**
   * X7 An answer waits for the end of its step, `other` until something else is written or asks for it. `company` has no commit
   * of its own.
   */
  readonly waits?: 'answer' | 'other' | 'company';
}

export interface RunWrites {
  /** Throws where `add` would reject. */
  assertOpen(): void;
  /**
   * Adds a write. Resolves at once while there is room, otherwise when the write is durable; with `sync` always when
   * it is durable. Rejects when this or an earlier write was refused.
   */
  add(write: RunWrite, sync?: boolean): Promise<void>;
  /** Resolves when all writes added so far are durable, `company` if asked for; rejects when one of them never will be. */
  settled(how?: 'with company'): Promise<void>;
  /** Refuses further writes. */
  end(): void;
  /**
   * Commits all pending writes together with the command and its payloads, and refuses further writes. Rejects when
   * earlier writes could not be stored; those are dropped, and a second call commits without them.
   */
  close(
    command: ThreadCommand,
    payloads?: (events: readonly ThreadEvent[]) => readonly PayloadWrite[],
  ): Promise<Dispatched>;
}

export interface RunWritesOptions {
  readonly log: EventLog;
  readonly threads: Threads;
  readonly threadId: string;
  readonly lease: Lease;
  /** The thread's history is never read, so each commit stores only the newest checkpoints. */
  readonly forgetful: boolean;
  /** A client reads the run's stream. Otherwise writes wait for more writes of this run. */
  readonly isRead: () => boolean;
  /** Interval after which writes with a reader are committed, together with those of other runs. */
  readonly commitInterval: CommitInterval;
  readonly clock: Clock;
  /** Earlier attempts may have kept what they were answered. */
  readonly hasKept: boolean;
  readonly owesWebhook: boolean;
  /** Makes the error for a write that found the lease gone. */
  readonly fenced: () => Error;
  readonly patiently: Patience;
}

/** Back-pressure: beyond either bound of writes that are not durable, `add` waits. */
const MAX_WAITING_WRITES = 64;
const MAX_WAITING_CHARACTERS = 262_144;
/** Delay of writes without a reader that end no step; about as long as many runs take. */
const LINGER_MS = 10;
/** Delay of answers that no call follows: the end of their step makes them superfluous. */
const ANSWER_LINGER_MS = 30;

interface Entry {
  readonly write: RunWrite;
  /** Created on demand: most writes are frames, and a promise for each would be most of the garbage. */
  done: Deferred | undefined;
}

interface Deferred {
  readonly promise: Promise<void>;
  settle(error?: unknown): void;
}

function defer(): Deferred {
  let settle: Deferred['settle'] = () => undefined;
  const promise = new Promise<void>((resolve, reject) => {
    settle = (error) => (error === undefined ? resolve() : reject(error));
  });
  return { promise, settle };
}

const beginsCommit = ({ waits }: RunWrite): boolean => waits === undefined || waits === 'answer';

/** Call before the entry is settled. */
const doneOf = (entry: Entry): Promise<void> => (entry.done ??= defer()).promise;

export function openRunWrites(options: RunWritesOptions): RunWrites {
  const { log, threads, threadId, lease, forgetful, isRead } = options;
  const { commitInterval, clock, fenced, owesWebhook, patiently } = options;
  let waiting: Entry[] = [];
  let size = 0;
  let urgent = false;
  /** A pending write ends a step, or follows an answer: its step goes on. */
  let isDue = false;
  /** All pending writes wait for others. */
  let onlyWaits = true;
  let { hasKept } = options;
  let pump: Promise<void> | undefined;
  let failure: { readonly error: unknown; isReported: boolean } | undefined;
  let closed = false;
  /** Ends the current delay. */
  let hurry: () => void = () => undefined;
  /** Recomputes the current delay after the pending writes changed. */
  let rearm: () => void = () => undefined;

  const take = (): Entry[] => {
    const taken = waiting;
    [waiting, size] = [[], 0];
    urgent = isDue = false;
    onlyWaits = true;
    return taken;
  };

  function fail(error: unknown, entries: readonly Entry[]): void {
    failure ??= { error, isReported: false };
    for (const { done } of [...entries, ...take()]) done?.settle(error);
  }

  const writesOf = (entries: readonly Entry[], isOver = false): readonly RunWrite[] => {
    const writes = withoutPast(
      lease.runId,
      entries.map(({ write }) => write),
      hasKept,
    );
    hasKept ||= writes.some(({ payload }) => payload.kind === 'resume');
    return forgetful ? onlyLatest(writes, isOver) : writes;
  };

  async function commit(taken: readonly Entry[]): Promise<void> {
    const writes = writesOf(taken);
    const commands = writes.flatMap(({ command }) => command ?? []);
    const payloads = writes.map(({ payload }) => payload);
    if (commands.length > 0) {
      const saved = await patiently(() => threads.dispatch(threadId, commands, { lease, payloads }));
      if (!saved.ok) throw fenced();
      return;
    }
    // Commits without events keep no receipt, so the lease id serves as command id.
    const result = await commitTo(log, { commandId: lease.leaseId, appends: [], payloads, lease });
    if (result.kind === 'fenced-out') throw fenced();
  }

  const isFull = (): boolean => waiting.length >= MAX_WAITING_WRITES || size >= MAX_WAITING_CHARACTERS;

  async function linger(): Promise<void> {
    await new Promise<void>((resolve) => {
      let cancel: () => void = () => undefined;
      rearm = () => {
        cancel();
        cancel =
          isDue || (isRead() && !onlyWaits)
            ? commitInterval.next(resolve)
            : clock.after(onlyWaits ? ANSWER_LINGER_MS : LINGER_MS, resolve);
      };
      hurry = () => {
        cancel();
        resolve();
      };
      rearm();
    });
    hurry = rearm = () => undefined;
  }

  async function run(): Promise<void> {
    // Lets the caller of the first `add` mark it as urgent.
    await undefined;
    if (urgent) await breathe();
    while (urgent || isFull() || waiting.some(({ write }) => beginsCommit(write))) {
      if (!urgent && !isFull()) await linger();
      const entries = take();
      if (entries.length === 0) break;
      try {
        await commit(entries);
        for (const { done } of entries) done?.settle();
      } catch (error) {
        fail(error, entries);
      }
    }
    pump = undefined;
  }

  function enter(write: RunWrite): Entry {
    const entry: Entry = { write, done: undefined };
    waiting.push(entry);
    size += write.size;
    const { command } = write;
    const endsStep = command?.type === 'SaveCheckpoint' && isStepEnd(command);
    const follows = write.waits === 'other' && waiting.some((each) => each.write.waits === 'answer');
    if (!isDue && (endsStep || follows)) {
      isDue = true;
      rearm();
    }
    if (onlyWaits && write.waits === undefined) {
      onlyWaits = false;
      rearm();
    }
    if (beginsCommit(write) || isFull()) pump ??= run();
    return entry;
  }

  function assertOpen(): void {
    if (failure !== undefined) throw failure.error;
    if (closed) throw new Error('The attempt is over; nothing more is saved');
  }

  return {
    assertOpen,
    async add(write, sync = false) {
      assertOpen();
      const entry = enter(write);
      urgent ||= sync;
      // A failure that `add` does not wait for rejects the next `add` and the run's end.
      if (!sync && !isFull()) return;
      hurry();
      await doneOf(entry);
    },
    async settled(how) {
      const last = waiting.findLast(({ write }) => how !== undefined || write.waits !== 'company');
      urgent = last !== undefined;
      hurry();
      if (urgent) pump ??= run();
      await (last === undefined ? pump : doneOf(last));
      if (failure !== undefined) throw failure.error;
    },
    end() {
      closed = true;
      hurry();
    },
    async close(command, payloads = () => []) {
      const entries = closed ? [] : take();
      closed = true;
      hurry();
      // Waits for the commit in progress; the pending writes go into the commit below.
      await pump;
      if (failure !== undefined && !failure.isReported) {
        fail(failure.error, entries);
        failure.isReported = true;
        throw failure.error;
      }
      try {
        // The end of the run erases what it was answered.
        const isOver = command.type === 'CompleteRun';
        const remaining = writesOf(entries, isOver).filter(
          ({ payload }) => payload.kind !== 'resume' || !isOver,
        );
        const commands = [...remaining.flatMap((write) => write.command ?? []), command];
        const own = remaining.map(({ payload }) => payload);
        const both = (events: readonly ThreadEvent[]) => [...own, ...payloads(events)];
        const all = { lease, owesWebhook, payloads: both };
        const done = await patiently(() => threads.dispatch(threadId, commands, all));
        for (const entry of entries) entry.done?.settle(done.ok ? undefined : fenced());
        return done;
      } catch (error) {
        if (entries.length > 0) fail(error, entries);
        if (failure !== undefined) failure.isReported = true;
        throw error;
      }
    },
  };
}

/**
 * X7 Writes of one commit without answers to tasks that its root checkpoint ends: those started from earlier ones. `hasKept`:
 * earlier commits may have such answers.
 */
function withoutPast(runId: string, writes: readonly RunWrite[], hasKept: boolean): readonly RunWrite[] {
  const base = writes.reduce<string | undefined>(
    (last, { payload }) =>
      payload.kind === 'checkpoint' && payload.checkpoint.ns === '' ? payload.checkpoint.checkpointId : last,
    undefined,
  );
  if (base === undefined) return writes;
  const left = writes.filter(
    ({ payload }) => payload.kind !== 'resume' || payload.base === undefined || payload.base === base,
  );
  return hasKept ? [...left, { payload: { kind: 'erase-resume', runId, base }, size: 0 }] : left;
}

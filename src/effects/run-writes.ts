/**
 * What one attempt at a run writes, in order and few commits: whatever was taken while a commit was under way, or until
 * the end of the commit interval, forms the next one.
 *
 * X5 The end of a step asks for a commit at once, or the step would be done again after a crash; frames may linger.
 * L1 `settled` and `sync` are for those who need to know that a write is durable; nobody is shown anything before.
 * S1 Frames, checkpoints and facts reach the log in the order in which they were taken, each with all before it.
 * X2 Every commit carries the lease. A refusal is told to everyone who waits and to all who come later.
 */
import { commit as commitTo } from '../actors/aggregate.ts';
import type { Dispatched, Threads } from '../actors/threads.ts';
import { breathe } from '../kernel/breathe.ts';
import type { Clock } from '../kernel/clock.ts';
import type { EventLog, Lease } from '../log/log.ts';
import type { PayloadWrite } from '../log/payloads.ts';
import type { ThreadCommand } from '../thread/decide.ts';
import type { ThreadEvent } from '../thread/events.ts';
import { isStepEnd } from '../thread/state.ts';
import type { CommitInterval } from './commit-interval.ts';
import { onlyLatest } from './only-latest.ts';

export interface RunWrite {
  readonly payload: PayloadWrite;
  /** The fact that the payload belongs to, if any. */
  readonly command?: ThreadCommand;
  /** Roughly, in characters. */
  readonly size: number;
}

export interface RunWrites {
  /**
   * Takes a write. Resolves at once while there is room, else when it is durable; with `sync` always when it is
   * durable. Rejects when an earlier write or this one was refused.
   */
  add(write: RunWrite, sync?: boolean): Promise<void>;
  /** Resolves when everything taken so far is durable, rejects when it never will be. */
  settled(): Promise<void>;
  /** Takes nothing more. */
  end(): void;
  /**
   * One commit of everything that waits and of what comes with the facts; takes nothing more. Rejects when something
   * that was taken could not be stored: it is dropped then, and a second call commits without it.
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
  /** Nobody looks back into the thread: of the checkpoints of one commit the newest will do. */
  readonly forgetful: boolean;
  /** Somebody waits for what the run tells. Otherwise writes wait for others of the run to share a commit with. */
  readonly isRead: () => boolean;
  /** When what somebody waits for is written: together with what other runs have. */
  readonly commitInterval: CommitInterval;
  readonly clock: Clock;
  /** Makes the error for a write that found the lease gone. */
  readonly fenced: () => Error;
}

/** Back-pressure: beyond this much that is not durable, whoever produces more waits. */
const MAX_WAITING = 64;
const MAX_CHARACTERS = 262_144;
/** The wait of writes that no reader and no step waits for: as long as many a run takes. */
const LINGER_MS = 10;

interface Entry {
  readonly write: RunWrite;
  /** Only where somebody waits: most writes are frames, and a promise for each would be most of the garbage. */
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

/** Call it before the entry is settled. */
const doneOf = (entry: Entry): Promise<void> => (entry.done ??= defer()).promise;

export function openRunWrites(options: RunWritesOptions): RunWrites {
  const { log, threads, threadId, lease, forgetful, isRead, commitInterval, clock, fenced } = options;
  let waiting: Entry[] = [];
  let size = 0;
  let urgent = false;
  /** The end of a step waits. */
  let hasStep = false;
  let pump: Promise<void> | undefined;
  let failure: { readonly error: unknown; told: boolean } | undefined;
  let closed = false;
  /** Ends the wait for more. */
  let hurry: () => void = () => undefined;
  /** Makes the wait as long as what waits now may take. */
  let rearm: () => void = () => undefined;

  const take = (): Entry[] => {
    const taken = waiting;
    waiting = [];
    size = 0;
    urgent = hasStep = false;
    return taken;
  };

  function fail(error: unknown, entries: readonly Entry[]): void {
    failure ??= { error, told: false };
    for (const { done } of [...entries, ...take()]) done?.settle(error);
  }

  const wanted = (entries: readonly Entry[]): readonly RunWrite[] => {
    const writes = entries.map(({ write }) => write);
    return forgetful ? onlyLatest(writes) : writes;
  };

  async function commit(taken: readonly Entry[]): Promise<void> {
    const writes = wanted(taken);
    const commands = writes.flatMap(({ command }) => command ?? []);
    const payloads = writes.map(({ payload }) => payload);
    if (commands.length > 0) {
      const saved = await threads.dispatch(threadId, commands, { lease, payloads });
      if (!saved.ok) throw fenced();
      return;
    }
    // Without facts no receipt is kept, so the id is one that is there already.
    const result = await commitTo(log, { commandId: lease.leaseId, appends: [], payloads, lease });
    if (result.kind === 'fenced-out') throw fenced();
  }

  const isFull = (): boolean => waiting.length >= MAX_WAITING || size >= MAX_CHARACTERS;

  async function linger(): Promise<void> {
    await new Promise<void>((resolve) => {
      let cancel: () => void = () => undefined;
      rearm = () => {
        cancel();
        cancel = hasStep || isRead() ? commitInterval.next(resolve) : clock.after(LINGER_MS, resolve);
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
    // Whoever took the first write says now whether it is urgent.
    await undefined;
    if (urgent) await breathe();
    while (waiting.length > 0) {
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
    if (!hasStep && command?.type === 'SaveCheckpoint' && isStepEnd(command)) {
      hasStep = true;
      rearm();
    }
    pump ??= run();
    return entry;
  }

  return {
    async add(write, sync = false) {
      if (failure !== undefined) throw failure.error;
      if (closed) throw new Error('The attempt is over; nothing more is saved');
      const entry = enter(write);
      urgent ||= sync;
      // Who does not wait for it hears of a failure at the next write, and the run at its end.
      if (!sync && !isFull()) return;
      hurry();
      await doneOf(entry);
    },
    async settled() {
      urgent = waiting.length > 0;
      hurry();
      const last = waiting.at(-1);
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
      // Behind the commit under way, and together with what has waited for it.
      await pump;
      if (failure !== undefined && !failure.told) {
        fail(failure.error, entries);
        failure.told = true;
        throw failure.error;
      }
      try {
        const left = wanted(entries);
        const commands = [...left.flatMap((write) => write.command ?? []), command];
        const own = left.map(({ payload }) => payload);
        const done = await threads.dispatch(threadId, commands, {
          lease,
          payloads: (events) => [...own, ...payloads(events)],
        });
        for (const entry of entries) entry.done?.settle(done.ok ? undefined : fenced());
        return done;
      } catch (error) {
        if (entries.length > 0) fail(error, entries);
        if (failure !== undefined) failure.told = true;
        throw error;
      }
    },
  };
}

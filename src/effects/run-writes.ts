/**
 * What one attempt at a run writes, in order and few commits: whatever was taken while a commit was under way, or in
 * one turn of the event loop, forms the next one.
 *
 * L1 `settled` and `sync` are for those who need to know that a write is durable; nobody is shown anything before.
 * S1 Frames, checkpoints and facts reach the log in the order in which they were taken, each with all before it.
 * X2 Every commit carries the lease. A refusal is told to everyone who waits and to all who come later.
 */
import { LogUnavailable, type Dispatched, type Threads } from '../actors/threads.ts';
import { breathe } from '../kernel/breathe.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { EventLog, Lease } from '../log/log.ts';
import type { PayloadWrite } from '../log/payloads.ts';
import type { ThreadCommand } from '../thread/decide.ts';
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
  /**
   * One commit of everything that waits and of these; takes nothing more. Rejects when something that was taken could
   * not be stored: it is dropped then, and a second call commits without it.
   */
  close(command: ThreadCommand, payloads: readonly PayloadWrite[]): Promise<Dispatched>;
}

export interface RunWritesOptions {
  readonly log: EventLog;
  readonly threads: Threads;
  readonly ids: Ids;
  readonly threadId: string;
  readonly lease: Lease;
  /** Nobody looks back into the thread: of the checkpoints of one commit the newest will do. */
  readonly forgetful: boolean;
  /** Somebody waits for what the run tells. Otherwise writes wait a moment for others to share a commit with. */
  readonly isRead: () => boolean;
  readonly clock: Clock;
  /** Makes the error for a write that found the lease gone. */
  readonly fenced: () => Error;
}

/** Back-pressure: beyond this much that is not durable, whoever produces more waits. */
const MOST_WAITING = 64;
const MOST_CHARACTERS = 262_144;
/** As long as many a run takes, and of no consequence after a crash: less is lost than one step. */
const LINGER_MS = 10;

interface Entry extends RunWrite {
  settle(error?: unknown): void;
  readonly done: Promise<void>;
}

export function openRunWrites(options: RunWritesOptions): RunWrites {
  const { log, threads, ids, threadId, lease, forgetful, isRead, clock, fenced } = options;
  let waiting: Entry[] = [];
  let size = 0;
  let urgent = false;
  let pump: Promise<void> | undefined;
  let failure: { readonly error: unknown; told: boolean } | undefined;
  let closed = false;
  /** Ends the wait for more. */
  let hurry: () => void = () => undefined;

  const take = (): Entry[] => {
    const taken = waiting;
    waiting = [];
    size = 0;
    urgent = false;
    return taken;
  };

  function fail(error: unknown, entries: readonly Entry[]): void {
    failure ??= { error, told: false };
    for (const { settle } of [...entries, ...take()]) settle(error);
  }

  const wanted = (entries: readonly Entry[]): readonly Entry[] => (forgetful ? onlyLatest(entries) : entries);

  async function commit(taken: readonly Entry[]): Promise<void> {
    const entries = wanted(taken);
    const commands = entries.flatMap(({ command }) => command ?? []);
    const payloads = entries.map(({ payload }) => payload);
    if (commands.length > 0) {
      const saved = await threads.dispatch(threadId, commands, { lease, payloads });
      if (!saved.ok) throw fenced();
      return;
    }
    const result = await log.commit({ commandId: ids.uuid(), appends: [], payloads, lease });
    if (result.kind === 'fenced-out') throw fenced();
    if (result.kind === 'unknown-outcome') throw new LogUnavailable(result.cause);
  }

  const isFull = (): boolean => waiting.length >= MOST_WAITING || size >= MOST_CHARACTERS;

  async function linger(): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = clock.after(LINGER_MS, resolve);
      hurry = () => {
        cancel();
        resolve();
      };
    });
    hurry = () => undefined;
  }

  async function run(): Promise<void> {
    await breathe();
    while (waiting.length > 0) {
      if (!isRead() && !urgent && !isFull()) await linger();
      const entries = take();
      if (entries.length === 0) break;
      try {
        await commit(entries);
        for (const { settle } of entries) settle();
      } catch (error) {
        fail(error, entries);
      }
    }
    pump = undefined;
  }

  function enter(write: RunWrite): Entry {
    let settle: Entry['settle'] = () => undefined;
    const done = new Promise<void>((resolve, reject) => {
      settle = (error) => (error === undefined ? resolve() : reject(error));
    });
    // Who does not wait for it hears of a failure at the next write, and the run at its end.
    done.catch(() => undefined);
    const entry = { settle, done, ...write };
    waiting.push(entry);
    size += write.size;
    pump ??= run();
    return entry;
  }

  return {
    async add(write, sync = false) {
      if (failure !== undefined) throw failure.error;
      if (closed) throw new Error('The attempt is over; nothing more is saved');
      const { done } = enter(write);
      urgent ||= sync;
      if (!sync && !isFull()) return;
      hurry();
      await done;
    },
    async settled() {
      urgent = waiting.length > 0;
      hurry();
      await (waiting.at(-1)?.done ?? pump);
      if (failure !== undefined) throw failure.error;
    },
    async close(command, payloads) {
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
        const commands = [...left.flatMap((entry) => entry.command ?? []), command];
        const own = left.map(({ payload }) => payload);
        const done = await threads.dispatch(threadId, commands, { lease, payloads: [...own, ...payloads] });
        for (const { settle } of entries) settle(done.ok ? undefined : fenced());
        return done;
      } catch (error) {
        if (entries.length > 0) fail(error, entries);
        if (failure !== undefined) failure.told = true;
        throw error;
      }
    },
  };
}

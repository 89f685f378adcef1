/**
 * The writer of a node: batches asked for during one turn of the event loop, and while a transaction is under way, share the
 * next one, which is one pipeline (exchange.ts). When one of them is refused all are undone and sent again one by one.
 *
 * L1 Promises settle when the server says that the transaction is done. L4 When the connection is lost after the end of a
 * transaction was sent, its own rows say whether it is done; without them it is sent again. A resend that the first one
 * stands in the way of is refused, so its own rows are asked before a refusal counts. While the database is away such batches
 * wait, and those of runs that execute; others are refused after a time.
 */
import pg from 'pg';
import { systemClock } from '../../kernel/clock.ts';
import { LogAway, LogUnavailable } from '../port/log-failures.ts';
import type { Batch, CommitResult, Receipt } from '../port/log.ts';
import type { Recorded } from '../port/events.ts';
import type { BatchWriter } from '../sql/batch-writer.ts';
import { findReceipt } from '../sql/event-store.ts';
import { Outdated, Refused } from '../sql/refused.ts';
import { rows, type Work, type WorkContext } from '../sql/work.ts';
import { ConnectionLost, type Transaction } from './exchange.ts';
import { isAway, type Session } from './sessions.ts';

/** A transaction takes at most this many batches; the rest forms the next one. */
const LARGEST_GROUP = 200;
/** How long a batch that was not sent waits for a database that is away. */
const MAX_AWAY_MS = 10_000;
/** Time between two looks for it. */
const RETRY_MS = 100;
/** Deadlocks and serialization failures: as after `Outdated`, the same transaction is sent again. */
const RETRIED = /^(?:40P01|40001)$/;
const MAX_RETRIES = 5;
const UNIQUE_VIOLATION = '23505';
/** SQLSTATEs of statements that are wrong because of the batch's own values, or that exceed a limit of the engine. */
const MALFORMED = /^(?:2[123]|54)/;
/** A batch that the server cannot take in time costs a connection each time; so many are lost before it is given up. */
const MAX_LOSSES = 5;
const AWAY = 'the database does not answer';
const NO_ROOM = /^53[01]00$/;

interface Waiting {
  readonly batch: Batch;
  readonly since: number;
  /** How often the connection was lost after the batch had been sent and before the answer came. */
  losses: number;
  resolve(result: CommitResult): void;
  reject(error: unknown): void;
}

interface Settled {
  readonly waiting: Waiting;
  readonly result?: CommitResult;
  readonly error?: unknown;
}

interface Committed {
  readonly batch: Batch;
  readonly receipt: Receipt;
}

export interface Writer {
  commit(batch: Batch): Promise<CommitResult>;
  /** Settles when everything asked for so far has been committed or refused. */
  drain(): Promise<void>;
  /** Refuses what waits and all later commits. */
  stop(): Promise<void>;
}

export interface WriterOptions {
  readonly context: WorkContext;
  readonly batches: BatchWriter;
  readonly now: () => number;
  readonly open: () => Promise<Session>;
  /** Called after the promises of these batches have settled. */
  readonly announce: (committed: readonly Committed[]) => void;
  readonly maxAwayMs?: number;
}

export function createWriter({
  context,
  batches,
  now,
  open,
  announce,
  maxAwayMs = MAX_AWAY_MS,
}: WriterOptions): Writer {
  // Real time, whatever the server's clock says: the database lives in it.
  const { after, monotonic } = systemClock();
  const queue: Waiting[] = [];
  const pending = new Set<Promise<CommitResult>>();
  const idle: (() => void)[] = [];
  let session: Session | undefined;
  let isBusy = false;
  let stopped: string | undefined;
  let isDraining = false;

  function schedule(): void {
    if (isBusy) return;
    isBusy = true;
    setImmediate(() => void flush());
  }

  async function flush(): Promise<void> {
    while (queue.length > 0) {
      const left = await settle(queue.splice(0, LARGEST_GROUP));
      if (left.length === 0) continue;
      queue.unshift(...left);
      await pause();
      giveUp();
    }
    isBusy = false;
    for (const rest of idle.splice(0)) rest();
  }

  /** Returns what waits for a database that is away. */
  async function settle(group: readonly Waiting[]): Promise<readonly Waiting[]> {
    const isTogether = group.length > 1 && group.every(({ losses }) => losses === 0);
    if (isTogether && (await commitTogether(group))) return [];
    const settled: Settled[] = [];
    for (const waiting of group) {
      const one = await commitAlone(waiting);
      if (one === undefined) break;
      settled.push(one);
    }
    done(settled);
    return group.slice(settled.length);
  }

  /** Refuses what has waited long enough, and at the end what waits at all. */
  function giveUp(): void {
    const due = monotonic() - maxAwayMs;
    for (const waiting of queue.splice(0)) {
      const { batch, since, losses, resolve, reject } = waiting;
      if (stopped !== undefined) resolve({ kind: 'unknown-outcome', cause: stopped });
      else if (since > due || (!isDraining && (losses > 0 || batch.lease !== undefined))) queue.push(waiting);
      else if (losses > 0) reject(new LogUnavailable(AWAY));
      else reject(new LogAway(AWAY));
    }
  }

  /** False: nothing of the group is done, or the outcome is unknown. */
  async function commitTogether(group: readonly Waiting[]): Promise<boolean> {
    const at = now();
    try {
      const results = await transact(function* (): Work<CommitResult[]> {
        const each: CommitResult[] = [];
        for (const { batch } of group) each.push(yield* batches.apply(batch, at));
        return each;
      }, 'shared');
      done(group.map((waiting, index) => ({ waiting, result: results[index]! })));
      return true;
    } catch (error) {
      if (error instanceof ConnectionLost && error.isUnknown)
        for (const waiting of group) waiting.losses += 1;
      return false;
    }
  }

  /** Undefined: the database is away. */
  async function commitAlone(waiting: Waiting): Promise<Settled | undefined> {
    for (let retries = 0; ;) {
      try {
        if (waiting.losses > 0) {
          const found = await transact(() => findOwn(waiting.batch));
          if (found !== undefined) return { waiting, result: found };
        }
        const at = now();
        return { waiting, result: await transact(() => batches.apply(waiting.batch, at)) };
      } catch (error) {
        const { code = '' } = error as { code?: string };
        if (error instanceof ConnectionLost && error.isUnknown) {
          if ((waiting.losses += 1) > MAX_LOSSES)
            return { waiting, error: new LogUnavailable(error.message) };
        }
        if (isAway(error)) return undefined;
        if ((RETRIED.test(code) || error instanceof Outdated) && (retries += 1) <= MAX_RETRIES) continue;
        const result = await resultOf(waiting, error);
        if (result === 'away') return undefined;
        return result === undefined ? { waiting, error: failureOf(error) } : { waiting, result };
      }
    }
  }

  const pause = (): Promise<void> => new Promise((resolve) => void after(RETRY_MS, resolve));

  /** The result of a batch that could not be written; undefined when that is a failure. */
  async function resultOf(
    { batch, losses }: Waiting,
    error: unknown,
  ): Promise<CommitResult | 'away' | undefined> {
    try {
      const own = losses > 0 ? await transact(() => findOwn(batch)) : undefined;
      if (own !== undefined) return own;
      if (error instanceof Refused) return error.result;
      if (!(error instanceof pg.DatabaseError)) return undefined;
      if (NO_ROOM.test(error.code ?? '')) return { kind: 'not-done', cause: 'the disk is full' };
      if (error.code !== UNIQUE_VIOLATION || !batch.repeatable) return undefined;
      // Another node was given the same command at the same time.
      const receipt = await transact(() => findReceipt(context, batch.commandId));
      return receipt && { kind: 'duplicate', receipt };
    } catch (later) {
      if (isAway(later)) return 'away';
      throw later;
    }
  }

  function failureOf(error: unknown): unknown {
    if (!(error instanceof pg.DatabaseError)) return error;
    if (MALFORMED.test(error.code ?? '')) return error;
    return Object.assign(new LogUnavailable(error.message), { cause: error });
  }

  async function transact<T>(work: () => Work<T>, transaction?: Transaction): Promise<T> {
    try {
      if (session === undefined || session.isLost) {
        // Rows that are held in memory may come from a transaction that was undone.
        batches.undone();
        session = await open();
      }
      return await session.run(work(), transaction);
    } catch (error) {
      batches.undone();
      throw error;
    }
  }

  function done(settled: readonly Settled[]): void {
    for (const { waiting, result, error } of settled)
      if (result === undefined) waiting.reject(error);
      else waiting.resolve(result);
    const written = settled.flatMap(({ waiting: { batch }, result }) =>
      result?.kind === 'committed' ? [{ batch, receipt: result.receipt }] : [],
    );
    // The microtask runs after those of the promises above: a caller sees its commit before a listener reacts to it.
    queueMicrotask(() => announce(written));
  }

  return {
    commit(batch) {
      if (stopped !== undefined) return Promise.resolve({ kind: 'unknown-outcome', cause: stopped });
      const promise = new Promise<CommitResult>((resolve, reject) => {
        const settled = (): void => void pending.delete(promise);
        queue.push({
          ...{ batch, since: monotonic(), losses: 0 },
          resolve: (result) => (settled(), resolve(result)),
          reject: (error) => (settled(), reject(error as Error)),
        });
      });
      pending.add(promise);
      schedule();
      return promise;
    },
    async drain() {
      isDraining = true;
      await Promise.allSettled(pending);
    },
    async stop() {
      stopped ??= 'the log is closed';
      for (const { resolve } of queue.splice(0)) resolve({ kind: 'unknown-outcome', cause: stopped });
      if (isBusy) await new Promise<void>((resolve) => idle.push(resolve));
      await session?.end();
    },
  };
}

/**
 * What a batch was committed as whose answer never came: events are found by stream, version and command, frames by the run's
 * id. Without either the batch may be sent again, because its payloads are keyed.
 */
function* findOwn(batch: Batch): Work<CommitResult | undefined> {
  const events: Recorded[] = [];
  for (const { stream, expected, events: own } of batch.appends) {
    if (own.length === 0) continue;
    const found: readonly { position: number; at: number }[] = yield rows(
      'SELECT position, at FROM events WHERE stream = ? AND version > ? AND command_id = ? ORDER BY version LIMIT ?',
      [stream, expected, batch.commandId, own.length],
    );
    if (found.length < own.length) return undefined;
    own.forEach(({ type, data }, index) => {
      const { position, at } = found[index]!;
      const meta = { position, stream, version: expected + index + 1, at, commandId: batch.commandId };
      const caused = batch.by === undefined ? data : { ...data, by: batch.by };
      events.push({ type, data: caused, meta } as Recorded);
    });
  }
  if (events.length > 0) return { kind: 'committed', receipt: { events, at: events[0]!.meta.at } };
  const frames = batch.payloads?.find((write) => write.kind === 'frames');
  if (frames === undefined) return undefined;
  const [row]: readonly { at: number }[] = yield rows(
    'SELECT at FROM frames WHERE run = ? AND first <= ? AND last >= ?',
    [frames.runId, frames.first, frames.first],
  );
  return row && { kind: 'committed', receipt: { events: [], at: row.at } };
}

/**
 * The one writer. Batches asked for during one turn of the event loop share a transaction, so one fsync serves many.
 * Nothing is read to decide: the statements that write say what the batch depends on. A batch that is refused or breaks
 * when a part of it is written makes all of them begin anew, each with a savepoint.
 *
 * Another program may hold the lock of the file (a shell with an open transaction): then nothing was begun, and commits
 * wait for it while the thread goes on with other things.
 *
 * D1 Nothing else commits. L1 Promises settle after COMMIT returned. L4 When COMMIT, or anything that is no fault of
 * one batch, fails, every batch under way gets `unknown-outcome` and nothing is ever written again. One exception:
 * SQLITE_FULL comes from a write before the sync, and SQLite rolls back; then the batches are `not-done`.
 */
import { Database } from './library.ts';
import { systemClock } from '../../kernel/clock.ts';
import type { Batch, CommitResult, Notice } from '../port/log.ts';
import { noticeOf } from '../port/notice.ts';
import type { Connection } from './connection.ts';
import type { BatchWriter } from '../sql/batch-writer.ts';
import { Refused } from '../sql/refused.ts';
import { isTriedOnFullDisk, type Room } from './files/room.ts';
import type { Prepare } from './statements.ts';

/** A transaction takes at most this many batches; the rest forms the next one. */
const LARGEST_GROUP = 1000;

/** Between two looks whether another program still holds the lock, and how long it may. */
const OCCUPIED_MS = 20;
const MAX_OCCUPIED_MS = 60_000;
/** When somebody should know. */
const ODD_MS = 1_000;

const NOT_DONE = { kind: 'not-done', cause: 'the disk is full' } as const;

interface Waiting {
  readonly batch: Batch;
  resolve(result: CommitResult): void;
  reject(error: unknown): void;
}

type Settled = { waiting: Waiting; result?: CommitResult; error?: unknown };

export interface Writer {
  commit(batch: Batch): Promise<CommitResult>;
  /** Settles when everything asked for so far has been committed or refused. */
  drain(): Promise<void>;
  /** Refuses what waits and all later commits. */
  stop(): void;
}

export interface WriterOptions {
  readonly db: Connection;
  readonly prepare: Prepare;
  readonly batches: BatchWriter;
  readonly now: () => number;
  readonly room: Room;
  /** Hears of the batches of each transaction that wrote something, and the position given last, if one was. */
  readonly committed: (batches: readonly Batch[], head: number | undefined) => void;
  readonly announce: (notice: Notice) => void;
  readonly poisoned: (cause: string) => void;
  /** Hears that another program holds the lock, each time that it has done so for a second. */
  readonly onFault: (error: Error) => void;
}

export function createWriter({
  db,
  prepare,
  batches,
  now,
  room,
  committed,
  announce,
  poisoned,
  onFault,
}: WriterOptions): Writer {
  const { driver } = prepare;
  // Real time, whatever the server's clock says: other programs live in it.
  const { after, monotonic } = systemClock();
  let queue: Waiting[] = [];
  let scheduled = false;
  let stopped: string | undefined;
  let drained: (() => void)[] = [];
  let occupiedSince: number | undefined;
  let isTold = false;
  let notices = 0;

  // Prepared: `exec` would compile these few words for every commit.
  const run = (sql: string): void => void prepare(sql).run();

  function apply(batch: Batch, at: number): CommitResult {
    const before = driver.changed;
    try {
      return driver.run(batches.apply(batch, at));
    } catch (error) {
      if (!(error instanceof Refused) || driver.changed !== before) throw error;
      // Nothing but row ids is to be undone.
      driver.undone();
      return error.result;
    }
  }

  function undone(): void {
    driver.undone();
    batches.undone();
  }

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(flush);
  }

  function flush(): void {
    scheduled = false;
    const group = room.isFull() ? refuse(queue.splice(0)) : queue.splice(0, LARGEST_GROUP);
    if (group.length > 0) settle(group);
    if (queue.length > 0) return schedule();
    for (const done of drained.splice(0)) done();
  }

  function settle(group: Waiting[]): void {
    let settled: Settled[];
    try {
      settled = transact(group);
      occupiedSince = undefined;
    } catch (error) {
      if (isOccupied(error)) return wait(group);
      if (isRolledBack(error)) return retry(group);
      poison(error, group);
      return;
    }
    for (const { waiting, result, error } of settled)
      if (result !== undefined) waiting.resolve(result);
      else waiting.reject(error);
    const written = settled.flatMap(({ waiting: { batch }, result }) =>
      result?.kind === 'committed' ? [{ batch, receipt: result.receipt }] : [],
    );
    committed(
      written.map(({ batch }) => batch),
      written.flatMap(({ receipt }) => receipt.events.at(-1)?.meta.position ?? []).at(-1),
    );
    const notice = noticeOf(written, notices + 1);
    // Queued after the promises above settled: whoever asked for the commit has seen it before anyone reacts to it.
    if (notice.events.length === 0 && notice.frames.size === 0) return;
    notices += 1;
    queueMicrotask(() => announce(notice));
  }

  /** Nothing of the group was written. */
  function isOccupied(error: unknown): boolean {
    if (!(error instanceof Database.SqliteError) || !error.code.startsWith('SQLITE_BUSY')) return false;
    occupiedSince ??= monotonic();
    const lasted = monotonic() - occupiedSince;
    if (lasted >= ODD_MS && !isTold)
      onFault(new Error('Another program holds the lock of the log: commits wait'));
    isTold = lasted >= ODD_MS;
    return !db.inTransaction && lasted < MAX_OCCUPIED_MS;
  }

  function wait(group: readonly Waiting[]): void {
    undone();
    queue = [...group, ...queue];
    scheduled = true;
    after(OCCUPIED_MS, flush);
  }

  /** L4 The disk was full, and nothing of the group is left in the file. */
  function isRolledBack(error: unknown): boolean {
    if (!(error instanceof Database.SqliteError) || error.code !== 'SQLITE_FULL') return false;
    try {
      if (db.inTransaction) run('ROLLBACK');
      undone();
      return !db.inTransaction;
    } catch {
      return false;
    }
  }

  /** On what the reserve had occupied, once. */
  function retry(group: readonly Waiting[]): void {
    const isRoomMade = room.giveUp();
    const tried = refuse(group);
    if (isRoomMade) queue = [...tried, ...queue];
    else for (const { resolve } of tried) resolve(NOT_DONE);
    if (queue.length > 0) schedule();
  }

  /** Returns those that are tried on a full disk too. */
  function refuse(group: readonly Waiting[]): Waiting[] {
    return group.filter(({ batch, resolve }) => {
      const isTried = isTriedOnFullDisk(batch);
      if (!isTried) resolve(NOT_DONE);
      return isTried;
    });
  }

  function transact(group: readonly Waiting[]): Settled[] {
    const at = now();
    run('BEGIN IMMEDIATE');
    const settled = applyTogether(group, at) ?? applyApart(group, at);
    run('COMMIT');
    return settled;
  }

  /**
   * Undefined when one of them broke: then nothing of any of them is written. Without savepoints, because SQLite copies
   * each page that is written after one.
   */
  function applyTogether(group: readonly Waiting[], at: number): Settled[] | undefined {
    try {
      return group.map((waiting) => ({ waiting, result: apply(waiting.batch, at) }));
    } catch (error) {
      if (!isFaultOfBatch(error) || !db.inTransaction) throw error;
      run('ROLLBACK');
      undone();
      run('BEGIN IMMEDIATE');
      return undefined;
    }
  }

  function applyApart(group: readonly Waiting[], at: number): Settled[] {
    return group.map((waiting) => {
      run('SAVEPOINT batch');
      try {
        return { waiting, result: apply(waiting.batch, at) };
      } catch (error) {
        if (!isFaultOfBatch(error) || !db.inTransaction) throw error;
        run('ROLLBACK TO batch');
        undone();
        return error instanceof Refused ? { waiting, result: error.result } : { waiting, error };
      } finally {
        if (db.inTransaction) run('RELEASE batch');
      }
    });
  }

  function poison(error: unknown, group: readonly Waiting[]): void {
    const cause = error instanceof Error ? error.message : String(error);
    stopped = cause;
    try {
      if (db.inTransaction) db.exec('ROLLBACK');
      // Reads go on until the process ends.
      undone();
    } catch (rollback) {
      stopped = `${cause}; rolling back failed too: ${String(rollback)}`;
    }
    for (const { resolve } of [...group, ...queue.splice(0)]) resolve({ kind: 'unknown-outcome', cause });
    poisoned(stopped);
  }

  return {
    commit(batch) {
      if (stopped !== undefined) return Promise.resolve({ kind: 'unknown-outcome', cause: stopped });
      return new Promise((resolve, reject) => {
        queue.push({ batch, resolve, reject });
        schedule();
      });
    },
    drain() {
      if (queue.length === 0) return Promise.resolve();
      return new Promise((resolve) => drained.push(resolve));
    },
    stop() {
      stopped ??= 'the log is closed';
      // Asked for after the last drain: never begun, so no reason to call the log broken.
      for (const { resolve } of queue.splice(0)) resolve({ kind: 'unknown-outcome', cause: stopped });
    },
  };
}

/** A constraint that one batch broke, or data that SQLite cannot take, says nothing about the disk or the others. */
function isFaultOfBatch(error: unknown): boolean {
  if (error instanceof Database.SqliteError) return error.code.startsWith('SQLITE_CONSTRAINT');
  return error instanceof TypeError || error instanceof RangeError || error instanceof Refused;
}

/**
 * What survives every crash: the log's real tables and writer, in memory. Watches each batch that is written and
 * throws for one that must not be.
 *
 * X2 A batch of an executor carries the lease that its run has at that moment. S1 A frame's id is given once, and a
 * frame never changes.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Recorded } from '../../src/store/port/events.ts';
import type { Batch, CommitResult, EventLog, Notice } from '../../src/store/port/log.ts';
import type { PayloadWrite } from '../../src/store/port/payloads.ts';
import { openConnection } from '../../src/store/sqlite/connection.ts';
import { loadSnapshot, readAll, readStream, streamVersion } from '../../src/store/sql/event-store.ts';
import type { History } from '../../src/store/port/past.ts';
import { readingOf, viewHistory } from '../../src/store/sqlite/history.ts';
import { createBatchWriter } from '../../src/store/sql/batch-writer.ts';
import { createPayloadWriter } from '../../src/store/sql/payloads/payload-writer.ts';
import { prepareRows } from '../../src/store/sqlite/rebuild.ts';
import { LOG_FILE } from '../../src/store/sqlite/log.ts';
import { createRowReader, type RowReader } from '../support/row-reader.ts';
import { prepareSchema, toSqlite } from '../../src/store/sqlite/schema.ts';
import { createStatements } from '../../src/store/sqlite/statements.ts';
import { createWriter } from '../../src/store/sqlite/writer.ts';
import { projection } from '../../src/store/sql/rows/projection.ts';
import { SHARED_TABLES } from '../../src/store/sql/log-tables.ts';
import type { SharedContext, Work } from '../../src/store/sql/work.ts';

export interface Disk extends Omit<EventLog, 'close' | 'follow' | 'onCommitted' | 'onPoisoned' | 'nodes'> {
  readonly history: History;
  readonly rows: RowReader;
  /** Does work of the store in a transaction of its own. */
  run<T>(work: Work<T>): T;
  readonly shared: SharedContext;
  /** What the writer announced since this was last asked. */
  announced(): Notice[];
  /** The content of every frame that was ever written, by run and id. */
  readonly frames: ReadonlyMap<string, readonly string[]>;
  /** Runs whose frames were let go of, and so were those of `forgottenThreads`. */
  readonly forgotten: ReadonlySet<string>;
  /** How many batches were written. */
  readonly written: number;
  /** Writes what there is into a file of the folder. */
  copyTo(dir: string): void;
  close(): void;
}

export interface DiskOptions {
  readonly now: () => number;
  /** The store's clock, by which nodes live: it does not jump. */
  readonly elapsed: () => number;
  readonly hear: (events: readonly Recorded[]) => void;
  /** The lease that a run has, by the facts alone. */
  readonly leaseOf: (runId: string) => { attempt: number; leaseId: string } | undefined;
  readonly fail: (error: unknown) => void;
  /** Several servers use it. */
  readonly isShared: boolean;
}

export function openDisk({ now, elapsed, hear, leaseOf, fail, isShared }: DiskOptions): Disk {
  const db = openConnection(':memory:');
  const prepare = createStatements(db);
  const { run } = prepare.driver;
  const shared: SharedContext = { clock: 'simulated_now()', skipLocked: '' };
  const context = isShared ? Object.assign(prepare.driver.context, { shared }) : prepare.driver.context;
  prepareSchema(db);
  if (isShared) {
    db.function('simulated_now', elapsed);
    db.exec('DROP TABLE queue');
    for (const table of Object.entries(SHARED_TABLES)) db.exec(toSqlite(table));
  }
  prepareRows(db, prepare, projection);
  let notices: Notice[] = [];
  let written = 0;
  const frames = new Map<string, string[]>();
  const forgotten = new Set<string>();
  const runsOf = new Map<string, Set<string>>();
  const writer = createWriter({
    db,
    prepare,
    batches: createBatchWriter(context, createPayloadWriter(context), projection),
    now,
    room: { isFull: () => false, giveUp: () => false },
    committed: () => undefined,
    announce: (notice) => notices.push(notice),
    poisoned: (cause) => fail(new Error(`the writer failed: ${cause}`)),
    onFault: fail,
  });
  const rows = createRowReader(prepare);
  const history = viewHistory(readingOf(db), projection);

  function watch(batch: Batch, events: readonly Recorded[]): void {
    written += 1;
    const isExecutors = (batch.payloads ?? []).some(({ kind }) => kind === 'frames' || kind === 'checkpoint');
    const own = ({ type }: Recorded): boolean =>
      type === 'RunStarted' || type === 'RunCompleted' || type === 'StateUpdated';
    // The lease as it was before the batch's own facts.
    if (batch.lease !== undefined) {
      const held = leaseOf(batch.lease.runId);
      const is = held?.attempt === batch.lease.attempt && held.leaseId === batch.lease.leaseId;
      assert.ok(is, `X2 attempt ${batch.lease.attempt} of run ${batch.lease.runId} wrote without its lease`);
    } else if (isExecutors) assert.ok(events.some(own), 'X2 frames or checkpoints of nobody were written');
    hear(events);
    for (const payload of batch.payloads ?? []) take(payload);
  }

  function take(payload: PayloadWrite): void {
    switch (payload.kind) {
      case 'frames': {
        const { runId, threadId, first } = payload;
        const own = frames.get(runId) ?? [];
        frames.set(runId, own);
        runsOf.set(threadId, (runsOf.get(threadId) ?? new Set()).add(runId));
        payload.frames.forEach(({ event, data }, index) => {
          assert.equal(first + index, own.length, `S1 run ${runId}: frame ${first + index} is out of order`);
          own.push(`${event} ${data}`);
        });
        return;
      }
      case 'forget-frames':
        forgotten.add(payload.runId);
        return;
      case 'forget-thread-frames':
      case 'purge-thread':
        for (const runId of runsOf.get(payload.threadId) ?? []) forgotten.add(runId);
    }
  }

  return {
    place: 'memory',
    bytes: async () => 0,
    async commit(batch): Promise<CommitResult> {
      const result = await writer.commit(batch);
      try {
        if (result.kind === 'committed') watch(batch, result.receipt.events);
      } catch (error) {
        fail(error);
      }
      return result;
    },
    readStream: async (stream, from, limit) => run(readStream(context, stream, from, limit)),
    readAll: async (after, limit) => run(readAll(context, after, limit)),
    loadSnapshot: async (stream) => run(loadSnapshot(context, stream)),
    streamVersion: async (stream) => run(streamVersion(stream)),
    payloads: history.payloads,
    views: history.views,
    rows,
    run,
    shared,
    history,
    announced: () => notices.splice(0),
    frames,
    forgotten,
    get written() {
      return written;
    },
    copyTo: (dir) => void db.prepare('VACUUM INTO ?').run(join(dir, LOG_FILE)),
    close: () => db.close(),
  };
}

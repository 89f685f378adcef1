/**
 * Writes one batch inside the transaction. Nothing is read to decide: the statements that write say what the batch
 * depends on.
 */
import type { Batch, CommitResult, Lease } from '../port/log.ts';
import { mergeWrites } from '../port/merge-writes.ts';
import type { PayloadWrite } from '../port/payloads.ts';
import type { RowWrite } from '../port/rows.ts';
import {
  findReceipt,
  guardVersion,
  insertEvents,
  recordEvents,
  versionRow,
  writeMoved,
  writeReceipt,
} from './event-store.ts';
import type { Projection } from './projection.ts';
import { createRowWriter } from './row-writer.ts';
import { Refused } from './refused.ts';
import { newIds, some, type Step, type Work, type WorkContext } from './work.ts';

type UpdateWrite = Extract<RowWrite, { op: 'set' }>;

export interface PayloadWriter {
  /** All of one batch, inside the commit's transaction. */
  write(payloads: readonly PayloadWrite[], at: number): Work<void>;
  /** The thread has no payloads before those of the batch that is written. */
  begin(threadId: string): void;
  /** What was written is undone, all of it or in part. */
  undone(): void;
}

export interface BatchWriter {
  /** Refused with `Refused`. */
  apply(batch: Batch, at: number): Work<CommitResult>;
  /** What was written is undone, all of it or in part. */
  undone(): void;
}

/** The highest version at which nothing but the thread's creation precedes a run. */
const FIRST_RUN = 2;

export function createBatchWriter(
  context: WorkContext,
  payloads: PayloadWriter,
  projection: Projection,
): BatchWriter {
  const rowWrite = createRowWriter(context.coder, projection.schema);
  const held = `SELECT 1 FROM runs WHERE run_id = ? AND attempt = ? AND lease_id = ? ${context.lockRows}`;

  function* apply(batch: Batch, at: number): Work<CommitResult> {
    // A batch without events leaves no receipt; its payloads are keyed, so a repetition cannot add to them.
    const earlier =
      batch.repeatable && batch.appends.length > 0 ? yield* findReceipt(context, batch.commandId) : undefined;
    if (earlier !== undefined) return { kind: 'duplicate', receipt: earlier };
    let appended = 0;
    for (const append of batch.appends) {
      appended += append.events.length;
      // Without events only a look tells whether the stream is at the expected version.
      if (append.events.length === 0) yield* guardVersion(context, append);
    }
    const first: number = appended === 0 ? 0 : yield newIds('events', appended);
    const { moved } = batch;
    const events = moved?.events ?? recordEvents(batch, at, first);
    for (const { type, data, meta } of events)
      if (type === 'RunCreated' && meta.version <= FIRST_RUN) payloads.begin(data.threadId);
    const writes = mergeWrites(events.flatMap((event) => projection.project(event)));
    const { lease } = batch;
    const own = lease && writes.find((write): write is UpdateWrite => isUpdateOf(lease, write));
    // First: transactions that lock a row before the version that they compete for would wait for each other.
    const behind = context.shared === undefined ? asIs : behindVersions(batch);
    if (moved === undefined) yield* insertEvents(context, events);
    else yield* writeMoved(context, moved);
    if (lease !== undefined && own === undefined)
      yield behind(
        some(held, [lease.runId, lease.attempt, lease.leaseId], fencedOut, [`runs ${lease.runId}`]),
      );
    yield* writeReceipt(context, batch, events, at);
    for (const write of writes) {
      // X2 The update of the run's row says whether the lease is current.
      if (write !== own) yield behind(rowWrite(write));
      else yield { ...behind(rowWrite(leased(lease!, own))), want: 'some', refusal: fencedOut };
    }
    yield* payloads.write(batch.payloads ?? [], at);
    return { kind: 'committed', receipt: { events, at } };
  }

  return { apply, undone: payloads.undone };
}

const asIs = (step: Step): Step => step;

/** The store may send steps of several batches together: none of these comes before the versions that its own batch takes. */
function behindVersions({ appends }: Batch): (step: Step) => Step {
  const versions = appends.map(({ stream, expected }) => versionRow(stream, expected + 1));
  return (step) => ({ ...step, reads: versions });
}

const fencedOut = (): Refused => new Refused({ kind: 'fenced-out' });

const isUpdateOf = ({ runId }: Lease, write: RowWrite): write is UpdateWrite =>
  write.op === 'set' && write.table === 'runs' && write.key['run_id'] === runId;

const leased = ({ attempt, leaseId }: Lease, write: UpdateWrite): UpdateWrite => ({
  ...write,
  key: { ...write.key, attempt, lease_id: leaseId },
});

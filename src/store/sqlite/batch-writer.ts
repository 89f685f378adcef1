/**
 * Writes one batch inside the transaction. Nothing is read to decide: the statements that write say what the batch
 * depends on.
 */
import type { Batch, CommitResult, Lease } from '../port/log.ts';
import { mergeWrites } from '../port/merge-writes.ts';
import type { RowWrite } from '../port/rows.ts';
import type { Projection } from '../sql/projection.ts';
import {
  findReceipt,
  headPosition,
  insertEvents,
  recordEvents,
  streamVersion,
  writeReceipt,
} from './event-store.ts';
import { Database } from './library.ts';
import type { PayloadWriter } from './payloads/payload-store.ts';
import { createRowWriter } from './row-store.ts';
import type { Prepare } from './statements.ts';

type UpdateWrite = Extract<RowWrite, { op: 'set' }>;

const FENCED_OUT = { kind: 'fenced-out' } as const;

/** A part of a refused batch is written, and has to be undone. */
export class Refused extends Error {
  readonly result: CommitResult;
  constructor(result: CommitResult) {
    super(result.kind);
    this.result = result;
  }
}

export interface BatchWriter {
  /** Throws `Refused` when a part of the batch was written before the refusal. */
  apply(batch: Batch, at: number): CommitResult;
  /** What was written is undone, all of it or in part. */
  undone(): void;
  /** The position given last; unknown at first, and when what was written is undone. */
  readonly head: number | undefined;
}

export function createBatchWriter(
  prepare: Prepare,
  payloads: PayloadWriter,
  projection: Projection,
): BatchWriter {
  const writeRow = createRowWriter(prepare, projection.sealed);
  let head: number | undefined;

  function apply(batch: Batch, at: number): CommitResult {
    // A batch without events leaves no receipt; its payloads are keyed, so a repetition cannot add to them.
    const earlier =
      batch.repeatable && batch.appends.length > 0 ? findReceipt(prepare, batch.commandId) : undefined;
    if (earlier !== undefined) return { kind: 'duplicate', receipt: earlier };
    // Without events only a look tells whether the stream is at the expected version.
    for (const { stream, expected, events } of batch.appends)
      if (events.length === 0 && streamVersion(prepare, stream) !== expected) return conflict(stream);
    const events = recordEvents(batch, at, (head ??= headPosition(prepare)));
    const writes = mergeWrites(events.flatMap((event) => projection.project(event)));
    const { lease } = batch;
    const own = lease && writes.find((write): write is UpdateWrite => isUpdateOf(lease, write));
    if (lease !== undefined && own === undefined && !isHeld(lease)) return FENCED_OUT;
    const refused = insertEvents(prepare, events);
    if (refused !== undefined) {
      const result = conflict(refused.meta.stream);
      if (refused === events[0]) return result;
      throw new Refused(result);
    }
    head += events.length;
    writeReceipt(prepare, batch, events, at);
    for (const write of writes)
      // X2 The update of the run's row says whether the lease is current.
      if (writeRow(write === own ? leased(lease!, own!) : write) === 0 && write === own)
        throw new Refused(FENCED_OUT);
    payloads.write(batch.payloads ?? [], at);
    return { kind: 'committed', receipt: { events, at } };
  }

  const conflict = (stream: string): CommitResult => ({
    ...{ kind: 'version-conflict', stream, actual: streamVersion(prepare, stream) },
  });

  const isHeld = (lease: Lease): boolean =>
    prepare('SELECT 1 FROM runs WHERE run_id = @runId AND attempt = @attempt AND lease_id = @leaseId').get(
      lease,
    ) !== undefined;

  return {
    apply,
    undone() {
      head = undefined;
      payloads.undone();
    },
    get head() {
      return head;
    },
  };
}

/** A constraint that one batch broke, or data that SQLite cannot take, says nothing about the disk or the others. */
export function isFaultOfBatch(error: unknown): boolean {
  if (error instanceof Database.SqliteError) return error.code.startsWith('SQLITE_CONSTRAINT');
  return error instanceof TypeError || error instanceof RangeError || error instanceof Refused;
}

const isUpdateOf = ({ runId }: Lease, write: RowWrite): write is UpdateWrite =>
  write.op === 'set' && write.table === 'runs' && write.key['run_id'] === runId;

const leased = ({ attempt, leaseId }: Lease, write: UpdateWrite): UpdateWrite => ({
  ...write,
  key: { ...write.key, attempt, lease_id: leaseId },
});

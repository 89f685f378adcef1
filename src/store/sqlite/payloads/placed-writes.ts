/** Writes together with the checkpoint that they are on and the run that made them. */
import type { PlacedWrite, WriteChoice, Writer } from '../../port/past.ts';
import type { Prepare } from '../statements.ts';
import { fill, type LeaningRow } from './write-store.ts';

interface PlacedRow extends LeaningRow {
  readonly ns: string;
  readonly checkpoint_id: string;
  readonly run_id: string;
  readonly task_id: string;
  readonly task_path: string;
  readonly idx: number;
  readonly channel: string;
}

/** In the order in which they were saved. */
export function readPlacedWrites(prepare: Prepare, threadId: string, choice: WriteChoice): PlacedWrite[] {
  const where =
    'runId' in choice
      ? 'written.run_id = @runId'
      : 'written.ns = @ns AND written.checkpoint_id = @checkpointId';
  const rows = prepare(
    `SELECT written.ns, written.checkpoint_id, written.run_id, written.task_id, written.task_path, written.idx,
       written.channel, written.head, written.start, written.kept, written.data, blob.data AS below
     FROM checkpoint_writes AS written LEFT JOIN blob_rows AS blob ON blob.id = written.base
     WHERE written.thread_id = @threadId AND ${where} ORDER BY written.id`,
  ).all({ threadId, ...choice }) as PlacedRow[];
  return rows.map((row) => ({
    ...{ ns: row.ns, checkpointId: row.checkpoint_id, runId: row.run_id, taskId: row.task_id },
    ...(row.task_path !== '' && { taskPath: row.task_path }),
    ...{ idx: row.idx, channel: row.channel, data: fill(prepare, row) },
  }));
}

export const readWriters = (prepare: Prepare, threadId: string): Writer[] =>
  prepare(
    `SELECT DISTINCT ns, checkpoint_id AS checkpointId, run_id AS runId FROM checkpoint_writes WHERE thread_id = ?`,
  ).all(threadId) as Writer[];

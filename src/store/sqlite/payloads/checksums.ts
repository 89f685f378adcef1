/**
 * Compares each row of content with its checksum, so that a bit which flipped on the disk is found and named. Derived
 * rows and snapshots have none: they are compared with what the events lead to.
 */
import type { Finding } from '../../port/past.ts';
import type { RowReader } from '../row-store.ts';
import { idOf } from './checkpoint-tables.ts';

export interface ContentTable {
  readonly table: string;
  /** The column of its content, `data` if left out. */
  readonly column?: string;
  /** SQL for what a row is called, its thread first. */
  readonly name: string;
  /** SQL for the position of the event. */
  readonly position?: string;
  readonly isSecret?: true;
}

const THREAD = `'thread ' || coalesce((SELECT thread_id FROM checkpoint_threads WHERE id = bad.thread), '?')`;
const checkpoint = (column: string): string =>
  `(SELECT ${idOf('name')} FROM checkpoint_names WHERE id = bad.${column})`;
const FRAME = `'thread ' || coalesce((SELECT thread_id FROM frame_runs WHERE frame_runs.run_id = bad.run_id), '?')
  || ': frame ' || id || ' of run ' || run_id`;

export const CONTENT_TABLES: readonly ContentTable[] = [
  {
    table: 'events',
    name: `'stream ' || stream || ': event ' || version || ' (' || type || ')'`,
    position: 'position',
  },
  { table: 'secrets', name: `'thread ' || thread_id || ': secret of run ' || run_id`, isSecret: true },
  { table: 'cron_secrets', name: `'cron ' || cron_id || ': secret'`, isSecret: true },
  { table: 'bodies', name: `'thread ' || thread_id || ': body of webhook ' || delivery_id` },
  { table: 'item_values', name: `'item ' || item_id || ': value'` },
  { table: 'item_vectors', name: `'item ' || item_id || ': vector ' || idx` },
  { table: 'frame_rows', name: FRAME },
  { table: 'frame_tail', name: FRAME },
  { table: 'frame_states', name: `'thread ' || thread_id || ': frame state ' || id` },
  { table: 'untracked_values', name: `'thread ' || thread_id || ': untracked values of run ' || run_id` },
  {
    table: 'recordings',
    name: `'thread ' || thread_id || ': part ' || seq || ' of the recording of run ' || run_id`,
  },
  {
    table: 'resume_calls',
    name: `'thread ' || thread_id || ': part ' || seq || ' of what run ' || run_id || ' was answered'`,
  },
  {
    table: 'checkpoint_rows',
    column: 'packed',
    name: `${THREAD} || ': checkpoint ' || ${checkpoint('checkpoint')}`,
  },
  { table: 'blob_rows', name: `${THREAD} || ': value of channel ' || channel || ', version ' || version` },
  {
    table: 'write_rows',
    name: `'thread ' || coalesce((SELECT thread_id FROM checkpoint_threads JOIN checkpoint_names AS own
        ON own.thread = checkpoint_threads.id WHERE own.id = bad.checkpoint), '?')
      || ': write ' || idx || ' of task ' || ${idOf('task')} || ' on checkpoint ' || ${checkpoint('checkpoint')}`,
  },
];

/** The first row of a table that is not what was written. */
export function findBadRow(
  rows: Pick<RowReader, 'get'>,
  { table, column = 'data', name, position = 'NULL' }: ContentTable,
): Finding | undefined {
  const found = rows.get<{ subject: string; position: number | null }>(
    `SELECT ${name} AS subject, ${position} AS position FROM ${table} AS bad
     WHERE crc <> checksum(CAST(${column} AS BLOB)) LIMIT 1`,
  );
  return (
    found && {
      position: found.position ?? undefined,
      problem: `${found.subject}: its checksum is not that of its content`,
    }
  );
}

export function findBadChecksum(rows: Pick<RowReader, 'get'>): Finding | undefined {
  for (const table of CONTENT_TABLES) {
    const finding = findBadRow(rows, table);
    if (finding !== undefined) return finding;
  }
  return undefined;
}

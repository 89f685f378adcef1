/**
 * What tasks wrote on a checkpoint. P3 A message is stored once: when the next checkpoint's values are in, the writes
 * that they were made of are kept as what differs from them.
 *
 * A row with a `base` is the first `head` units of its data, then `kept` units of the base's data from the unit
 * `start` on, then the rest of its data. Before a value's row goes or changes, what leans on it is made whole.
 */
import type { PayloadWrite, WriteText } from '../payloads.ts';
import { findThread, nameKey, threadKey } from './checkpoint-tables.ts';
import type { Prepare } from './statements.ts';
import { findOverlap } from './text-difference.ts';

/** Below this a difference is not worth a second row to read, in UTF-16 units. */
const SHORTEST = 128;
/** Beyond this it is not worth the time to look for it. */
const LONGEST = 65_536;

interface WriteRow {
  readonly id: number;
  readonly head: number;
  readonly start: number;
  readonly kept: number;
  readonly data: string;
  /** NULL for a whole one. */
  readonly below: string | null;
}

export function writeWrites(
  prepare: Prepare,
  { threadId, runId, ns, checkpointId, writes }: PayloadWrite & { kind: 'checkpoint-writes' },
): void {
  const thread = threadKey(prepare, threadId);
  const run = nameKey(prepare, thread, runId);
  const checkpoint = nameKey(prepare, thread, checkpointId);
  const replace = prepare(
    'DELETE FROM write_rows WHERE checkpoint = @checkpoint AND ns = @ns AND task = @taskId AND idx = @idx',
  );
  const insert = prepare(
    `INSERT INTO write_rows (ns, checkpoint, task, idx, run, channel, data)
     VALUES (@ns, @checkpoint, @taskId, @idx, @run, @channel, @data)`,
  );
  for (const { taskId, idx, channel, data } of writes) {
    replace.run({ checkpoint, ns, taskId, idx });
    insert.run({ ns, checkpoint, taskId, idx, run, channel, data });
  }
}

/** In order of tasks and of their writes. */
export function readWrites(
  prepare: Prepare,
  threadId: string,
  ns: string,
  checkpointId: string,
): WriteText[] {
  const rows = prepare(
    `SELECT written.id, task AS taskId, idx, written.channel, head, start, written.kept, written.data, blob.data AS below
     FROM write_rows AS written LEFT JOIN blob_rows AS blob ON blob.id = written.base
     WHERE written.checkpoint = (SELECT id FROM checkpoint_names WHERE thread = ? AND name = ?) AND written.ns = ?
     ORDER BY task, idx`,
  ).all(findThread(prepare, threadId) ?? null, checkpointId, ns) as (WriteRow & WriteText)[];
  return rows.map((row) => ({ taskId: row.taskId, idx: row.idx, channel: row.channel, data: toText(row) }));
}

/** Writes on the parent that a channel's new value, in this row, was made of. */
export function leanWrites(
  prepare: Prepare,
  place: { readonly ns: string; readonly parent: number },
  { id, channel, data }: { readonly id: number; readonly channel: string; readonly data: string },
): void {
  if (data.length < SHORTEST || data.length > LONGEST) return;
  const rows = prepare(
    `SELECT id, data FROM write_rows WHERE checkpoint = @parent AND ns = @ns AND channel = @channel AND base IS NULL
       AND length(data) BETWEEN ${SHORTEST} AND ${LONGEST}`,
  ).all({ ...place, channel }) as { id: number; data: string }[];
  for (const row of rows) {
    const overlap = findOverlap(data, row.data);
    if (overlap === undefined) continue;
    const { head, from: start, kept } = overlap;
    prepare(
      'UPDATE write_rows SET base = @base, head = @head, start = @start, kept = @kept, data = @data WHERE id = @id',
    ).run({
      ...{ id: row.id, base: id, head, start, kept },
      data: row.data.slice(0, head) + row.data.slice(head + kept),
    });
  }
}

/** Comes before the value's row goes or changes. */
export function makeWritesWhole(prepare: Prepare, base: number): void {
  const rows = prepare(
    `SELECT written.id, head, start, written.kept, written.data, blob.data AS below
     FROM write_rows AS written JOIN blob_rows AS blob ON blob.id = written.base WHERE written.base = ?`,
  ).all(base) as WriteRow[];
  for (const row of rows)
    prepare(
      'UPDATE write_rows SET base = NULL, head = NULL, start = NULL, kept = NULL, data = @data WHERE id = @id',
    ).run({ id: row.id, data: toText(row) });
}

const toText = ({ head, start, kept, data, below }: WriteRow): string =>
  below === null ? data : data.slice(0, head) + below.slice(start, start + kept) + data.slice(head);

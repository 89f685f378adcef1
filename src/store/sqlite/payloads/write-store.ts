/**
 * What tasks wrote on a checkpoint. P3 A message is stored once: when the next checkpoint's values are in, the writes
 * that they were made of are kept as what differs from them, and so is the graph's input.
 *
 * A row with a `base` (of a value: a `rest`) is the first `head` units of its data, then `kept` units of the base's
 * data from the unit `start` on, then the rest of its data. Before a value's row goes or changes, what leans on it is
 * made whole.
 */
import type { Stored } from '../../sql/coder.ts';
import type { TaskOutline } from '../../port/past.ts';
import type { ChannelText, PayloadWrite, WriteText } from '../../port/payloads.ts';
import type { CheckpointKeys } from './checkpoint-keys.ts';
import { findName, findThread, idOf, toId, toName } from './checkpoint-tables.ts';
import type { Prepare } from '../statements.ts';
import { findOverlap } from './text-difference.ts';

/** Below this a difference is not worth a second row to read, in UTF-16 units. */
const SHORTEST = 128;
/** Beyond this it is not worth the time to look for it. */
const LONGEST = 65_536;
/** Nor are more writes than this worth the time to look at them: the transaction holds up everybody. */
const MAX_LEANING = 256;
/** The channel that has a graph's input until its first step is done. */
const INPUT = '__start__';

export interface LeaningRow {
  readonly head: number;
  readonly start: number;
  readonly kept: number;
  readonly data: Stored;
  /** NULL for a whole one. */
  readonly below: Stored | null;
}

/** Of a value: its namespace and the number of the checkpoint before. */
export interface LeanPlace {
  readonly ns: string;
  readonly parent: number;
}

interface NewValue {
  /** The row that holds what is new of it. */
  readonly id: number;
  readonly channel: string;
  readonly data: string;
}

export function writeWrites(
  prepare: Prepare,
  keys: CheckpointKeys,
  { threadId, runId, ns, checkpointId, writes }: PayloadWrite & { kind: 'checkpoint-writes' },
): void {
  const thread = keys.thread(threadId);
  const run = keys.name(thread, runId);
  const checkpoint = keys.name(thread, checkpointId);
  // Looked up among thousands of tasks for each of them, the earlier writes would cost as much as the square of those.
  const rows = keys.writes(checkpoint, ns, () => rowsOf(prepare, checkpoint, ns));
  const drop = prepare('DELETE FROM write_rows WHERE id = ?');
  const insert = prepare(
    `INSERT INTO write_rows (ns, checkpoint, task, task_path, idx, run, channel, data, crc)
     VALUES (@ns, @checkpoint, @task, @taskPath, @idx, @run, @channel, @data, @crc)`,
  );
  for (const { taskId, taskPath = '', idx, channel, data } of writes) {
    const key = keyOf(taskId, idx);
    const earlier = rows.get(key);
    if (earlier !== undefined) drop.run(earlier);
    const task = toName(taskId);
    const { lastInsertRowid } = insert.run({
      ...{ ns, checkpoint, task, taskPath, idx, run, channel },
      ...prepare.coder.columns(data),
    });
    rows.set(key, Number(lastInsertRowid));
  }
}

const keyOf = (taskId: string, idx: number): string => `${idx} ${taskId}`;

function rowsOf(prepare: Prepare, checkpoint: number, ns: string): Map<string, number> {
  const found = prepare('SELECT id, task, idx FROM write_rows WHERE checkpoint = ? AND ns = ?').all(
    checkpoint,
    ns,
  ) as { id: number; task: string | Buffer; idx: number }[];
  return new Map(found.map(({ id, task, idx }) => [keyOf(toId(task), idx), id]));
}

/** In the order in which the graph's runtime applies them: by path, task and index, texts by code point. */
export function readWrites(
  prepare: Prepare,
  threadId: string,
  ns: string,
  checkpointId: string,
): WriteText[] {
  const thread = findThread(prepare, threadId);
  const checkpoint = thread === undefined ? undefined : findName(prepare, thread, checkpointId);
  if (checkpoint === undefined) return [];
  const rows = prepare(
    `SELECT task, task_path, idx, written.channel, written.head, written.start, written.kept, written.data, blob.data AS below
     FROM write_rows AS written LEFT JOIN blob_rows AS blob ON blob.id = written.base
     WHERE written.checkpoint = ? AND written.ns = ? ORDER BY task_path, ${idOf('task')}, idx`,
  ).all(checkpoint, ns) as (LeaningRow & {
    task: string | Buffer;
    task_path: string;
    idx: number;
    channel: string;
  })[];
  return rows.map((row) => ({
    taskId: toId(row.task),
    ...(row.task_path !== '' && { taskPath: row.task_path }),
    idx: row.idx,
    channel: row.channel,
    data: fill(prepare, row),
  }));
}

/** A task of a step, seen without its values. */
const SENDS = '__pregel_tasks';

/**
 * The tasks of a thread that have written something and have a place, in the order in which the runtime applies them.
 * Older libraries give tasks no place.
 */
export function readTasks(prepare: Prepare, threadId: string): TaskOutline[] {
  const rows = prepare(
    `SELECT written.ns, written.checkpoint_id, written.task_id, written.task_path AS path, written.channel = '${SENDS}' AS sends,
       written.head, written.start, written.kept, iif(written.channel = '${SENDS}', written.data, '') AS data,
       iif(written.channel = '${SENDS}', blob.data, NULL) AS below
     FROM checkpoint_writes AS written LEFT JOIN blob_rows AS blob ON blob.id = written.base
     WHERE written.thread_id = ? AND written.task_path <> '' ORDER BY written.task_path, written.task_id, written.idx`,
  ).all(threadId) as (LeaningRow &
    Record<'ns' | 'checkpoint_id' | 'task_id' | 'path', string> & {
      readonly sends: number;
    })[];
  const tasks = new Map<string, Omit<TaskOutline, 'sends'> & { sends: string[] }>();
  for (const row of rows) {
    const key = `${row.ns} ${row.checkpoint_id} ${row.task_id}`;
    const task = tasks.get(key) ?? {
      ...{ ns: row.ns, checkpointId: row.checkpoint_id, path: row.path },
      sends: [],
    };
    tasks.set(key, task);
    if (row.sends === 1) task.sends.push(fill(prepare, row));
  }
  return [...tasks.values()];
}

/** Writes on the parent that a channel's new value, in this row, was made of. */
export function leanWrites(prepare: Prepare, place: LeanPlace, { id, channel, data }: NewValue): void {
  if (data.length < SHORTEST || data.length > LONGEST) return;
  const rows = prepare(
    `SELECT id, data FROM write_rows WHERE checkpoint = @parent AND ns = @ns AND channel = @channel AND base IS NULL
       AND length(data) BETWEEN ${SHORTEST} AND ${LONGEST} LIMIT ${MAX_LEANING}`,
  ).all({ parent: place.parent, ns: place.ns, channel }) as { id: number; data: Stored }[];
  for (const row of rows) {
    const leaning = leaningOf(prepare, data, row);
    if (leaning !== undefined)
      prepare(
        `UPDATE write_rows SET base = @base, head = @head, start = @start, kept = @kept, data = @data, crc = @crc
         WHERE id = @id`,
      ).run({ base: id, ...leaning });
  }
}

/**
 * The input that a channel's new value was made of. Comes before the value is in: what the input no longer takes is
 * room for it. Returns the number that the value's row must get.
 */
export function leanInput(
  prepare: Prepare,
  { thread, ns }: { readonly thread: number; readonly ns: string },
  { channel, version, data }: ChannelText,
): number | undefined {
  if (channel === INPUT || data.length < SHORTEST || data.length > LONGEST) return undefined;
  const row = prepare(
    `SELECT id, version,
       iif(base IS NULL AND rest IS NULL AND length(data) BETWEEN ${SHORTEST} AND ${LONGEST}, data, NULL) AS data
     FROM blob_rows WHERE thread = ? AND ns = ? AND channel = '${INPUT}' ORDER BY version DESC LIMIT 1`,
  ).get(thread, ns) as { id: number; version: string; data: Stored | null } | undefined;
  // Only of the step before: the next steps have nothing of it that is new.
  if (row?.data == null || Number.parseInt(row.version, 10) !== Number.parseInt(version, 10) - 1)
    return undefined;
  const leaning = leaningOf(prepare, data, { id: row.id, data: row.data });
  const known = prepare(
    'SELECT 1 FROM blob_rows WHERE thread = ? AND ns = ? AND channel = ? AND version = ?',
  ).get(thread, ns, channel, version);
  if (leaning === undefined || known !== undefined) return undefined;
  makeLeaningWhole(prepare, row.id);
  const rest = prepare('SELECT max(id) + 1 FROM blob_rows').pluck().get() as number;
  prepare(
    `UPDATE blob_rows SET rest = @rest, head = @head, start = @start, kept = @kept, data = @data, crc = @crc
     WHERE id = @id`,
  ).run({ rest, ...leaning });
  return rest;
}

function leaningOf(prepare: Prepare, below: string, row: { readonly id: number; readonly data: Stored }) {
  const data = prepare.coder.open(row.data);
  const overlap = findOverlap(below, data);
  if (overlap === undefined) return undefined;
  const { head, from: start, kept } = overlap;
  const rest = data.slice(0, head) + data.slice(head + kept);
  return { id: row.id, head, start, kept, ...prepare.coder.columns(rest) };
}

/** Comes before the value's row goes or changes. */
export function makeLeaningWhole(prepare: Prepare, base: number): void {
  for (const [table, column, none] of [
    ['write_rows', 'base', 'NULL'],
    ['blob_rows', 'rest', '0'],
  ] as const) {
    const rows = prepare(
      `SELECT leaning.id, leaning.head, leaning.start, leaning.kept, leaning.data, below.data AS below
       FROM ${table} AS leaning JOIN blob_rows AS below ON below.id = leaning.${column} WHERE leaning.${column} = ?`,
    ).all(base) as (LeaningRow & { id: number })[];
    for (const row of rows)
      prepare(
        `UPDATE ${table} SET ${column} = NULL, head = NULL, start = NULL, kept = ${none}, data = @data, crc = @crc
         WHERE id = @id`,
      ).run({ id: row.id, ...prepare.coder.columns(fill(prepare, row)) });
  }
}

/** The whole data of a row. */
export function fill({ coder }: Prepare, { head, start, kept, data, below }: LeaningRow): string {
  const own = coder.open(data);
  return below === null
    ? own
    : own.slice(0, head) + coder.open(below).slice(start, start + kept) + own.slice(head);
}

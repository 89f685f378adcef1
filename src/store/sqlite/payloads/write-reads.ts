/** Reads what tasks wrote on checkpoints. */
import type { PlacedWrite, TaskOutline, WriteChoice, Writer } from '../../port/past.ts';
import type { WriteText } from '../../port/payloads.ts';
import type { Prepare } from '../statements.ts';
import type { WriteParts } from './checkpoint-store.ts';
import { toId, toStoredId, type StoredId } from '../../sql/payloads/stored-ids.ts';
import { readText, type TextColumns } from '../../sql/payloads/text-rows.ts';
import { findThread } from '../../sql/payloads/text-threads.ts';

interface WriteRow extends TextColumns {
  readonly ns: string;
  readonly name: StoredId;
  readonly run: StoredId;
  readonly parts: string;
}

const COLUMNS = 'id, ns, name, run, parts, bases, data';

export const readParts = ({ parts }: Pick<WriteRow, 'parts'>): WriteParts => JSON.parse(parts) as WriteParts;

/** Writes of the rows, in their order; the last one of a task and index counts. `isWanted`: others have no data. */
function open(
  prepare: Prepare,
  rows: readonly WriteRow[],
  isWanted = (_channel: string): boolean => true,
): PlacedWrite[] {
  const writes = new Map<string, PlacedWrite>();
  for (const row of rows) {
    const parts = readParts(row);
    const isRead = parts.some(([, , of]) => of.some(([, channel]) => isWanted(channel)));
    const text = isRead ? prepare.driver.run(readText(prepare.driver.context, 'texts', row)) : '';
    const place = { ns: row.ns, checkpointId: toId(row.name), runId: toId(row.run) };
    let at = 0;
    for (const [taskId, taskPath, of] of parts)
      for (const [idx, channel, length] of of) {
        const key = JSON.stringify([place.ns, place.checkpointId, taskId, idx]);
        writes.delete(key);
        const data = text.slice(at, (at += length));
        writes.set(key, { ...place, taskId, ...(taskPath !== '' && { taskPath }), idx, channel, data });
      }
  }
  return [...writes.values()];
}

const compare = (a: string, b: string): number =>
  a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
/** In the order in which the graph's runtime applies them: by path, task and index, texts by code point. */
export const inOrder = <W extends WriteText>(writes: readonly W[]): W[] =>
  writes.toSorted(
    (a, b) => compare(a.taskPath ?? '', b.taskPath ?? '') || compare(a.taskId, b.taskId) || a.idx - b.idx,
  );

const rowsOn = (prepare: Prepare, thread: number, ns: string, checkpointId: string): WriteRow[] =>
  prepare(
    `SELECT ${COLUMNS} FROM texts WHERE thread = ? AND kind = 'w' AND ns = ? AND name = ? ORDER BY id`,
  ).all(thread, ns, toStoredId(checkpointId)) as WriteRow[];

const rowsOfThread = (prepare: Prepare, threadId: string): WriteRow[] =>
  prepare(`SELECT ${COLUMNS} FROM texts WHERE thread = ? AND kind = 'w' ORDER BY id`).all(
    prepare.driver.run(findThread(threadId)),
  ) as WriteRow[];

export const readWrites = (prepare: Prepare, thread: number, ns: string, checkpointId: string): WriteText[] =>
  inOrder(open(prepare, rowsOn(prepare, thread, ns, checkpointId))).map(
    ({ ns: _, checkpointId: __, runId: ___, ...write }) => write,
  );

/** In the order in which they were saved. */
export const readPlacedWrites = (prepare: Prepare, threadId: string, choice: WriteChoice): PlacedWrite[] =>
  'runId' in choice
    ? open(prepare, rowsOfThread(prepare, threadId)).filter(({ runId }) => runId === choice.runId)
    : open(
        prepare,
        rowsOn(prepare, prepare.driver.run(findThread(threadId)), choice.ns, choice.checkpointId),
      );

export function readWriters(prepare: Prepare, threadId: string): Writer[] {
  const rows = prepare("SELECT DISTINCT ns, name, run FROM texts WHERE thread = ? AND kind = 'w'").all(
    prepare.driver.run(findThread(threadId)),
  ) as Pick<WriteRow, 'ns' | 'name' | 'run'>[];
  return rows.map(({ ns, name, run }) => ({ ns, checkpointId: toId(name), runId: toId(run) }));
}

/** A task of a step, seen without its values. */
const SENDS = '__pregel_tasks';

/**
 * The tasks of a thread that have written something and have a place, in the order in which the runtime applies them.
 * Older libraries give tasks no place.
 */
export function readTasks(prepare: Prepare, threadId: string): TaskOutline[] {
  const tasks = new Map<string, Omit<TaskOutline, 'sends'> & { sends: string[] }>();
  const isSend = (channel: string): boolean => channel === SENDS;
  for (const { ns, checkpointId, taskId, taskPath, channel, data } of inOrder(
    open(prepare, rowsOfThread(prepare, threadId), isSend),
  )) {
    if (taskPath === undefined) continue;
    const key = `${ns} ${checkpointId} ${taskId}`;
    const task = tasks.get(key) ?? { ns, checkpointId, path: taskPath, sends: [] };
    tasks.set(key, task);
    if (isSend(channel)) task.sends.push(data);
  }
  return [...tasks.values()];
}

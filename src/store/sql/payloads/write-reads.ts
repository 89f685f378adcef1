/** Reads what tasks wrote on checkpoints. */
import type { CheckpointKey } from '../../../thread/events.ts';
import type { PlacedWrite, TaskOutline, WriteChoice, Writer } from '../../port/past.ts';
import type { WriteText } from '../../port/payloads.ts';
import { rows, type Work, type WorkContext } from '../work.ts';
import { toId, toStoredId, type StoredId } from './stored-ids.ts';
import { readTexts, type TextColumns } from './text-rows.ts';
import { THREAD } from './text-threads.ts';

/** Writes of one row in the order of their texts: those of each task, with index, channel and length. */
export type WriteParts = readonly (readonly [
  taskId: string,
  taskPath: string,
  writes: readonly (readonly [idx: number, channel: string, length: number])[],
])[];

interface WriteRow extends TextColumns {
  readonly ns: string;
  readonly name: StoredId;
  readonly run: StoredId;
  readonly parts: string;
}

const OF_THREAD = `FROM texts WHERE thread = ${THREAD} AND kind = 'w'`;

export const readParts = ({ parts }: Pick<WriteRow, 'parts'>): WriteParts => JSON.parse(parts) as WriteParts;

/** Writes of the rows, in their order; the last one of a task and index counts. `isWanted`: others have no data. */
function* open(
  context: WorkContext,
  found: readonly WriteRow[],
  isWanted = (_channel: string): boolean => true,
): Work<PlacedWrite[]> {
  const read = found.map((row) => ({ row, parts: readParts(row) }));
  const wanted = read.filter(({ parts }) => parts.some(([, , of]) => of.some(([, name]) => isWanted(name))));
  const texts = yield* readTexts(
    context,
    'texts',
    wanted.map(({ row }) => row),
  );
  const textOf = new Map(wanted.map(({ row }, index) => [row, texts[index]!]));
  const writes = new Map<string, PlacedWrite>();
  for (const { row, parts } of read) {
    const text = textOf.get(row) ?? '';
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

/** In the order in which they were saved, of one checkpoint or of all. */
function* rowsOf({ order }: WorkContext, threadId: string, on?: CheckpointKey): Work<WriteRow[]> {
  return yield rows(
    `SELECT id, ns, name, run, parts, bases, data ${OF_THREAD} ${on === undefined ? '' : 'AND ns = @ns AND name = @name'}
     ORDER BY ${order}`,
    {
      thread: toStoredId(threadId),
      ...(on !== undefined && { ns: on.ns, name: toStoredId(on.checkpointId) }),
    },
  );
}

export function* readWrites(context: WorkContext, threadId: string, on: CheckpointKey): Work<WriteText[]> {
  return inOrder(yield* readPlacedWrites(context, threadId, on)).map(
    ({ ns: _, checkpointId: __, runId: ___, ...write }) => write,
  );
}

/** In the order in which they were saved. */
export function* readPlacedWrites(
  context: WorkContext,
  threadId: string,
  choice: WriteChoice,
): Work<PlacedWrite[]> {
  if (!('runId' in choice)) return yield* open(context, yield* rowsOf(context, threadId, choice));
  const writes = yield* open(context, yield* rowsOf(context, threadId));
  return writes.filter(({ runId }) => runId === choice.runId);
}

/** Of checkpoints that one statement asks for. */
const MAX_ASKED = 32;

/** All on these checkpoints, in the order in which they were saved. */
export function* readWritesOn(
  context: WorkContext,
  threadId: string,
  checkpoints: readonly CheckpointKey[],
): Work<PlacedWrite[]> {
  const found: WriteRow[] = [];
  for (let at = 0; at < checkpoints.length; at += MAX_ASKED) {
    const asked = checkpoints.slice(at, at + MAX_ASKED);
    const params = asked.flatMap(({ ns, checkpointId }, index) => [
      [`s${index}`, ns] as const,
      [`c${index}`, toStoredId(checkpointId)] as const,
    ]);
    const page: WriteRow[] = yield rows(
      `SELECT id, ns, name, run, parts, bases, data ${OF_THREAD}
       AND (ns, name) IN (VALUES ${asked.map((_, index) => `(@s${index}, @c${index})`).join()}) ORDER BY ${context.order}`,
      { thread: toStoredId(threadId), ...Object.fromEntries(params) },
    );
    found.push(...page);
  }
  return yield* open(context, found);
}

export function* readWriters(threadId: string): Work<Writer[]> {
  const found: Pick<WriteRow, 'ns' | 'name' | 'run'>[] = yield rows(
    `SELECT DISTINCT ns, name, run ${OF_THREAD}`,
    {
      thread: toStoredId(threadId),
    },
  );
  return found.map(({ ns, name, run }) => ({ ns, checkpointId: toId(name), runId: toId(run) }));
}

/** A task of a step, seen without its values. */
const SENDS = '__pregel_tasks';

/**
 * The tasks of a thread that have written something and have a place, in the order in which the runtime applies them.
 * Older libraries give tasks no place.
 */
export function* readTasks(context: WorkContext, threadId: string): Work<TaskOutline[]> {
  const tasks = new Map<string, Omit<TaskOutline, 'sends'> & { sends: string[] }>();
  const isSend = (channel: string): boolean => channel === SENDS;
  const writes = yield* open(context, yield* rowsOf(context, threadId), isSend);
  for (const { ns, checkpointId, taskId, taskPath, channel, data } of inOrder(writes)) {
    if (taskPath === undefined) continue;
    const key = `${ns} ${checkpointId} ${taskId}`;
    const task = tasks.get(key) ?? { ns, checkpointId, path: taskPath, sends: [] };
    tasks.set(key, task);
    if (isSend(channel)) task.sends.push(data);
  }
  return [...tasks.values()];
}

/**
 * Reads states from checkpoints alone, for a log whose graphs are not at hand. A plain function's state is exact. Of
 * another graph only its code knows which nodes are next: here they are those whose tasks have written on the checkpoint,
 * and a task does not show its subgraph's state.
 */
import { toTimestamp } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import { isObject, setMember, type Json, type JsonObject } from '../kernel/json.ts';
import { JsonText } from '../kernel/json-text.ts';
import { flatten } from '../kernel/tagged.ts';
import { parseBody } from './function/checkpoint-body.ts';
import { EMPTY, toFunctionState } from './function/state-access.ts';
import { collectStates, listInPieces } from './history-pages.ts';
import type {
  CheckpointReader,
  GraphState,
  GraphTask,
  Interrupt,
  LoadedCheckpoint,
  StateOrder,
} from './port.ts';
import { ERROR, INTERRUPT, type History, type HistoryOrder } from './state-port.ts';

export async function readRecordedState(
  order: StateOrder,
  checkpoints: CheckpointReader,
  ids: Ids,
): Promise<GraphState> {
  const loaded = await checkpoints.load(order.ns ?? '', order.checkpointId);
  return loaded === undefined ? EMPTY : toRecordedState(order, loaded, ids);
}

export async function readRecordedHistory(
  order: HistoryOrder,
  checkpoints: CheckpointReader,
  ids: Ids,
): Promise<History> {
  const { ns = '', before, limit, metadata, checkpointId } = order;
  const found = listInPieces(checkpoints, {
    ns,
    ...(before !== undefined && { before }),
    ...(metadata !== undefined && { metadata }),
    ...(checkpointId === undefined && { limit }),
  });
  const { states, add } = collectStates();
  for await (const loaded of found)
    if (checkpointId === undefined || loaded.checkpointId === checkpointId)
      if (!add(toRecordedState(order, loaded, ids))) return 'too-large';
  return states;
}

function toRecordedState(order: StateOrder, loaded: LoadedCheckpoint, ids: Ids): GraphState {
  if (parseBody(loaded.body) !== undefined) return toFunctionState(order, loaded, ids);
  const { ns, checkpointId, parentId, metadata, at } = loaded;
  const tasks = tasksOn(loaded);
  return {
    values: new JsonText(JSON.stringify(pickKeys(valuesOf(loaded), order.part?.keys))),
    next: tasks.map(({ name }) => name),
    ...{ tasks, metadata },
    checkpoint: { ns, id: checkpointId },
    parentCheckpoint: parentId === null ? null : { ns, id: parentId },
    createdAt: toTimestamp(at),
    interrupts: tasks.flatMap(({ interrupts }) => interrupts),
  };
}

const shown = (data: string): Json => flatten(JSON.parse(data) as Json);

/** Graphs whose state is one value keep it under one of these names. */
const WHOLE_STATE: ReadonlySet<string> = new Set(['__end__', '__root__']);

function valuesOf({ blobs, valueChannels }: LoadedCheckpoint): Json {
  const values: JsonObject = {};
  for (const { channel, data } of blobs)
    if (valueChannels.includes(channel)) setMember(values, channel, shown(data));
  const [name = ''] = valueChannels;
  return valueChannels.length === 1 && WHOLE_STATE.has(name) ? (values[name] ?? null) : values;
}

function pickKeys(values: Json, keys: readonly string[] | undefined): Json {
  if (keys === undefined || !isObject(values)) return values;
  return Object.fromEntries(Object.entries(values).filter(([key]) => keys.includes(key)));
}

/** Beginning of the path of a task that its channels have started. */
const PULLED = '~__pregel_pull, ';

function tasksOn({ writes }: LoadedCheckpoint): GraphTask[] {
  const tasks = new Map<string, GraphTask & { interrupts: Interrupt[]; error: string | null }>();
  for (const { taskId, taskPath = '', channel, data } of writes) {
    // Other tasks were called by a task of the step before, or have no place in old libraries.
    if (!taskPath.startsWith(PULLED)) continue;
    const name = taskPath.slice(PULLED.length);
    const task = tasks.get(taskId) ?? {
      ...{ id: taskId, name, path: ['__pregel_pull', name], error: null as string | null },
      ...{ interrupts: [] as Interrupt[], checkpoint: null, state: null, result: null },
    };
    tasks.set(taskId, task);
    if (channel === INTERRUPT) task.interrupts.push(...toInterrupts(shown(data)));
    if (channel === ERROR) task.error = errorText(shown(data));
  }
  return [...tasks.values()];
}

const toInterrupts = (value: Json): Interrupt[] =>
  (Array.isArray(value) ? value : [value]).flatMap((each) =>
    isObject(each) ? [{ ...each, value: each['value'] ?? null }] : [],
  );

const errorText = (value: Json): string =>
  isObject(value) ? String(value['message'] ?? value['name']) : String(value);

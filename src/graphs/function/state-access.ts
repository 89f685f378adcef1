/** Reads states and history of a plain function's thread. */
import { toTimestamp } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import { JsonText } from '../../kernel/json-text.ts';
import type { CheckpointReader, GraphState, Interrupt, LoadedCheckpoint, StateOrder } from '../port.ts';
import type { ChannelChoice, StatePart } from '../state-part.ts';
import { collectStates, listInPieces } from '../history-pages.ts';
import type { History, HistoryOrder } from '../state-port.ts';
import { parseBody, parseNotes, taskIdOf, type Body, type CheckpointNotes } from './checkpoint-body.ts';
import { valuesOf } from './plan.ts';

/** The state at a checkpoint or at the thread's head; an empty state for a thread without checkpoints. */
export async function readFunctionState(
  order: StateOrder,
  checkpoints: CheckpointReader,
  ids: Ids,
): Promise<GraphState> {
  const choice = order.part && toChoice(order.part);
  const loaded = await checkpoints.load(order.ns ?? '', order.checkpointId, choice);
  return loaded === undefined ? EMPTY : toFunctionState(order, loaded, ids);
}

export async function readFunctionHistory(
  order: HistoryOrder,
  checkpoints: CheckpointReader,
  ids: Ids,
): Promise<History> {
  const { ns = '', before, limit, metadata, checkpointId } = order;
  const found = listInPieces(checkpoints, {
    ns,
    ...(before === undefined ? {} : { before }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(checkpointId === undefined ? { limit } : {}),
    ...(order.part !== undefined && { choice: toChoice(order.part) }),
  });
  const { states, add } = collectStates();
  for await (const loaded of found)
    if (checkpointId === undefined || loaded.checkpointId === checkpointId)
      if (!add(toFunctionState(order, loaded, ids))) return 'too-large';
  return states;
}

/** True if the function is still to be called, or called again, for this checkpoint. */
export function isOpen(
  { metadata }: LoadedCheckpoint,
  body: Body | undefined,
  { pending, error }: CheckpointNotes,
): boolean {
  if (body === undefined || body.over === true) return false;
  return pending !== undefined || error !== undefined || metadata['source'] !== 'loop';
}

export const EMPTY: GraphState = {
  values: new JsonText('{}'),
  next: [],
  tasks: [],
  checkpoint: null,
  parentCheckpoint: null,
  createdAt: null,
  interrupts: [],
};

const toChoice = ({ keys }: StatePart): ChannelChoice => ({ names: keys, written: false });

export function toFunctionState(
  { graphId, ns = '', part }: StateOrder,
  loaded: LoadedCheckpoint,
  ids: Ids,
): GraphState {
  const body = parseBody(loaded.body);
  const notes = parseNotes(loaded);
  const { pending, error } = notes;
  const interrupts: Interrupt[] = pending === undefined ? [] : [{ id: pending.id, value: pending.value }];
  const next = isOpen(loaded, body, notes) ? [graphId] : [];
  return {
    values: new JsonText(valuesOf(loaded, ids, part?.keys).wireText()),
    next,
    tasks: next.map((name) => ({
      id: taskIdOf(body?.record ?? { input: loaded.checkpointId }),
      name,
      path: ['__pregel_pull', name],
      error: error ?? null,
      interrupts,
      checkpoint: null,
      state: null,
      result: null,
    })),
    checkpoint: { ns, id: loaded.checkpointId },
    parentCheckpoint: loaded.parentId === null ? null : { ns, id: loaded.parentId },
    metadata: loaded.metadata,
    createdAt: toTimestamp(loaded.at),
    interrupts,
  };
}

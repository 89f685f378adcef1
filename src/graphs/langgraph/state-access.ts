/** Reads and updates the states of a LangGraph.js thread between runs. */
import type { Ids } from '../../kernel/ids.ts';
import type { CheckpointBuffer } from '../checkpoint-buffer.ts';
import { createDecoder, type Reviver } from '../codec.ts';
import { toRefusal } from '../failure.ts';
import type { CompiledGraph, SnapshotConfig } from '../graph-shapes.ts';
import { collectStates } from '../history-pages.ts';
import type { CheckpointReader, CheckpointStore, GraphState, StateOrder } from '../port.ts';
import type { ChannelChoice } from '../state-part.ts';
import { publicConfigurable, toConfigurable } from '../private-keys.ts';
import type { History, HistoryOrder, Updated, UpdateOrder } from '../state-port.ts';
import { bind, deltaDefaults, metadataOf, toView, valueChannels, withoutResults } from './binding.ts';
import { toCommand } from './invocation.ts';
import { readPart, toChoice, withoutHistory } from './part.ts';
import type { Saver } from './saver-contract.ts';
import { openSaver } from './saver.ts';
import { toGraphState, toInterrupts, toRef } from './state.ts';

/** The state at a checkpoint, or at the thread's head. */
export async function readLangGraphState(
  graph: CompiledGraph,
  reviver: Reviver,
  order: StateOrder,
  checkpoints: CheckpointReader,
  ids: Ids,
): Promise<GraphState> {
  const choice = toChoice(graph, order);
  const saver = openReader(order, reviver, checkpoints, ids, choice);
  const read = (view: Saver) => bind(graph, view).getState(toPlace(order), { subgraphs: order.subgraphs });
  try {
    return toGraphState(await read(toView(saver)), order.part?.keys);
  } catch (error) {
    // The runtime applies the pending writes of an unfinished step. If they conflict, the step has failed because of
    // them, so the state before the step is returned.
    const before = await read(withoutResults(saver)).catch(() => undefined);
    if (before === undefined) throw error;
    return toGraphState(before, order.part?.keys);
  }
}

export async function readLangGraphHistory(
  graph: CompiledGraph,
  reviver: Reviver,
  order: HistoryOrder,
  checkpoints: CheckpointReader,
  ids: Ids,
): Promise<History> {
  const bound = bind(graph, toView(openReader(order, reviver, checkpoints, ids, toChoice(graph, order))));
  const { before, limit, metadata } = order;
  const history = bound.getStateHistory(toPlace(order), {
    limit,
    ...(before === undefined ? {} : { before: { configurable: { checkpoint_id: before } } }),
    ...(metadata === undefined ? {} : { filter: metadata }),
  });
  const { states, add } = collectStates();
  for await (const snapshot of history) {
    if (!add(toGraphState(snapshot, order.part?.keys))) return 'too-large';
    if (states.length === limit) break;
  }
  return states;
}

/** Updates the state in the buffer; an error of the graph becomes the `refused` result. */
export async function updateLangGraphState(
  graph: CompiledGraph,
  reviver: Reviver,
  order: UpdateOrder,
  buffer: CheckpointBuffer,
  ids: Ids,
): Promise<Updated> {
  const saver = openSaver({
    threadId: order.threadId,
    store: buffer,
    decode: createDecoder(reviver),
    ids,
    runId: order.updateId,
    metadata: {
      ...metadataOf(graph),
      ...publicConfigurable(order.config.configurable),
      ...order.config.metadata,
      thread_id: order.threadId,
    },
    valueChannels: valueChannels(graph),
    deltaDefaults: deltaDefaults(graph),
    fail: rethrow,
  });
  const bound = bind(graph, toView(saver));
  const supersteps = order.supersteps.map((updates) => ({
    updates: updates.map(({ values, asNode, command }) => ({
      values: command === undefined ? values : toCommand(command, reviver),
      ...(asNode === undefined ? {} : { asNode }),
    })),
  }));
  let place: SnapshotConfig;
  try {
    place = await bound.bulkUpdateState(toPlace(order), supersteps);
  } catch (error) {
    return toRefusal(error);
  }
  const root = await bound.getState({ configurable: { thread_id: order.threadId, checkpoint_ns: '' } });
  const ns = place.configurable?.checkpoint_ns ?? '';
  return {
    ...{ kind: 'updated', saved: buffer.saved, place: toRef(place) ?? { ns, id: null } },
    ...{ next: [...root.next], interrupts: toInterrupts(root.tasks) },
  };
}

function openReader(
  order: StateOrder,
  reviver: Reviver,
  checkpoints: CheckpointReader,
  ids: Ids,
  choice: ChannelChoice | undefined,
): Saver {
  const { threadId, ns = '' } = order;
  const saver = openSaver({
    threadId,
    store: readOnly(choice === undefined ? checkpoints : readPart(checkpoints, ns, choice)),
    decode: createDecoder(reviver),
    ids,
    runId: '',
    metadata: {},
    valueChannels: [],
    fail: rethrow,
    showsCommitTimes: true,
  });
  return choice === undefined ? saver : withoutHistory(saver, ns, choice);
}

const rethrow = (error: unknown): never => {
  throw error;
};

/** The runtime's config for an order; `checkpoint_id: undefined` means the head. */
const toPlace = ({ threadId, ns = '', checkpointId, config }: StateOrder) => ({
  configurable: {
    ...toConfigurable(config.configurable, undefined),
    thread_id: threadId,
    checkpoint_ns: ns,
    checkpoint_id: checkpointId,
  },
});

function readOnly(checkpoints: CheckpointReader): CheckpointStore {
  const refuse = async (): Promise<never> => {
    throw new Error('Reading the state saves nothing');
  };
  return {
    load: (ns, checkpointId) => checkpoints.load(ns, checkpointId),
    list: (query) => checkpoints.list(query),
    save: refuse,
    saveWrites: refuse,
  };
}

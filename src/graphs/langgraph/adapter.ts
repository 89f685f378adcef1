/**
 * Runs LangGraph.js graphs. A graph object is shared by all its runs, so none of them may leave a trace on it: every
 * run works on a shallow copy that has the run's own checkpoint saver.
 */
import type { Ids } from '../../kernel/ids.ts';
import type { Attempt } from '../attempt.ts';
import { createDecoder, type Reviver } from '../codec.ts';
import type { CompiledGraph } from '../graph-shapes.ts';
import type { CheckpointReader, CheckpointStore, GraphState, RunEnd, RunOrder, StateOrder } from '../port.ts';
import { toConfigurable } from '../private-keys.ts';
import { toCheckpointMetadata } from '../run-config.ts';
import { settleAnswers } from './answers.ts';
import { createFrameMaker } from './frames.ts';
import { needsEvents, toInput, toOptions } from './invocation.ts';
import type { CheckpointTuple, Saver, SaverConfig } from './saver-contract.ts';
import { openSaver } from './saver.ts';
import { toGraphState, toInterrupts } from './state.ts';

/** Ends as the graph does; whatever the graph throws rejects. */
export async function runLangGraph(
  graph: CompiledGraph,
  reviver: Reviver,
  order: RunOrder,
  attempt: Attempt,
  ids: Ids,
): Promise<RunEnd> {
  const saver = openSaver({
    threadId: order.threadId,
    store: attempt.store,
    decode: createDecoder(reviver),
    ids,
    runId: order.runId,
    metadata: toCheckpointMetadata(order),
    valueChannels: valueChannels(graph),
    fail: attempt.fail,
  });
  const bound = bind(graph, saver);
  const input = toInput(await settleAnswers(order, bound, attempt.store), reviver);
  const options = toOptions(order, attempt.signal);
  const frames = createFrameMaker(order);
  const withEvents = needsEvents(order.streamModes);
  const chunks = withEvents
    ? bound.streamEvents(input, { ...options, version: 'v2' })
    : await bound.stream(input, options);
  for await (const chunk of chunks) {
    const made = withEvents ? frames.event(chunk) : frames.chunk(chunk);
    for (const { event, data } of made) attempt.frames.push(event, data);
    await attempt.frames.ready();
  }
  return readEnd(graph, saver, order);
}

/** The state at a checkpoint of the thread, or at its head. Rejects when the graph has no such subgraph. */
export async function readLangGraphState(
  graph: CompiledGraph,
  reviver: Reviver,
  order: StateOrder,
  checkpoints: CheckpointReader,
  ids: Ids,
): Promise<GraphState> {
  const saver = openSaver({
    threadId: order.threadId,
    store: readOnly(checkpoints),
    decode: createDecoder(reviver),
    ids,
    runId: '',
    metadata: {},
    valueChannels: [],
    fail: (error) => {
      throw error;
    },
  });
  const configurable = {
    ...toConfigurable(order.config.configurable, undefined),
    thread_id: order.threadId,
    checkpoint_ns: order.ns ?? '',
    checkpoint_id: order.checkpointId,
  };
  const view = toView(saver, saver.getTuple);
  const snapshot = await bind(graph, view).getState({ configurable }, { subgraphs: order.subgraphs });
  return toGraphState(snapshot);
}

const bind = (graph: CompiledGraph, saver: Pick<Saver, 'getTuple'>): CompiledGraph =>
  Object.assign(Object.create(Object.getPrototypeOf(graph) as object) as CompiledGraph, graph, {
    checkpointer: saver,
  });

function valueChannels(graph: CompiledGraph): string[] {
  const channels = graph.streamChannelsAsIs;
  return typeof channels === 'string' ? [channels] : [...channels];
}

/** The last checkpoint is still in memory, so this reads nothing back unless the run saved none. */
async function readEnd(graph: CompiledGraph, saver: Saver, order: RunOrder): Promise<RunEnd> {
  const view = toView(saver, async (config) => saver.lastTuple() ?? saver.getTuple(config));
  const { next, tasks } = await bind(graph, view).getState({
    configurable: { thread_id: order.threadId, checkpoint_ns: '' },
  });
  return { kind: 'success', next: [...next], interrupts: toInterrupts(tasks) };
}

/**
 * The saver for reading states. The runtime takes a task that has got an answer for a finished one, even if it waits
 * for the next answer; without the answers it sees what is still to run.
 */
function toView(saver: Saver, read: Saver['getTuple']): Saver {
  return Object.assign(Object.create(saver) as Saver, {
    async getTuple(config: SaverConfig): Promise<CheckpointTuple | undefined> {
      const tuple = await read(config);
      return (
        tuple && {
          ...tuple,
          pendingWrites: tuple.pendingWrites.filter(([, channel]) => channel !== '__resume__'),
        }
      );
    },
  });
}

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

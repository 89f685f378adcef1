/** Runs LangGraph.js graphs: binds saver and store, streams frames, reads the end. */
import type { Ids } from '../../kernel/ids.ts';
import { needsEvents, subgraphReadsOf } from '../../protocol/stream-modes.ts';
import { openSubgraphFrames, type SubgraphFrames } from '../../protocol/subgraph-frames.ts';
import { BUDGET_REACHED } from '../../thread/usage.ts';
import type { Attempt } from '../attempt.ts';
import { awaitedSaves } from '../awaited-saves.ts';
import { createDecoder, type Reviver } from '../codec.ts';
import { stackOfNode } from '../function-place.ts';
import type { CompiledGraph } from '../graph-shapes.ts';
import type { RunEnd, RunOrder } from '../port.ts';
import { toCheckpointMetadata } from '../run-config.ts';
import { createGraphStore } from '../store.ts';
import { INTERRUPT } from '../state-port.ts';
import { toWire } from '../wire.ts';
import { prepareResume } from './resume-values.ts';
import { openBackgroundSaves } from './background-saves.ts';
import { bind, deltaDefaults, metadataOf, toView, untrackedChannels, valueChannels } from './binding.ts';
import { openExtensions } from './extensions.ts';
import { locateFailure } from './failed-task.ts';
import { isFinished } from './finished.ts';
import { createFrameMaker } from './frames.ts';
import { holdBehind } from './held-breakpoints.ts';
import { callHandlers } from './call-handler.ts';
import { openObserver } from './observer.ts';
import { toInput, toOptions, type ChunkListener, type Needs } from './invocation.ts';
import type { Saver } from './saver-contract.ts';
import { openStepEnds } from './step-ends.ts';
import { openStop } from './budget-stop.ts';
import { openSaver } from './saver.ts';
import { toInterrupts } from './state.ts';

/** The library's default name of graphs. */
const DEFAULT_GRAPH_NAME = 'LangGraph';

/** Runs the graph and returns its end; rejects with the error that the graph throws. */
export async function runLangGraph(
  graph: CompiledGraph,
  reviver: Reviver,
  order: RunOrder,
  attempt: Attempt,
  ids: Ids,
): Promise<RunEnd> {
  const saves = openBackgroundSaves(attempt.store, attempt.fail);
  const metadata = { ...metadataOf(graph), ...toCheckpointMetadata(order) };
  const ends = openStepEnds(order, attempt.frames);
  const observer = order.observe ? openObserver(graph, order) : undefined;
  if (observer !== undefined) attempt.observe(observer.read);
  const stop = order.budget && openStop(attempt.meter);
  const saver = openSaver({
    openStepEnd: ends.open,
    usage: attempt.meter.usage,
    stepped: stop?.stepped,
    threadId: order.threadId,
    store: order.durability === 'sync' ? awaitedSaves(attempt.store) : saves.store,
    decode: createDecoder(reviver),
    ids,
    runId: order.runId,
    metadata,
    valueChannels: valueChannels(graph),
    deltaDefaults: deltaDefaults(graph),
    fail: attempt.fail,
    stackOf: (node) => stackOfNode(graph, node),
    wrote: observer?.wrote,
  });
  const store = createGraphStore(attempt.items, reviver.store?.());
  const ofRun = [observer?.handler, attempt.meter.handler].filter((each) => each !== undefined);
  // A graph with other handlers pays for callbacks anyway, so it gets this one instead of each task.
  const handlers = ofRun.length === 0 ? [] : [...ofRun, ...callHandlers()];
  const bound = bind(graph, saver, { store, handlers });
  const settled = await prepareResume(order, bound, attempt.store);
  if (settled.given !== undefined) saver.give(settled.given.taskId, settled.given.value);
  const input = toInput(settled.order, reviver);
  const untracked = untrackedChannels(graph);
  const extensions = openExtensions(graph, reviver, order, attempt.frames.push.bind(attempt.frames));
  const { streamSubgraphs: subgraphs } = order;
  const subgraphReads = subgraphReadsOf(order.streamModes);
  const lifecycle = subgraphReads.length > 0 ? openSubgraphFrames() : undefined;
  const needs: Needs = {
    modes: [
      ...(extensions?.modes ?? (untracked.length > 0 ? ['values'] : [])),
      ...(subgraphs ? subgraphReads : []),
    ],
    subgraphs,
    // A listener instead of `subgraphs: true`: streaming subgraphs removes their messages from the parent's stream.
    listener: lifecycle !== undefined && !subgraphs ? listen(lifecycle, subgraphReads, attempt) : undefined,
  };
  const signal = stop === undefined ? attempt.signal : AbortSignal.any([attempt.signal, stop.signal]);
  const options = {
    ...toOptions(await holdBehind(graph, saver, order), signal, needs),
    ...(stop && { control: stop.control }),
    // Events of an unnamed graph carry the graph id.
    ...((graph.name ?? DEFAULT_GRAPH_NAME) === DEFAULT_GRAPH_NAME && { runName: order.graphId }),
  };
  const frames = createFrameMaker(order, {
    ...{ metadata, onChunk: extensions?.feed },
    lifecycle: subgraphs ? lifecycle : undefined,
  });
  const withEvents = needsEvents(order.streamModes);
  try {
    const chunks = withEvents
      ? bound.streamEvents(input, { ...options, version: 'v2' })
      : await bound.stream(input, options);
    for await (const chunk of chunks) {
      const made = withEvents ? frames.event(chunk) : frames.chunk(chunk);
      for (const { event, data } of made) attempt.frames.push(event, data);
      if (made.some(({ event }) => event === 'values')) ends.shown();
      await attempt.frames.ready();
    }
  } catch (error) {
    if (!attempt.signal.aborted && stop?.hasStopped(error) === true) {
      await saves.settled();
      return { kind: 'error', error: BUDGET_REACHED, message: attempt.meter.reached()! };
    }
    if (!attempt.signal.aborted) throw await locateFailure(graph, saver, order.threadId, error);
    // After a stop the runtime may hold checkpoints that were not saved, so `next` is read from the store.
    await saves.settled();
    const { next } = await bind(graph, toView(saver)).getState(rootOf(order));
    return { kind: 'success', next: [...next], interrupts: {} };
  }
  await extensions?.end();
  await saves.settled();
  const end = await readEnd(graph, saver, order);
  observer?.ended(end.next);
  const shown = valuesOf(frames.shown, untracked);
  return shown === undefined ? end : { ...end, untracked: shown };
}

function listen(lifecycle: SubgraphFrames, modes: readonly string[], { frames }: Attempt): ChunkListener {
  return {
    modes: new Set(modes),
    push([namespace, mode, payload]) {
      for (const { event, data } of [
        ...lifecycle.before(namespace, mode),
        ...lifecycle.after(namespace, mode, payload),
      ])
        frames.push(event, data);
    },
  };
}

function valuesOf(shown: unknown, names: readonly string[]): string | undefined {
  const values = (shown ?? {}) as Record<string, unknown>;
  const entries = names.flatMap((name) => (values[name] === undefined ? [] : [[name, toWire(values[name])]]));
  return entries.length === 0 ? undefined : JSON.stringify(Object.fromEntries(entries));
}

const rootOf = ({ threadId }: RunOrder) => ({ configurable: { thread_id: threadId, checkpoint_ns: '' } });

/** Reads the run's end from the last checkpoint in memory, or from the store if the run saved none. */
async function readEnd(graph: CompiledGraph, saver: Saver, order: RunOrder) {
  const last = saver.lastTuple();
  if (last !== undefined && isFinished(graph, last))
    return { kind: 'success' as const, next: [], interrupts: {} };
  const root = rootOf(order);
  const view = toView(saver, async (config) => last ?? saver.getTuple(config));
  const { next, tasks } = await bind(graph, view).getState(root);
  if (next.length === 0 && last === undefined && order.command?.resume !== undefined) {
    const head = await view.getTuple(root);
    if (head?.pendingWrites.some(([, channel]) => channel === INTERRUPT) === true)
      throw new Error(
        `The graph "${order.graphId}", as it was made for this run, has no node for the question that waits. ` +
          'Answer it with the settings (configurable) of the run that asked.',
      );
  }
  return { kind: 'success' as const, next: [...next], interrupts: toInterrupts(tasks) };
}

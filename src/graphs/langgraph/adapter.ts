/** Runs LangGraph.js graphs. */
import type { Ids } from '../../kernel/ids.ts';
import { openSubgraphFrames, type SubgraphFrames } from '../../protocol/subgraph-frames.ts';
import type { Attempt } from '../attempt.ts';
import { createDecoder, type Reviver } from '../codec.ts';
import type { CompiledGraph } from '../graph-shapes.ts';
import type { RunEnd, RunOrder } from '../port.ts';
import { toCheckpointMetadata } from '../run-config.ts';
import { createGraphStore } from '../store.ts';
import { INTERRUPT } from '../state-port.ts';
import { toWire } from '../wire.ts';
import { settleAnswers } from './answers.ts';
import { openBackgroundSaves } from './background-saves.ts';
import { bind, metadataOf, toView, unheldChannels, valueChannels } from './binding.ts';
import { openExtensions } from './extensions.ts';
import { locateFailure } from './failed-task.ts';
import { createFrameMaker } from './frames.ts';
import { holdBehind } from './held-breakpoints.ts';
import { needsEvents, toInput, toOptions, type ChunkListener, type Needs } from './invocation.ts';
import type { Saver } from './saver-contract.ts';
import { openStepEnds } from './step-ends.ts';
import { openSaver } from './saver.ts';
import { toInterrupts } from './state.ts';

/** The library's own name for graphs. */
const UNNAMED = 'LangGraph';

/** Ends as the graph does; whatever the graph throws rejects. */
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
  const saver = openSaver({
    openStepEnd: ends.open,
    threadId: order.threadId,
    store: order.durability === 'sync' ? attempt.store : saves.store,
    decode: createDecoder(reviver),
    ids,
    runId: order.runId,
    metadata,
    valueChannels: valueChannels(graph),
    fail: attempt.fail,
  });
  const bound = bind(graph, saver, createGraphStore(attempt.items, reviver.store?.()));
  const settled = await settleAnswers(order, bound, attempt.store);
  if (settled.given !== undefined) saver.give(settled.given.taskId, settled.given.answer);
  const input = toInput(settled.order, reviver);
  const unheld = unheldChannels(graph);
  const extensions = openExtensions(graph, reviver, order, attempt.frames.push.bind(attempt.frames));
  const subgraphs = extensions !== undefined || order.streamSubgraphs;
  const told = order.streamModes.includes('lifecycle') ? openSubgraphFrames() : undefined;
  const needs: Needs = {
    modes: [
      ...(extensions?.modes ?? (unheld.length > 0 ? ['values'] : [])),
      ...(told !== undefined && subgraphs ? ['tasks'] : []),
    ],
    subgraphs,
    // Streamed subgraphs would take their messages away from the graph around them.
    listener: told !== undefined && !subgraphs ? listen(told, attempt) : undefined,
  };
  const options = {
    ...toOptions(await holdBehind(graph, saver, order), attempt.signal, needs),
    // Events of a graph without a name of its own carry the name that clients know.
    ...((graph.name ?? UNNAMED) === UNNAMED && { runName: order.graphId }),
  };
  const frames = createFrameMaker(order, {
    ...{ metadata, subgraphs, onChunk: extensions?.feed },
    told: subgraphs ? told : undefined,
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
    if (!attempt.signal.aborted) throw await locateFailure(graph, saver, order.threadId, error);
    // The runtime may hold checkpoints that were never stored after a stop, so `next` is read from the store.
    await saves.settled();
    const { next } = await bind(graph, toView(saver)).getState(rootOf(order));
    return { kind: 'success', next: [...next], interrupts: {} };
  }
  await extensions?.end();
  await saves.settled();
  const end = await readEnd(graph, saver, order);
  const held = saver.lastTuple()?.checkpoint.channel_values ?? {};
  const left = valuesOf(
    frames.shown,
    unheld.filter((name) => held[name] === undefined),
  );
  return left === undefined ? end : { ...end, untracked: left };
}

function listen(told: SubgraphFrames, { frames }: Attempt): ChunkListener {
  return {
    modes: new Set(['tasks']),
    push([namespace, mode, payload]) {
      for (const { event, data } of [
        ...told.before(namespace, mode),
        ...told.after(namespace, mode, payload),
      ])
        frames.push(event, data);
    },
  };
}

function valuesOf(shown: unknown, names: readonly string[]): string | undefined {
  const values = (shown ?? {}) as Record<string, unknown>;
  const left = names.flatMap((name) => (values[name] === undefined ? [] : [[name, toWire(values[name])]]));
  return left.length === 0 ? undefined : JSON.stringify(Object.fromEntries(left));
}

const rootOf = ({ threadId }: RunOrder) => ({ configurable: { thread_id: threadId, checkpoint_ns: '' } });

/** The last checkpoint is still in memory, so this reads nothing back unless the run saved none. */
async function readEnd(graph: CompiledGraph, saver: Saver, order: RunOrder) {
  const root = rootOf(order);
  const view = toView(saver, async (config) => saver.lastTuple() ?? saver.getTuple(config));
  const { next, tasks } = await bind(graph, view).getState(root);
  if (next.length === 0 && saver.lastTuple() === undefined && (order.command?.resume ?? null) !== null) {
    const head = await view.getTuple(root);
    if (head?.pendingWrites.some(([, channel]) => channel === INTERRUPT) === true)
      throw new Error(
        `The graph "${order.graphId}", as it was made for this run, has no node for the question that waits. ` +
          'Answer it with the settings (configurable) of the run that asked.',
      );
  }
  return { kind: 'success' as const, next: [...next], interrupts: toInterrupts(tasks) };
}

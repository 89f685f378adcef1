/** Runs graphs in this process: a graph worker, or the server itself for tests and debuggers. */
import { setMaxListeners } from 'node:events';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Json } from '../kernel/json.ts';
import { runAttempt, type Attempt } from './attempt.ts';
import { LocatedFailure, toErrorEnd, toRefusal } from './failure.ts';
import { createCheckpointBuffer } from './checkpoint-buffer.ts';
import { runFunction, type Outcome } from './function/adapter.ts';
import { parseBody } from './function/checkpoint-body.ts';
import { readFunctionHistory, readFunctionState } from './function/state-access.ts';
import { updateFunctionState } from './function/update.ts';
import type { GraphFunction } from './graph-function.ts';
import { toCompiledGraph, type CompiledGraph } from './graph-shapes.ts';
import { runLangGraph } from './langgraph/adapter.ts';
import { readLangGraphHistory, readLangGraphState, updateLangGraphState } from './langgraph/state-access.ts';
import type { GraphProblem, LoadedGraph } from './loader.ts';
import type { CheckpointReader, GraphHost, RunEnd, RunLink, RunOrder, StateOrder } from './port.ts';
import type { ChannelChoice } from './state-part.ts';
import { toConfigurable } from './private-keys.ts';
import { toRunConfig } from './run-config.ts';
import type { StateHost, Updated } from './state-port.ts';
import type { Reviver } from './codec.ts';
import { currentSession } from '../recording/session.ts';
import { recordRun } from './recorded-run.ts';
import { openUserLibraries, type UserLibraryFinder } from './user-library.ts';

interface Entry {
  readonly graph: LoadedGraph;
  readonly library: UserLibraryFinder;
  /** The role of the source; that of an undecided function changes after its first call. */
  role: LoadedGraph['source']['kind'];
}

/** A graph host without `lost` attempts: graph code shares this process. */
export interface InProcessGraphs extends GraphHost, StateHost {
  /** `onWork` gets a promise that settles when graph code returns, possibly long after the run's end. */
  run(
    order: RunOrder,
    link: RunLink,
    signal: AbortSignal,
    onWork?: (work: Promise<unknown>) => void,
  ): Promise<RunEnd>;
  /**
   * Resolves each graph's library ahead of its first run. If file descriptors run out at that run, Node would cache the
   * failed look-up for the life of the process.
   */
  findLibraries(): Promise<void>;
}

export function openInProcessGraphs({
  graphs,
  problems = [],
  ids,
  clock,
}: {
  readonly graphs: readonly LoadedGraph[];
  readonly problems?: readonly GraphProblem[];
  readonly ids: Ids;
  readonly clock: Clock;
}): InProcessGraphs {
  const libraries = new Map(graphs.map(({ file }) => [file, openUserLibraries(file)]));
  const entries = new Map<string, Entry>(
    graphs.map((graph) => [
      graph.graphId,
      { graph, library: libraries.get(graph.file)!, role: graph.source.kind },
    ]),
  );
  const closing = new AbortController();
  // Every attempt adds a listener; the default limit of 10 would print warnings.
  setMaxListeners(0, closing.signal);
  const find = (graphId: string): Entry => {
    const entry = entries.get(graphId);
    if (entry !== undefined) return entry;
    const problem = problems.find((each) => each.graphId === graphId);
    if (problem === undefined) throw new Error(`There is no graph "${graphId}"`);
    throw new Error(`The graph "${graphId}" did not load: ${problem.reason}`);
  };

  const runCompiled = async (entry: Entry, graph: CompiledGraph, order: RunOrder, attempt: Attempt) => {
    const library = await entry.library(graph);
    const session = currentSession();
    if (session !== undefined) session.configOf = library.config;
    return runLangGraph(graph, library, order, attempt, ids);
  };

  const run = async (order: RunOrder, attempt: Attempt): Promise<RunEnd> => {
    const entry = find(order.graphId);
    const { source } = entry.graph;
    if (source.kind === 'graph') return runCompiled(entry, source.graph, order, attempt);
    const session = currentSession();
    // A plain function is one task; a factory or graph replaces this.
    if (session !== undefined) session.configOf = () => wholeRun(order);
    if (entry.role === 'plain') return runFunction(source.fn, order, attempt, ids);
    if (entry.role === 'factory')
      return runCompiled(entry, await build(source.fn, factoryConfig(order), order.graphId), order, attempt);
    // An undecided function is not called to continue a thread: the head checkpoint shows which kind of graph wrote it.
    const head = order.command !== undefined || order.resume ? await attempt.store.load('') : undefined;
    if (head !== undefined && parseBody(head.body) === undefined)
      return runCompiled(entry, await build(source.fn, factoryConfig(order), order.graphId), order, attempt);
    const divert = async (outcome: Outcome): Promise<RunEnd | undefined> => {
      if ('thrown' in outcome) {
        const saved = await attempt.store.load('');
        if (saved !== undefined && parseBody(saved.body) !== undefined) return undefined;
        // The role of a function that throws on a new thread stays unknown, so no checkpoint may be saved for it.
        return toErrorEnd(new LocatedFailure(outcome.thrown, { node: order.graphId }));
      }
      const graph = toCompiledGraph(outcome.value);
      entry.role = graph === undefined ? 'plain' : 'factory';
      return graph && runCompiled(entry, graph, order, attempt);
    };
    return runFunction(source.fn, order, attempt, ids, divert);
  };

  /** Calls the form that fits the graph of the order: a plain function or a compiled graph. */
  const ask = async <T>(
    order: StateOrder,
    checkpoints: CheckpointReader,
    forms: { plain(): Promise<T>; compiled(graph: CompiledGraph, library: Reviver): Promise<T> },
  ): Promise<T> => {
    const entry = find(order.graphId);
    const { source } = entry.graph;
    const compiled = async (graph: CompiledGraph) => forms.compiled(graph, await entry.library(graph));
    if (source.kind === 'graph') return compiled(source.graph);
    const head = entry.role === 'undecided' ? await checkpoints.load('', undefined, NO_VALUES) : undefined;
    // The head checkpoint of an undecided function shows which role it had when it wrote it.
    const isPlain = head === undefined || parseBody(head.body) !== undefined;
    if (entry.role === 'plain' || (entry.role === 'undecided' && isPlain)) return forms.plain();
    if (entry.role === 'factory') return compiled(await build(source.fn, stateConfig(order), order.graphId));
    // A compiled graph wrote the head: the call shows whether this function still makes one.
    const graph = toCompiledGraph(await source.fn(stateConfig(order)));
    entry.role = graph === undefined ? 'plain' : 'factory';
    return graph === undefined ? forms.plain() : compiled(graph);
  };

  return {
    graphIds: [...entries.keys()],
    async findLibraries() {
      const finding = [...entries.values()].map(async ({ graph: { source }, library }) => {
        // An undecided function may be plain and have no library.
        if (source.kind !== 'plain')
          await library(source.kind === 'graph' ? source.graph : undefined).catch(() => undefined);
      });
      await Promise.all(finding);
    },
    run(order, link, signal, onWork) {
      const { recording } = order;
      const file = entries.get(order.graphId)?.graph.file;
      const recorded =
        recording === undefined || file === undefined
          ? undefined
          : recordRun({ order, recording, link, file, now: clock.now });
      return runAttempt(recorded?.link ?? link, signal, clock, closing.signal, (attempt) => {
        const execute = () => run(order, attempt);
        const work = link.begun().then(() => (recorded === undefined ? execute() : recorded.inside(execute)));
        onWork?.(work);
        return work;
      });
    },
    state: (order, checkpoints) =>
      ask(order, checkpoints, {
        plain: () => readFunctionState(order, checkpoints, ids),
        compiled: (graph, library) => readLangGraphState(graph, library, order, checkpoints, ids),
      }),
    history: (order, checkpoints) =>
      ask(order, checkpoints, {
        plain: () => readFunctionHistory(order, checkpoints, ids),
        compiled: (graph, library) => readLangGraphHistory(graph, library, order, checkpoints, ids),
      }),
    update(order, checkpoints) {
      const buffer = createCheckpointBuffer(checkpoints, clock.now);
      return ask<Updated>(order, checkpoints, {
        plain: () => updateFunctionState(order, buffer, ids).catch(toRefusal),
        compiled: (graph, library) => updateLangGraphState(graph, library, order, buffer, ids),
      });
    },
    close: async () => closing.abort(),
  };
}

/** The task config of a run that is one task. */
const wholeRun = ({ graphId }: RunOrder): object => ({
  metadata: { langgraph_step: 0, langgraph_node: graphId },
});

/** Loads a checkpoint's body without channel values. */
const NO_VALUES: ChannelChoice = { names: [], written: false };

async function build(fn: GraphFunction, config: object, graphId: string): Promise<CompiledGraph> {
  const graph = toCompiledGraph(await fn(config));
  if (graph === undefined)
    throw new TypeError(
      `The function of the graph "${graphId}" takes a config, so it has to return a graph, but it returned none`,
    );
  return graph;
}

/** The config for a factory, which is called once per run. */
function factoryConfig(order: RunOrder): object {
  const { configurable, metadata } = toRunConfig(order);
  const { madeWith } = order.config;
  return {
    configurable: { ...configurable, ...madeWith?.configurable },
    metadata,
    tags: [...(order.config.tags ?? [])],
    ...contextOf(madeWith?.context ?? order.context),
  };
}

function stateConfig({ config, context, threadId, graphId }: StateOrder): object {
  const { madeWith } = config;
  return {
    configurable: {
      ...toConfigurable({ ...config.configurable, ...madeWith?.configurable }, undefined),
      thread_id: threadId,
      graph_id: graphId,
    },
    metadata: config.metadata,
    ...contextOf(madeWith?.context ?? context),
  };
}

const contextOf = (context: Json | undefined): object =>
  context === undefined || context === null ? {} : { context };

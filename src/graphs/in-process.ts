/** Runs graphs in this process: a graph worker, or the server itself for tests and debuggers. */
import { setMaxListeners } from 'node:events';
import type { Clock } from '../kernel/clock.ts';
import { randomIds, type Ids } from '../kernel/ids.ts';
import { runAttempt, type Attempt } from './attempt.ts';
import { currentCallLog, flushBeforeSaves, insideCallLog, observePrints, openCallLog } from './call-log.ts';
import { LocatedFailure, toErrorEnd, toRefusal } from './failure.ts';
import { createCheckpointBuffer } from './checkpoint-buffer.ts';
import { runFunction, type Outcome } from './function/adapter.ts';
import { parseBody } from './function/checkpoint-body.ts';
import { readFunctionHistory, readFunctionState } from './function/state-access.ts';
import { updateFunctionState } from './function/update.ts';
import { placedAt } from './function-place.ts';
import { factoryConfig, readRuntime, runRuntime, stateConfig, type OptionalLibrary } from './factory.ts';
import { serveBoth, type GraphFunction } from './graph-function.ts';
import { toCompiledGraph, type CompiledGraph } from './graph-shapes.ts';
import { runLangGraph } from './langgraph/adapter.ts';
import { readLangGraphHistory, readLangGraphState, updateLangGraphState } from './langgraph/state-access.ts';
import type { GraphProblem, LoadedGraph } from './loader.ts';
import type { CheckpointReader, GraphHost, RunEnd, RunLink, RunOrder, StateOrder } from './port.ts';
import type { ChannelChoice } from './state-part.ts';
import type { StateHost, Updated } from './state-port.ts';
import type { Reviver } from './codec.ts';
import { giveCallKeys } from '../recording/call-keys.ts';
import { readModelAnswer } from '../recording/usage.ts';
import { currentSession, type Session } from '../recording/session.ts';
import { noteLibraryCalls } from './langgraph/call-handler.ts';
import { openMeter } from './meter.ts';
import { nodeFunctions, type OnNodes } from './node-functions.ts';
import { observeRun, watchQueues } from './observed-run.ts';
import { openUserLibraries, type UserLibraryFinder } from './user-library.ts';

interface Entry {
  readonly graph: LoadedGraph;
  readonly library: UserLibraryFinder;
  /** Looks only once: a missing library would otherwise be searched for in every run. */
  readonly anyLibrary: OptionalLibrary;
  /** Known after the first call of a function that may be a factory. */
  role: 'plain' | 'factory' | undefined;
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
  /** The graph is known to be a plain function. */
  isPlain(graphId: string): boolean;
  /** Resolves each graph's library ahead of its first run: Node keeps a look-up that finds no free file descriptor. */
  findLibraries(): Promise<void>;
}

export function openInProcessGraphs({
  graphs,
  problems = [],
  ids,
  clock,
  onNodes,
}: {
  readonly graphs: readonly LoadedGraph[];
  readonly problems?: readonly GraphProblem[];
  readonly ids: Ids;
  readonly clock: Clock;
  readonly onNodes?: OnNodes | undefined;
}): InProcessGraphs {
  observePrints();
  const libraries = new Map(graphs.map(({ file }) => [file, openUserLibraries(file)]));
  const entries = new Map<string, Entry>(
    graphs.map((graph) => [
      graph.graphId,
      {
        ...toLibraries(libraries.get(graph.file)!),
        graph,
        role: graph.source.kind === 'plain' ? 'plain' : undefined,
      },
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

  const runCompiled = async (
    entry: Entry,
    graph: CompiledGraph,
    order: RunOrder,
    attempt: Attempt,
    ids: Ids,
  ) => {
    const library = await entry.library(graph);
    const session = currentSession();
    setConfigOf(library.config);
    watchQueues(library.storeQueue);
    if (session !== undefined) giveCallKeys();
    noteLibraryCalls();
    onNodes?.(nodeFunctions(graph), true);
    return runLangGraph(graph, library, order, attempt, ids);
  };

  const run = async (order: RunOrder, attempt: Attempt, ids: Ids): Promise<RunEnd> => {
    const entry = find(order.graphId);
    const { source } = entry.graph;
    const session = currentSession();
    if (session !== undefined) session.runId = order.runId;
    if (source.kind === 'graph') return runCompiled(entry, source.graph, order, attempt, ids);
    // A plain function is one task; a factory or graph replaces this.
    const whole = wholeRun(order);
    setConfigOf(() => whole);
    onNodes?.({ [order.graphId]: source.fn }, false);
    if (source.kind === 'plain') return runFunction(source.fn, order, attempt, ids);
    const runtime = await runRuntime(order, attempt.items, entry.anyLibrary);
    const asFactory = async (): Promise<RunEnd> => {
      const value = await source.fn(factoryConfig(order), runtime);
      const graph = toCompiledGraph(value);
      return graph === undefined
        ? runFunction(() => value, order, attempt, ids)
        : runCompiled(entry, graph, order, attempt, ids);
    };
    const asEither: GraphFunction = (state, config) => {
      const made = { ...(config as object), ...factoryConfig(order) };
      return source.kind === 'factory'
        ? source.fn(serveBoth(made, state), serveBoth(runtime, config))
        : source.fn(serveBoth(state, made), serveBoth(config, runtime));
    };
    if (entry.role === 'plain') return runFunction(asEither, order, attempt, ids);
    if (entry.role === 'factory') return asFactory();
    if (order.command !== undefined || order.resume || order.input === null) {
      // A plain function is not called to continue a thread, and the head checkpoint shows which kind of graph wrote it.
      const head = await attempt.store.load('');
      const isGraph = head === undefined ? source.kind === 'factory' : parseBody(head.body) === undefined;
      if (isGraph) return asFactory();
    }
    const divert = async (outcome: Outcome): Promise<RunEnd | undefined> => {
      if ('thrown' in outcome) {
        const saved = await attempt.store.load('');
        if (saved !== undefined && parseBody(saved.body) !== undefined) return undefined;
        // The role of a function that throws on a new thread stays unknown, so no checkpoint may be saved for it.
        const failure = new LocatedFailure(outcome.thrown, { node: order.graphId });
        return toErrorEnd(placedAt(failure, order.graphId, source.fn));
      }
      const graph = toCompiledGraph(outcome.value);
      entry.role = graph === undefined ? 'plain' : 'factory';
      return graph && runCompiled(entry, graph, order, attempt, ids);
    };
    return runFunction(asEither, order, attempt, ids, divert);
  };

  /** Calls the form that fits the graph of the order: a plain function or a compiled graph. */
  const ask = async <T>(
    access: 'threads.read' | 'threads.update',
    order: StateOrder,
    checkpoints: CheckpointReader,
    forms: { plain(): Promise<T>; compiled(graph: CompiledGraph, library: Reviver): Promise<T> },
  ): Promise<T> => {
    const entry = find(order.graphId);
    const { source } = entry.graph;
    const compiled = async (graph: CompiledGraph) => forms.compiled(graph, await entry.library(graph));
    if (source.kind === 'graph') return compiled(source.graph);
    const head = entry.role === undefined ? await checkpoints.load('', undefined, NO_VALUES) : undefined;
    // The head checkpoint shows which role the function had when it wrote it.
    const isPlain = head === undefined ? source.kind !== 'factory' : parseBody(head.body) !== undefined;
    if (entry.role === 'plain' || (entry.role === undefined && isPlain)) return forms.plain();
    const runtime = await readRuntime(access, order.user, entry.anyLibrary);
    const graph = toCompiledGraph(await source.fn(stateConfig(order), runtime));
    entry.role ??= graph === undefined ? 'plain' : 'factory';
    return graph === undefined ? forms.plain() : compiled(graph);
  };

  return {
    graphIds: [...entries.keys()],
    isPlain: (graphId) => entries.get(graphId)?.role === 'plain',
    async findLibraries() {
      const finding = [...entries.values()].map(async ({ graph: { source }, library }) => {
        // An undecided function may be plain and have no library.
        if (source.kind !== 'plain')
          await library(source.kind === 'graph' ? source.graph : undefined).catch(() => undefined);
      });
      await Promise.all(finding);
    },
    run(order, link, signal, onWork) {
      const file = entries.get(order.graphId)?.graph.file;
      const observed = file === undefined ? undefined : observeRun(order, link, file, clock.now);
      const session = observed?.isRecorded === true ? observed.session : currentSession();
      const time = session === undefined ? clock : timeOf(session, clock);
      const named = session === undefined ? ids : idsOf(session, time, ids);
      const meter = openMeter({ used: order.used, budget: order.budget, elapsed: clock.monotonic });
      const calls = openCallLog({
        ...{ attempt: order.attempt, noted: order.noted ?? 0, clock },
        // A refused note also refuses the attempt's checkpoints, which ends it with that error.
        send: (records) => void link.note(records).catch(() => undefined),
      });
      const seen = observed?.session ?? currentSession();
      if (seen !== undefined)
        seen.onRequest = (request, isServed) => {
          const onAnswer = calls.asked(request, isServed);
          return (headers, body, isCounted) => {
            const answer = readModelAnswer(headers, body);
            if (answer !== undefined && !isCounted) meter.answered(answer);
            onAnswer(answer);
          };
        };
      const linked = flushBeforeSaves(observed?.link ?? link, calls);
      const end = runAttempt(linked, signal, time, closing.signal, meter, (attempt) => {
        const noted = <T>(work: () => T): T => (order.isUnnoted ? work() : insideCallLog(calls, work));
        const execute = () =>
          noted(() => run(order, attempt, named)).catch((failure: unknown) => {
            const source = entries.get(order.graphId)?.graph.source;
            throw source === undefined || source.kind === 'graph'
              ? failure
              : placedAt(failure, order.graphId, source.fn);
          });
        const work = link.begun().then(() => (observed === undefined ? execute() : observed.inside(execute)));
        onWork?.(work);
        return work;
      });
      return end.then((how) => {
        calls.end();
        const repeated = observed?.end() ?? [];
        return repeated.length === 0 ? how : { ...how, repeated };
      });
    },
    state: (order, checkpoints) =>
      ask('threads.read', order, checkpoints, {
        plain: () => readFunctionState(order, checkpoints, ids),
        compiled: (graph, library) => readLangGraphState(graph, library, order, checkpoints, ids),
      }),
    history: (order, checkpoints) =>
      ask('threads.read', order, checkpoints, {
        plain: () => readFunctionHistory(order, checkpoints, ids),
        compiled: (graph, library) => readLangGraphHistory(graph, library, order, checkpoints, ids),
      }),
    update(order, checkpoints) {
      const buffer = createCheckpointBuffer(checkpoints, clock.now);
      return ask<Updated>('threads.update', order, checkpoints, {
        plain: () => updateFunctionState(order, buffer, ids).catch(toRefusal),
        compiled: (graph, library) => updateLangGraphState(graph, library, order, buffer, ids),
      });
    },
    close: async () => closing.abort(),
  };
}

function toLibraries(library: UserLibraryFinder): Pick<Entry, 'library' | 'anyLibrary'> {
  let found: ReturnType<OptionalLibrary> | undefined;
  return { library, anyLibrary: () => (found ??= library().catch(() => undefined)) };
}

function setConfigOf(configOf: (() => unknown) | undefined): void {
  const log = currentCallLog();
  if (log !== undefined) log.configOf = configOf;
  const session = currentSession();
  if (session !== undefined) session.configOf = configOf;
}

/** The clock of a session for what this program itself puts into frames and ids. */
const timeOf = (session: Session, clock: Clock): Clock => ({
  ...clock,
  now: () => session.reading('server', clock.now()),
});

/** UUIDs are equal in a re-execution. Tokens are not drawn from the seed: the next attempt would draw them again. */
const idsOf = (session: Session, clock: Clock, { token }: Ids): Ids => ({
  ...randomIds(clock, (bytes) => {
    const random = session.random('server', 1)!;
    for (let at = 0; at < bytes.length; at++) bytes[at] = Math.floor(random.float() * 256);
  }),
  token,
});

/** The task config of a run that is one task. */
const wholeRun = ({ graphId }: RunOrder): object => ({
  metadata: { langgraph_step: 0, langgraph_node: graphId },
});

/** Loads a checkpoint's body without channel values. */
const NO_VALUES: ChannelChoice = { names: [], written: false };

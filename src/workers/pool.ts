/**
 * Implements the graph port with graph workers. X4 No graph code runs in the server's process. X6 A run that may have
 * killed its worker is retried alone in a worker, where the cause is certain and other runs are safe.
 */
import type { OnFile } from '../graphs/modules/loaded-files.ts';
import type { GraphProblem, GraphSpec } from '../graphs/loader.ts';
import {
  GraphFailed,
  GraphLoading,
  GraphsUnavailable,
  type GraphHost,
  type LostAttempt,
  type RunEnd,
  type RunLink,
  type RunOrder,
} from '../graphs/port.ts';
import type { GraphDescriber } from '../graphs/schema-port.ts';
import type { SourceReport } from '../graphs/schemas/source-report.ts';
import type { StateHost } from '../graphs/state-port.ts';
import { systemClock, type Clock } from '../kernel/clock.ts';
import { isDevelopment } from '../kernel/development.ts';
import { isDoubtful } from './health.ts';
import { readOutput } from './output.ts';
import { unpackState, unpackUpdated } from './packing.ts';
import { spawnWorker, type WorkerProcess } from './spawn.ts';
import type { QueryOrder } from './query-job.ts';
import type { KnownHead } from './run-job.ts';
import { openSupervisor } from './supervisor.ts';
import { openWorker, type GraphWorker } from './worker.ts';
import type { WorkerReport } from './worker-report.ts';

export interface GraphPoolOptions {
  readonly graphs: readonly GraphSpec[];
  /** Maximum number of workers, at least 1. */
  readonly workers: number;
  /** Memory limit of one worker, in MiB. */
  readonly memoryMb: number;
  /** Time limit for loading one graph, in milliseconds. */
  readonly loadLimitMs: number;
  /** Prefix of environment variables that hold webhook secrets; workers do not get them. */
  readonly secretPrefix: string;
  /** Identifies this server's graph workers in HTTP requests to it. */
  readonly token: string;
  readonly readSource: (file: string, exportName: string) => Promise<SourceReport | undefined>;
  readonly onFile?: OnFile;
  readonly onFault: (error: unknown, context: string) => void;
  /** Called when a worker ends because it had nothing to do. */
  readonly onEntry?: (entry: { level: 'info'; message: string; members: { reason: string } }) => void;
  readonly abandoned?: AbortSignal | undefined;
  /** A process that was started ahead for the first worker. */
  readonly first?: WorkerProcess | undefined;
  /** Clock for query time-outs; the system clock by default. */
  readonly patience?: Pick<Clock, 'after'>;
}

export interface GraphPool extends GraphHost, StateHost {
  /** Graphs that did not load, with the reason; of these, `graphIds` contains the ones that are retried. */
  readonly problems: readonly GraphProblem[];
  readonly describer: GraphDescriber;
  /** Empty when graphs run in the server's process. */
  workers(): readonly WorkerReport[];
  /** Passes the server's URL to SDK clients in graph code. */
  base(url: string): void;
}

/** Time limit for a graph query. */
const MAX_QUERY_MS = 30_000;
/** Poll interval for a blocked event loop. */
const POLL_INTERVAL_MS = 250;
/** When all workers have this many begun runs, another worker starts. */
const MAX_BEGUN_RUNS = 32;
const MAX_SUSPECTS = 1_000;

/** A query exceeded its time limit. It is not retried, because another worker would need as long. */
class Late extends GraphsUnavailable {}

/** Resolves when each graph has loaded or failed. */
export async function openGraphPool(options: GraphPoolOptions): Promise<GraphPool> {
  const { graphs, memoryMb, onFault, onFile = () => undefined } = options;
  // Processes need real time, even when the server runs on a simulated clock.
  const clock = systemClock();
  const { patience = clock } = options;
  const suspects = new Set<string>();
  const alive = new Set<GraphWorker>();
  /** Number of source files being analysed. Queries do not time out meanwhile. */
  let reading = 0;
  const readSource: GraphPoolOptions['readSource'] = (file, exportName) => {
    reading += 1;
    return options.readSource(file, exportName).finally(() => (reading -= 1));
  };

  let { first } = options;
  function spawn(): GraphWorker {
    const child = first ?? spawnWorker(options.secretPrefix, memoryMb, clock);
    first = undefined;
    readOutput(child.stdout, clock, (text) => process.stdout.write(text));
    const errors = readOutput(child.stderr, clock, (text) => process.stderr.write(text));
    const worker = openWorker({
      ...{ process: child, clock, memoryMb, readSource, onFile },
      welcome: { graphs, base: '', token: options.token, isDevelopment: isDevelopment(process.env) },
      onUncaught: onFault,
      onSuspect: (runId) => suspects.size < MAX_SUSPECTS && suspects.add(runId),
      lastWords: errors.tail,
    });
    alive.add(worker);
    void worker.ended.then(() => alive.delete(worker));
    return worker;
  }

  const supervisor = await openSupervisor({
    ...{ graphs, memoryMb, loadLimitMs: options.loadLimitMs, clock, spawn, onFault },
    onSurplus: (reason) =>
      options.onEntry?.({ level: 'info', message: 'graph worker ended', members: { reason } }),
    size: options.workers,
    concurrency: MAX_BEGUN_RUNS,
    abandoned: options.abandoned,
  });

  async function run(order: RunOrder, link: RunLink, signal: AbortSignal): Promise<RunEnd | LostAttempt> {
    const { runId, threadId, graphId } = order;
    const known = headOf(order, link);
    const execute = async (worker: GraphWorker) => {
      const head = await known;
      return signal.aborted ? ({ kind: 'stopped' } as const) : worker.run(order, link, signal, head);
    };
    for (;;) {
      const isAlone = suspects.has(runId) || supervisor.isRetried(graphId);
      const how = await (
        isAlone ? supervisor.alone(graphId, execute) : supervisor.choose(graphId, threadId).then(execute)
      ).catch(toLost);
      // Undefined: the worker gave the run back before it began, so another worker executes it.
      if (how === undefined) continue;
      if (how.kind !== 'lost') suspects.delete(runId);
      return how;
    }
  }

  /** Queries are free of side effects: when the worker dies or blocks, another worker gets the query once more. */
  async function query(asked: QueryOrder) {
    const { graphId } = asked.order;
    let cancel: () => void = () => undefined;
    const cancelLate = (): void => cancel();
    const late = new Promise<never>((_, reject) => {
      const expire = (): void => {
        if (reading > 0) cancel = patience.after(MAX_QUERY_MS, expire);
        else if (supervisor.isLoading(graphId))
          reject(new GraphLoading(`The graph "${graphId}" is still loading`));
        else reject(new Late(`The graph did not answer within ${MAX_QUERY_MS / 1_000} s`));
      };
      cancel = patience.after(MAX_QUERY_MS, expire);
    });
    const queryOnce = (worker: GraphWorker) => {
      const { result, abandon } = worker.query(asked);
      const stall = watchStall(worker);
      return Promise.race([result, late, stall.promise]).finally(() => {
        stall.cancel();
        abandon();
      });
    };
    const queryTwice = async () => {
      const first = await supervisor.choose(graphId);
      return queryOnce(first).catch((error: unknown) => {
        if (!(error instanceof GraphsUnavailable)) throw error;
        if (error instanceof Late || error instanceof GraphLoading) throw error;
        // Without a begun run, the query itself may have blocked or killed the worker, so its retry runs alone.
        return first.begunRuns === 0
          ? supervisor.alone(graphId, (worker) => worker.query(asked).result)
          : supervisor.choose(graphId).then(queryOnce);
      });
    };
    return Promise.race([queryTwice(), late]).finally(cancelLate);
  }

  /** The promise rejects with `GraphsUnavailable` once the worker's event loop is blocked. */
  function watchStall(worker: GraphWorker): { promise: Promise<never>; cancel(): void } {
    let cancel: () => void = () => undefined;
    const promise = new Promise<never>((_, reject) => {
      const poll = (): void => {
        if (isDoubtful(worker)) reject(new GraphsUnavailable('The graph worker does not answer'));
        else cancel = clock.after(POLL_INTERVAL_MS, poll);
      };
      cancel = clock.after(POLL_INTERVAL_MS, poll);
    });
    return { promise, cancel: () => cancel() };
  }

  return {
    problems: supervisor.problems,
    graphIds: graphs
      .map(({ id }) => id)
      .filter((id) =>
        supervisor.problems.every(({ graphId, isRetried }) => graphId !== id || isRetried === true),
      ),
    run,
    async state(order, reader) {
      const { result, blobs } = await query({ m: 'state', order, reader });
      return unpackState(result, blobs);
    },
    async history(order, reader) {
      const { result, blobs } = await query({ m: 'history', order, reader });
      return result === 'too-large' ? result : result.map((each: object) => unpackState(each, blobs));
    },
    async update(order, reader) {
      const { result, blobs } = await query({ m: 'update', order, reader });
      return unpackUpdated(result, blobs);
    },
    describer: {
      drawing: async (order, xray) => (await query({ m: 'drawing', order, more: { xray } })).result,
      schemas: async (order) => (await query({ m: 'schemas', order })).result,
      subgraphs: async (order) => (await query({ m: 'subgraphs', order })).result,
    },
    workers: () => [...alive].map((worker) => worker.report()),
    base: supervisor.base,
    close: supervisor.close,
  };
}

/** Loads the thread's head checkpoint, which most runs need first. After a read error the run reads it again itself. */
async function headOf({ config }: RunOrder, link: RunLink): Promise<KnownHead | undefined> {
  if (typeof config.configurable['checkpoint_id'] === 'string') return undefined;
  return link.checkpoints.load('').then(
    (checkpoint) => ({ checkpoint }),
    () => undefined,
  );
}

/** Ends a run that got no worker: as an uncharged lost attempt, or with an error when its graph does not load. */
function toLost(error: unknown): RunEnd | LostAttempt {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof GraphFailed) return { kind: 'error', error: 'GraphNotLoaded', message };
  return { kind: 'lost', charged: false, error: 'GraphsUnavailable', message };
}

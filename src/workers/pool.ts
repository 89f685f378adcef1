/**
 * Graph code in processes of its own, behind the graph port.
 *
 * X4 No graph code runs in the server's process. X6 A run that may have ended its worker is tried again in a worker of its
 * own: there the cause is certain, and its neighbours are safe.
 */
import type { GraphProblem, GraphSpec } from '../graphs/loader.ts';
import {
  GraphFailed,
  GraphsUnavailable,
  type CheckpointReader,
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
import { workerEnvironment } from './environment.ts';
import { isDoubtful } from './health.ts';
import { readOutput } from './output.ts';
import { unpackState, unpackUpdated } from './packing.ts';
import { spawnWorker } from './spawn.ts';
import { openSupervisor } from './supervisor.ts';
import type { KnownHead } from './run-job.ts';
import { openWorker, type GraphWorker } from './worker.ts';

export interface GraphPoolOptions {
  readonly graphs: readonly GraphSpec[];
  /** How many workers at most, at least 1. */
  readonly workers: number;
  /** Memory of one worker, in MiB. */
  readonly memoryMb: number;
  /** Time for one graph to load. */
  readonly loadLimitMs: number;
  /** Prefix of variables that hold secrets of webhooks. */
  readonly secretPrefix: string;
  /** Names this server's workers in their requests. */
  readonly token: string;
  readonly readSource: (file: string, exportName: string) => Promise<SourceReport | undefined>;
  /** Gets each file of the project that a worker loads. */
  readonly onFile?: (path: string) => void;
  readonly onFault: (error: unknown, context: string) => void;
  /** Clock for question time-outs; the system clock by default. */
  readonly patience?: Pick<Clock, 'after'>;
}

export interface GraphPool extends GraphHost, StateHost {
  readonly problems: readonly GraphProblem[];
  readonly describer: GraphDescriber;
  /** Tells clients inside graphs where the server is. */
  base(url: string): void;
}

/** Time for an answer to a question. */
const ASK_MS = 30_000;
/** Poll interval for an event loop that stands still. */
const LOOK_MS = 250;
/** Begun runs of one worker before another one is started. */
const CONCURRENCY = 32;
const MAX_SUSPECTS = 1_000;

/** The time for an answer is over: another worker would take as long. */
class Late extends GraphsUnavailable {}

/** Resolves when the graphs have loaded or failed. */
export async function openGraphPool(options: GraphPoolOptions): Promise<GraphPool> {
  const { graphs, memoryMb, onFault, onFile = () => undefined } = options;
  // Real time, whatever the server's clock says: processes live in it.
  const clock = systemClock();
  const { patience = clock } = options;
  const suspects = new Set<string>();
  /** Sources that are being read, which takes its time on a busy machine: questions wait for it. */
  let reading = 0;
  const readSource: GraphPoolOptions['readSource'] = (file, exportName) => {
    reading += 1;
    return options.readSource(file, exportName).finally(() => (reading -= 1));
  };

  function spawn(): GraphWorker {
    const child = spawnWorker(workerEnvironment(process.env, options.secretPrefix), memoryMb, clock);
    readOutput(child.stdout, clock, (text) => process.stdout.write(text));
    const errors = readOutput(child.stderr, clock, (text) => process.stderr.write(text));
    return openWorker({
      ...{ process: child, clock, memoryMb, readSource, onFile },
      welcome: { graphs, base: '', token: options.token },
      loadLimitMs: options.loadLimitMs,
      onStray: onFault,
      onSuspect: (runId) => suspects.size < MAX_SUSPECTS && suspects.add(runId),
      lastWords: errors.tail,
    });
  }

  const supervisor = await openSupervisor({
    ...{ graphs, memoryMb, clock, spawn, onFault },
    size: options.workers,
    concurrency: CONCURRENCY,
  });

  async function run(order: RunOrder, link: RunLink, signal: AbortSignal): Promise<RunEnd | LostAttempt> {
    const { runId, threadId, graphId } = order;
    const known = headOf(order, link);
    const execute = async (worker: GraphWorker) => {
      const head = await known;
      return signal.aborted ? ({ kind: 'stopped' } as const) : worker.run(order, link, signal, head);
    };
    for (;;) {
      const isAlone = order.alone === true || suspects.has(runId);
      const how = await (
        isAlone ? supervisor.alone(graphId, execute) : supervisor.choose(graphId, threadId).then(execute)
      ).catch(toLost);
      // A run that was given back has not begun.
      if (how === undefined) continue;
      if (how.kind !== 'lost') suspects.delete(runId);
      return how;
    }
  }

  /** Questions change nothing, so one whose worker ends or stands still is asked once more, of another worker. */
  async function ask(m: string, order: { readonly graphId: string }, more = {}, reader?: CheckpointReader) {
    let cancel: () => void = () => undefined;
    const cancelLate = (): void => cancel();
    const late = new Promise<never>((_, reject) => {
      const expire = (): void => {
        if (reading > 0) cancel = patience.after(ASK_MS, expire);
        else reject(new Late(`The graph did not answer within ${ASK_MS / 1_000} s`));
      };
      cancel = patience.after(ASK_MS, expire);
    });
    const askOnce = (worker: GraphWorker) => {
      const { answer, leave } = worker.ask(m, order, more, reader);
      const still = watchStill(worker);
      return Promise.race([answer, late, still.promise]).finally(() => {
        still.cancel();
        leave();
      });
    };
    const askTwice = async () => {
      const first = await supervisor.choose(order.graphId);
      return askOnce(first).catch((error: unknown) => {
        if (!(error instanceof GraphsUnavailable) || error instanceof Late) throw error;
        // Without a run beside it, the question itself may have held or ended the worker: it must not do so twice.
        return first.begunRuns === 0
          ? supervisor.alone(order.graphId, (worker) => worker.ask(m, order, more, reader).answer)
          : supervisor.choose(order.graphId).then(askOnce);
      });
    };
    return Promise.race([askTwice(), late]).finally(cancelLate);
  }

  /** Rejects once the event loop of the worker stands still. */
  function watchStill(worker: GraphWorker): { promise: Promise<never>; cancel(): void } {
    let cancel: () => void = () => undefined;
    const promise = new Promise<never>((_, reject) => {
      const look = (): void => {
        if (isDoubtful(worker)) reject(new GraphsUnavailable('The graph worker does not answer'));
        else cancel = clock.after(LOOK_MS, look);
      };
      cancel = clock.after(LOOK_MS, look);
    });
    return { promise, cancel: () => cancel() };
  }

  return {
    problems: supervisor.problems,
    graphIds: graphs
      .map(({ id }) => id)
      .filter((id) => supervisor.problems.every(({ graphId }) => graphId !== id)),
    run,
    async state(order, reader) {
      const { answered, blobs } = await ask('state', order, {}, reader);
      return unpackState(answered, blobs);
    },
    async history(order, reader) {
      const { answered, blobs } = await ask('history', order, {}, reader);
      return answered === 'too-large' ? answered : answered.map((each: object) => unpackState(each, blobs));
    },
    async update(order, reader) {
      const { answered, blobs } = await ask('update', order, {}, reader);
      return unpackUpdated(answered, blobs);
    },
    describer: {
      drawing: async (order, xray) => (await ask('drawing', order, { xray })).answered,
      schemas: async (order) => (await ask('schemas', order)).answered,
      subgraphs: async (order) => (await ask('subgraphs', order)).answered,
    },
    base: supervisor.base,
    close: supervisor.close,
  };
}

/** The checkpoint that nearly every run asks for first; one that cannot be read is asked for again by the run. */
async function headOf({ config }: RunOrder, link: RunLink): Promise<KnownHead | undefined> {
  if (typeof config.configurable['checkpoint_id'] === 'string') return undefined;
  return link.checkpoints.load('').then(
    (checkpoint) => ({ checkpoint }),
    () => undefined,
  );
}

/** The end of a run for which no worker was to be had: a reason to try again, unless its graph does not load. */
function toLost(error: unknown): RunEnd | LostAttempt {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof GraphFailed) return { kind: 'error', error: 'GraphNotLoaded', message };
  return { kind: 'lost', charged: false, error: 'GraphsUnavailable', message };
}

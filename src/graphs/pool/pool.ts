/**
 * Graph code in worker threads. A thread of the interface goes to the same worker while that lives, a new one to the
 * one that does least.
 *
 * X4 No graph code runs in the server's own thread. When a worker ends by itself and nobody knows for which of its
 * runs, each of them is tried again in a worker of its own: there the guilty one is alone, and the others are safe. So
 * is one that kept its worker to itself while another run of it had to stop.
 */
import { systemClock, type Clock } from '../../kernel/clock.ts';
import { JsonText } from '../../kernel/json-text.ts';
import type { GraphSpec } from '../loader.ts';
import {
  GraphsUnavailable,
  type CheckpointReader,
  type GraphHost,
  type GraphState,
  type LostAttempt,
  type RunEnd,
  type RunLink,
  type RunOrder,
} from '../port.ts';
import type { GraphDescriber } from '../schema-port.ts';
import type { SourceReport } from '../schemas/source-report.ts';
import type { StateHost } from '../state-port.ts';
import { openCrew } from './crew.ts';
import { startGraphWorker, type GraphWorker } from './graph-worker.ts';
import { createLoadLimit } from './load-limit.ts';
import { createLoadPlan } from './load-plan.ts';
import type { Lost } from './job.ts';
import type { KnownHead, Loaded, Question } from './sides.ts';
import { withValues } from './state-values.ts';

export interface GraphPoolOptions {
  readonly graphs: readonly GraphSpec[];
  /** How many workers, at least 1. */
  readonly workers: number;
  /** How much memory the graphs of one worker may use, in MiB. */
  readonly heapMb: number;
  /** The server itself, for clients inside graphs. */
  readonly fetch: typeof fetch;
  readonly readSource: (file: string, exportName: string) => Promise<SourceReport | undefined>;
  /** Gets each file of the project that a worker loads. */
  readonly onFile?: (path: string) => void;
  readonly onFault: (error: unknown, context: string) => void;
  /** Threads that are not gone when the graphs are closed, because native code holds them; resolves when they are. */
  readonly onHeld: (gone: Promise<unknown>) => void;
  /** By which questions are waited for; real time if it is left out. */
  readonly patience?: Pick<Clock, 'after'>;
  /** For how long a later worker may load, from what the first one took, in milliseconds. */
  readonly laterLimit?: (firstMs: number) => number;
}

export interface GraphPool extends GraphHost, StateHost {
  readonly loaded: Loaded;
  readonly describer: GraphDescriber;
  /** Tells clients inside graphs where the server is. */
  base(url: string): void;
}

/** How long a question may take. */
const ASK_MS = 30_000;
/** Between two looks whether who was asked stands still. */
const LOOK_MS = 250;
/** Who was asked stands still, or is lost. */
const AGAIN = Symbol('again');
/** Far more runs than a few workers have at once. */
const MOST_SUSPECTS = 1_000;

/** The worker is there and has not answered: another one would take as long. */
class LateAnswer extends GraphsUnavailable {}

/** What nearly every run asks for first goes along with its order; one that cannot be read is asked for again. */
async function headOf(order: RunOrder, link: RunLink): Promise<KnownHead | undefined> {
  if (typeof order.config.configurable['checkpoint_id'] === 'string') return undefined;
  return link.checkpoints.load('').then(
    (head) => ({ head }),
    () => undefined,
  );
}

const toShown = (state: GraphState<string>): GraphState => withValues(state, (text) => new JsonText(text));

/** No worker was to be had: a reason to try again. */
function toLost(error: unknown): LostAttempt {
  const message = error instanceof Error ? error.message : String(error);
  return { kind: 'lost', charged: false, error: 'GraphsUnavailable', message };
}

/** Resolves when the first worker has loaded the graphs; rejects when it cannot. */
export async function openGraphPool(options: GraphPoolOptions): Promise<GraphPool> {
  const { workers, heapMb, onFault, onHeld } = options;
  // Real time, whatever the server's clock says: threads live in it.
  const clock = systemClock();
  const { patience = clock } = options;
  let base = '';
  const limit = createLoadLimit(clock, options.laterLimit);
  const plan = createLoadPlan(options.graphs);
  /** Sources that are being read, for questions that wait for it: on a busy machine it takes its time. */
  let reading = 0;
  const readSource: GraphPoolOptions['readSource'] = (file, exportName) => {
    reading += 1;
    return options.readSource(file, exportName).finally(() => (reading -= 1));
  };
  const spawn = (isTrial = false): GraphWorker => {
    const graphs = plan.next(isTrial);
    const worker = startGraphWorker({
      ...{ graphs, base, clock, loadMs: limit.ms, moduleMs: limit.moduleMs },
      heapMb,
      fetch: options.fetch,
      readSource,
      ...(options.onFile && { onFile: options.onFile }),
      onStray: onFault,
    });
    limit.watch(worker.loaded);
    plan.watch(graphs, worker);
    return worker;
  };
  const crew = await openCrew({ size: workers, clock, spawn, onFault, onHeld });
  const suspects = new Set<string>();

  /**
   * `answer` rejects with `LateAnswer`, or, when the worker is lost, with another `GraphsUnavailable`. Who does not wait
   * for it any more says so: a worker that stands still is ended when somebody has waited in vain, and not for its work;
   * unless it is the question itself that it stands still over, which nobody waits for then (leftovers.ts).
   */
  function askOf<T>(
    worker: GraphWorker,
    question: Question<T>,
    checkpoints?: CheckpointReader,
  ): { readonly answer: Promise<T>; readonly leave: () => void } {
    let cancel: () => void = () => undefined;
    const asked = worker.ask(question, checkpoints);
    const late = new Promise<never>((_, reject) => {
      const expire = (): void => {
        if (reading > 0) {
          cancel = patience.after(ASK_MS, expire);
          return;
        }
        const message = `The graph did not answer within ${ASK_MS / 1000} s`;
        reject(new LateAnswer(message));
        asked.leave();
        if (worker.isSilent()) worker.end({ by: 'stop', error: 'WorkerUnresponsive', message });
      };
      cancel = patience.after(ASK_MS, expire);
    });
    const answer = Promise.race([asked.answer, late]).finally(cancel);
    const leave = (): void => {
      cancel();
      asked.leave();
    };
    return { answer, leave };
  }

  /** The answer, or that another worker is to be asked. */
  async function askFirst<T>(
    graphId: string,
    question: Question<T>,
    checkpoints?: CheckpointReader,
  ): Promise<T | typeof AGAIN> {
    const worker = await crew.choose(graphId);
    let cancel: () => void = () => undefined;
    const still = new Promise<typeof AGAIN>((resolve) => {
      const look = (): void => {
        if (worker.standsStill()) resolve(AGAIN);
        else cancel = patience.after(LOOK_MS, look);
      };
      cancel = patience.after(LOOK_MS, look);
    });
    const { answer, leave } = askOf(worker, question, checkpoints);
    const answerOrLost = answer.catch((error: unknown): typeof AGAIN => {
      if (!(error instanceof GraphsUnavailable) || error instanceof LateAnswer) throw error;
      return AGAIN;
    });
    return Promise.race([answerOrLost, still]).finally(() => {
      cancel();
      leave();
    });
  }

  /**
   * Questions change nothing, so one is asked once more, of a worker of its own: when the first was lost over it, or
   * stands still, which it may for as long as it likes. For perhaps the question is hard, and would hold up another
   * worker with all its runs.
   */
  async function ask<T>(graphId: string, question: Question<T>, checkpoints?: CheckpointReader): Promise<T> {
    const answer = await askFirst(graphId, question, checkpoints);
    if (answer !== AGAIN) return answer;
    return crew.apart(graphId, (worker) => askOf(worker, question, checkpoints).answer);
  }

  return {
    loaded: crew.loaded,
    graphIds: crew.loaded.graphIds,
    async run(order, link, signal) {
      const { runId, threadId, graphId, alone } = order;
      const known = headOf(order, link);
      const execute = async (worker: GraphWorker) => {
        const head = await known;
        return signal.aborted ? ({ kind: 'stopped' } as const) : worker.run(order, link, signal, head);
      };
      const tryOnce = () =>
        alone || suspects.has(runId) || crew.isStuck()
          ? crew.apart(graphId, execute)
          : crew.choose(graphId, threadId).then(execute);
      let how: RunEnd | Lost | undefined;
      // One that was given back has not been begun.
      while (how === undefined) how = await tryOnce().catch(toLost);
      suspects.delete(runId);
      if (how.kind === 'lost' && how.suspect && suspects.size < MOST_SUSPECTS) suspects.add(runId);
      return how;
    },
    state: async (order, checkpoints) =>
      toShown(await ask(order.graphId, (side, job) => side.state(job, order), checkpoints)),
    async history(order, checkpoints) {
      const states = await ask(order.graphId, (side, job) => side.history(job, order), checkpoints);
      return states === 'too-large' ? states : states.map(toShown);
    },
    update: (order, checkpoints) => ask(order.graphId, (side, job) => side.update(job, order), checkpoints),
    describer: {
      drawing: (order, xray) => ask(order.graphId, (side, job) => side.drawing(job, order, xray)),
      schemas: (order) => ask(order.graphId, (side, job) => side.schemas(job, order)),
      subgraphs: (order) => ask(order.graphId, (side, job) => side.subgraphs(job, order)),
    },
    base(url) {
      base = url;
      crew.each((worker) => worker.base(url));
    },
    close: crew.close,
  };
}

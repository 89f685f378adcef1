/**
 * One graph worker as the server sees it, from its start to its end: what it is doing, whether its event loop turns,
 * and what becomes of its runs when it ends.
 *
 * X4 A worker whose loop stands still is ended only when a run on it has to stop and does not: slow code is no crime.
 * X3 Every run that was given to a worker ends, at the latest with the worker, and nothing of it arrives afterwards.
 */
import { MessageChannel } from 'node:worker_threads';
import type { Clock } from '../../kernel/clock.ts';
import { startWorker } from '../../kernel/worker.ts';
import { toErrorEnd } from '../failure.ts';
import type { GraphSpec } from '../loader.ts';
import {
  GraphsUnavailable,
  type CheckpointReader,
  type RunEnd,
  type RunLink,
  type RunOrder,
  type StopReason,
} from '../port.ts';
import type { SourceReport } from '../schemas/source-report.ts';
import { Unloadable } from '../unloadable.ts';
import { endThread } from './end-thread.ts';
import { lostBefore, lostBy, type Job, type Lost } from './job.ts';
import { openOffers } from './offers.ts';
import { openPulse } from './pulse.ts';
import { openRpc, type Methods } from './rpc.ts';
import { createServerSide } from './server-side.ts';
import { LEAVE, toRemote, WORKER_NOTES, type KnownHead } from './sides.ts';
import type { Loaded, Question, WorkerSide } from './sides.ts';
import { died, diedOf, type WorkerEnd } from './worker-end.ts';

export interface GraphWorkerOptions {
  readonly graphs: readonly GraphSpec[];
  readonly base: string;
  /** The limit of V8's heap, in MiB. */
  readonly heapMb: number;
  /** How long it may take to load the graphs, and a module, in milliseconds. */
  readonly loadMs: number;
  readonly moduleMs: number | undefined;
  /** Real time, whatever the server's clock says: threads live in it. */
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  readonly readSource: (file: string, exportName: string) => Promise<SourceReport | undefined>;
  /** Gets each file of the project that the worker loads. */
  readonly onFile?: (path: string) => void;
  readonly onStray: (error: Error, context: string) => void;
}

export interface GraphWorker {
  /** Rejects when the worker ends before it has loaded the graphs. */
  readonly loaded: Promise<Loaded>;
  readonly ended: Promise<WorkerEnd>;
  /** The thread is gone; may come long after `ended` when native code holds it. */
  readonly exited: Promise<void>;
  readonly threadId: number;
  /** Runs and questions under way. */
  readonly load: number;
  /** Whether somebody waits for this run or question. */
  has(job: number): boolean;
  /** Resolves with undefined when the run was given back. */
  run(
    order: RunOrder,
    link: RunLink,
    signal: AbortSignal,
    known?: KnownHead,
  ): Promise<RunEnd | Lost | undefined>;
  /** What it has not begun is given back, for another worker: its event loop does not turn. */
  giveBack(): void;
  /**
   * `answer` rejects with what graph code throws, or `GraphsUnavailable` when the worker ends. Who does not wait for it
   * any more says so by `leave`.
   */
  ask<T>(question: Question<T>, checkpoints?: CheckpointReader): { answer: Promise<T>; leave(): void };
  base(url: string): void;
  /** Asked all the time: reads the worker's pulse. */
  look(): void;
  /** It cannot load any more what some questions need, and should be replaced when it has nothing to do. */
  isSpoiled(): boolean;
  /** Its event loop has not turned for a while. */
  isSilent(): boolean;
  /** For how long it has not, in milliseconds. */
  silence(): number;
  /** For how long it has not beyond what it was given to read, in milliseconds. */
  stillness(): number;
  /** It is silent, and not because of what it was given to read. */
  standsStill(): boolean;
  /** For how long graph code has gone on after the end of its run, in milliseconds; 0 when none does. */
  leftoverFor(): number;
  /** For how long the longest waiting stop has been waiting, in milliseconds; 0 when none waits. */
  stopWaits(): number;
  /** For how long its event loop has worked since it started, in milliseconds. */
  busy(): number;
  end(end: WorkerEnd): void;
}

/** What a worker takes at most to make a state of a checkpoint's text, on a slow machine. */
const MS_PER_CHARACTER = 150 / 1e6;

export function startGraphWorker(options: GraphWorkerOptions): GraphWorker {
  const { clock, graphs, base, heapMb, loadMs, onStray } = options;
  const jobs = new Map<number, Job>();
  const pulse = openPulse(clock);
  const offers = openOffers(pulse.shared);
  const { port1: port, port2 } = new MessageChannel();
  const setup = { graphs, moduleMs: options.moduleMs, base, pulse: pulse.shared };
  const worker = startWorker(
    'graphs/pool/worker-entry',
    { setup, port: port2 },
    {
      transfer: [port2],
      heapMb,
    },
  );
  const { threadId } = worker;
  let [last, runs] = [0, 0];
  let spoiled = false;
  let over: WorkerEnd | undefined;
  let fault: WorkerEnd | undefined;

  let onLoaded: (loaded: Loaded) => void = () => undefined;
  let onFailed: (error: Error) => void = () => undefined;
  let onEnded: (end: WorkerEnd) => void = () => undefined;
  const loaded = new Promise<Loaded>((resolve, reject) => ([onLoaded, onFailed] = [resolve, reject]));
  loaded.catch(() => undefined);
  const ended = new Promise<WorkerEnd>((resolve) => (onEnded = resolve));
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  void ended.then(({ by }) => {
    // A worker that is out of memory has no time left, and one that stands still hears nothing.
    const ask = by === 'itself' || pulse.isSilent() ? undefined : () => port.postMessage(LEAVE);
    return endThread({ worker, port, exited, clock, ask });
  });

  const { server, leftoverFor, ...replies } = createServerSide({
    ...{ jobs, clock, fetch: options.fetch, readSource: options.readSource, onStray },
    onGiven: (characters) => pulse.give(characters * MS_PER_CHARACTER),
    onFile: options.onFile ?? (() => undefined),
    onReady(found) {
      pulse.begin();
      cancelLimit();
      onLoaded(found);
    },
  });
  const rpc = openRpc((batch) => port.postMessage(batch), { ...server } as Methods);
  const side = toRemote<WorkerSide>(rpc, WORKER_NOTES);

  port.on('message', (batch: unknown) => {
    if (over === undefined) rpc.receive(batch);
  });
  worker.on('error', (thrown: unknown) => (fault ??= diedOf(thrown, heapMb)));
  worker.on('exit', (code) =>
    end(fault ?? died('WorkerExit', `The worker of the graph ended itself with code ${code}`)),
  );
  const cancelLimit = clock.after(loadMs, () =>
    end(died('WorkerFault', `loading took longer than ${Math.round(loadMs / 1000)} s`)),
  );

  /** What the worker has not begun, and never will. */
  function takeBack(): Job[] {
    const unbegun = [...jobs].filter(([id, job]) => job.giveBack !== undefined && offers.takeBack(id));
    for (const [id] of unbegun) jobs.delete(id);
    runs -= unbegun.length;
    return unbegun.map(([, job]) => job);
  }

  function end(how: WorkerEnd): void {
    if (over !== undefined) return;
    over = how;
    cancelLimit();
    const unbegun = takeBack();
    const left = [...jobs];
    jobs.clear();
    for (const [id, job] of left) job.lose(lostBy(how, id, job, runs === 1));
    rpc.close(new GraphsUnavailable(how.message));
    replies.close();
    onFailed(new GraphsUnavailable(how.message));
    // The end of the thread is not waited for: native code may hold it for as long as it likes.
    onEnded(how);
    // Only now: whoever gives them to another worker knows by then that it cannot be this one.
    for (const job of unbegun) job.giveBack?.();
  }

  return {
    loaded,
    ended,
    exited,
    threadId,
    get load() {
      return jobs.size;
    },
    has: (job) => jobs.has(job),
    run(order, link, signal, known) {
      return new Promise((resolve) => {
        const id = ++last;
        const isOffered = offers.offer(id);
        const giveBack = (): void => settle(undefined);
        const job: Job = {
          link,
          checkpoints: link.checkpoints,
          lose: (lost) => settle(lost),
          ...(isOffered && { giveBack }),
        };
        const onAbort = (): void => {
          job.stopAt = clock.monotonic();
          side.abort(id, signal.reason as StopReason);
        };
        const settle = (how: RunEnd | Lost | undefined): void => {
          jobs.delete(id);
          signal.removeEventListener('abort', onAbort);
          resolve(how);
        };
        if (over !== undefined) return job.lose(lostBefore(over));
        runs += 1;
        jobs.set(id, job);
        signal.addEventListener('abort', onAbort, { once: true });
        side.run(id, order, isOffered, known).then(settle, (error: unknown) => {
          // The worker's end is told otherwise, and perhaps later.
          if (jobs.has(id)) settle(toErrorEnd(error));
        });
        if (signal.aborted) onAbort();
      });
    },
    ask<T>(question: Question<T>, checkpoints?: CheckpointReader) {
      const id = ++last;
      const leave = (): void => void jobs.delete(id);
      const answer = new Promise<T>((resolve, reject) => {
        const job: Job = {
          ...(checkpoints && { checkpoints }),
          lose: ({ message }) => reject(new GraphsUnavailable(message)),
        };
        if (over !== undefined) return job.lose(lostBefore(over));
        jobs.set(id, job);
        question(side, id)
          .then(resolve, (error: unknown) => {
            const lacks = error instanceof Error && error.name === Unloadable.name;
            spoiled ||= lacks;
            reject(lacks ? new GraphsUnavailable(error.message) : error);
          })
          .finally(leave);
      });
      return { answer, leave };
    },
    giveBack() {
      for (const job of takeBack()) job.giveBack?.();
    },
    base: (url) => side.base(url),
    look: pulse.look,
    isSpoiled: () => spoiled,
    isSilent: pulse.isSilent,
    silence: pulse.silence,
    stillness: pulse.stillness,
    standsStill: pulse.standsStill,
    leftoverFor,
    stopWaits() {
      const since = Math.min(...[...jobs.values()].map(({ stopAt }) => stopAt ?? Infinity));
      return since === Infinity ? 0 : clock.monotonic() - since;
    },
    busy: () => worker.performance.eventLoopUtilization().active,
    end,
  };
}

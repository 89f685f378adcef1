/**
 * The server's handle of one graph worker. X2 Messages of a run are ignored after the server has closed its stream.
 * X3 Each run of a worker ends with the worker at the latest; a run that has not begun is given back to the pool.
 */
import type { OnFile } from '../graphs/modules/loaded-files.ts';
import type { Clock } from '../kernel/clock.ts';
import {
  GraphsUnavailable,
  type LostAttempt,
  type RunEnd,
  type RunLink,
  type RunOrder,
} from '../graphs/port.ts';
import type { SourceReport } from '../graphs/schemas/source-report.ts';
import { createHeartbeatReader, type Heartbeat } from './heartbeat.ts';
import { endOfExit, fatesOf, type WorkerEnd } from './fault-attribution.ts';
import { answerCall } from './calls.ts';
import { openConnection } from './connection.ts';
import type { Message } from './frame.ts';
import { openLoading, type Loading } from './loading.ts';
import { PROTOCOL, TYPE, type Welcome } from './messages.ts';
import { openQueryJob, type Query, type QueryOrder } from './query-job.ts';
import { openRunJob, type Job, type KnownHead } from './run-job.ts';
import type { WorkerProcess } from './spawn.ts';
import type { WorkerReport } from './worker-report.ts';
import { fromWireError } from './wire-error.ts';

export interface WorkerOptions {
  readonly process: WorkerProcess;
  readonly welcome: Welcome;
  readonly memoryMb: number;
  readonly clock: Clock;
  readonly readSource: (file: string, exportName: string) => Promise<SourceReport | undefined>;
  /** Called with each project file that the worker loads, and with each one that imports it. */
  readonly onFile: OnFile;
  readonly onUncaught: (error: Error, context: string) => void;
  /** Called with each run that may have killed the worker; such a run is retried alone in a worker. */
  readonly onSuspect: (runId: string) => void;
  /** Returns the end of the worker's standard error output. */
  readonly lastWords: () => string;
}

export interface GraphWorker {
  readonly loading: Loading;
  /** False when the process could not be started. */
  readonly hasProcess: boolean;
  readonly ended: Promise<WorkerEnd>;
  /** Resolves when the process has exited. */
  readonly exited: Promise<unknown>;
  /** Number of pending runs and queries. */
  readonly load: number;
  readonly begunRuns: number;
  report(): WorkerReport;
  /** True when a query is pending or a pending run has begun. */
  readonly hasBegun: boolean;
  /** The latest heartbeat; undefined before the first one. */
  heartbeat(): Heartbeat | undefined;
  /**
   * Own time of the worker since its `hello`, in milliseconds. It advances with `tick` alone, so that it stands still while
   * the server does.
   */
  ownMs(): number;
  /** Time since the latest heartbeat, in milliseconds; 0 before `hello`. It advances with `tick` alone. */
  silentMs(): number;
  /** Own time for which the channel was broken, or a run unanswered, while the event loop turned, in milliseconds. */
  deafMs(): number;
  /** Advances the times above. Called by the supervisor at each look. */
  tick(): void;
  /** Age of the oldest cancellation that its run has not followed, in milliseconds; 0 without one. */
  stopWaitMs(): number;
  /** Time for which code of ended runs has been known to go on, in milliseconds; 0 without such code. */
  overrunMs(): number;
  /** True when code of an ended run may go on. */
  mayOverrun(): boolean;
  /** True after a file could not be opened for a query: Node caches that failure until the process ends. */
  isSpoiled(): boolean;
  /** Resolves with undefined when the run was given back before it began. */
  run(
    order: RunOrder,
    link: RunLink,
    signal: AbortSignal,
    head?: KnownHead,
  ): Promise<RunEnd | LostAttempt | undefined>;
  query(order: QueryOrder): Query;
  /** Resolves runs that have not begun with undefined, so that other workers execute them. */
  giveBack(): void;
  base(url: string): void;
  end(how: WorkerEnd): void;
}

/** The longest step of a worker's times: the server may not have been scheduled since the last one. */
const MAX_STEP_MS = 500;

export function openWorker(options: WorkerOptions): GraphWorker {
  const { process, clock, welcome, onSuspect } = options;
  const jobs = new Map<number, Job>();
  let last = 0;
  let over: WorkerEnd | undefined;
  let onEnded: (end: WorkerEnd) => void = () => undefined;
  const ended = new Promise<WorkerEnd>((resolve) => (onEnded = resolve));
  let heartbeat: Heartbeat | undefined;
  let hasGreeted = false;
  let ownMs = 0;
  let silentMs = 0;
  let deafMs = 0;
  /** A run was sent without `go`, and no `begin` has come since. */
  let owesBegin = false;
  let isSpoiled = false;
  /** A run was cancelled. LangGraph may then end the run while its node goes on. */
  let hasStopped = false;
  const mayOverrun = (): boolean => hasStopped || overruns.count > 0;
  let overruns = { count: 0, since: Infinity };

  const connection = openConnection(process.channel, receive, (error) => {
    if (error !== undefined) end({ by: 'crash', error: 'WorkerProtocol', message: error.message });
  });
  const { send } = connection;
  send(TYPE.welcome, 0, welcome);
  const loading = openLoading({
    ownMs: () => ownMs,
    request: (graphs) => send(TYPE.load, 0, { graphs }),
  });
  /** Own time in heartbeats since the last `tick`. */
  let ownStep = 0;
  let tickedAt = clock.monotonic();
  process.lifeline.on(
    'data',
    createHeartbeatReader((each) => {
      ownStep += each.ownMs - (heartbeat?.ownMs ?? 0);
      heartbeat = each;
      silentMs = 0;
    }),
  );
  process.lifeline.on('error', () => undefined);
  void process.exited.then((exit) => end(endOfExit(exit, options.lastWords(), options.memoryMb)));

  function begunRuns(): Job[] {
    return [...jobs.values()].filter(({ begun, runId }) => begun && runId !== undefined);
  }

  function end(how: WorkerEnd): void {
    if (over !== undefined) return;
    over = how;
    const begun = begunRuns();
    const fates = fatesOf(
      how,
      begun.map(({ saved, stopAt }) => ({ saved, stopping: stopAt !== undefined })),
    );
    const open = [...jobs.values()];
    jobs.clear();
    loading.end(how.message);
    connection.close(new GraphsUnavailable(how.message));
    if (how.by === 'ended') void process.leave();
    else process.kill();
    onEnded(how);
    begun.forEach((job, index) => {
      const { end: lost, isSuspect } = fates[index]!;
      if (isSuspect) onSuspect(job.runId!);
      job.lose(lost, how.message);
    });
    for (const job of open) if (!begun.includes(job)) job.lose(undefined, how.message);
  }

  function receive(message: Message): void {
    const { stream, type, head } = message;
    if (type === TYPE.begin) owesBegin = false;
    switch (type) {
      case TYPE.hello:
        return greet(head.protocol?.major);
      case TYPE.loaded:
        return loading.loaded(head);
      case TYPE.file:
        return options.onFile(head.path, head.importer);
      case TYPE.overrun:
        return countOverrun(head.change);
      case TYPE.uncaught:
        return options.onUncaught(fromWireError(head.error), head.context);
      case TYPE.call:
        return connection.reply(message, () => answer(message));
      default:
        // X2 The stream of an ended run or query is no longer in `jobs`, so its messages are dropped.
        jobs.get(stream)?.receive(message);
    }
  }

  function greet(major: unknown): void {
    hasGreeted = true;
    if (major === PROTOCOL.major) return;
    const message = `The graph worker speaks protocol ${major}; this server speaks ${PROTOCOL.major}`;
    end({ by: 'crash', error: 'WorkerProtocol', message });
  }

  async function answer(message: Message) {
    const { stream, head } = message;
    if (head.m === 'source')
      return { head: { report: await options.readSource(head.file, head.exportName) } };
    const job = jobs.get(stream);
    const reply = await answerCall(job, message);
    if (head.m === 'cp.put' && job !== undefined) job.saved = true;
    return reply;
  }

  function countOverrun(change: number): void {
    const count = overruns.count + change;
    const since = count === 0 ? Infinity : Math.min(overruns.since, ownMs);
    overruns = { count, since };
  }

  function run(order: RunOrder, link: RunLink, signal: AbortSignal, known?: KnownHead) {
    if (over !== undefined) return Promise.resolve(undefined);
    // A first attempt records no start, so an idle worker may start it at once. Otherwise the worker must send `begin`,
    // which proves that no other code blocks its event loop.
    const isIdle = jobs.size === 0 && !mayOverrun() && (heartbeat?.stalledMs ?? 0) === 0 && deafMs === 0;
    const go = order.attempt === 1 && isIdle;
    if (!go) owesBegin = true;
    signal.addEventListener('abort', () => (hasStopped = true), { once: true });
    return openRunJob({ jobs, stream: ++last, send, ownMs: () => ownMs, order, link, signal, known, go });
  }

  function query(order: QueryOrder): Query {
    if (over !== undefined)
      return { result: Promise.reject(new GraphsUnavailable(over.message)), abandon: () => undefined };
    return openQueryJob({ jobs, stream: ++last, send, ...order, onSpoiled: () => (isSpoiled = true) });
  }

  return {
    ...{ loading, ended, exited: process.exited, hasProcess: process.pid !== undefined },
    get load() {
      return jobs.size;
    },
    get begunRuns() {
      return begunRuns().length;
    },
    get hasBegun() {
      return [...jobs.values()].some(({ begun }) => begun);
    },
    report: () => ({
      ...{ pid: process.pid, load: jobs.size, stalledMs: heartbeat?.stalledMs ?? 0 },
      runIds: [...jobs.values()].flatMap(({ runId }) => runId ?? []),
      ...{ memoryBytes: heartbeat?.rss, busyPermille: heartbeat?.busyPermille },
    }),
    heartbeat: () => heartbeat,
    ownMs: () => ownMs,
    silentMs: () => silentMs,
    deafMs: () => deafMs,
    tick() {
      const now = clock.monotonic();
      if (hasGreeted) {
        const step = Math.min(ownStep, MAX_STEP_MS);
        ownMs += step;
        silentMs += Math.min(now - tickedAt, MAX_STEP_MS);
        const isDeaf = connection.isBroken() || owesBegin;
        if (!isDeaf || heartbeat?.stalledMs !== 0) deafMs = 0;
        else deafMs += step;
      }
      ownStep = 0;
      tickedAt = now;
    },
    stopWaitMs() {
      const since = Math.min(...[...jobs.values()].map(({ stopAt }) => stopAt ?? Infinity));
      return since === Infinity ? 0 : ownMs - since;
    },
    mayOverrun,
    isSpoiled: () => isSpoiled,
    overrunMs: () => Math.max(0, ownMs - overruns.since),
    run,
    query,
    giveBack() {
      for (const [stream, job] of jobs) {
        if (job.begun || job.runId === undefined) continue;
        jobs.delete(stream);
        send(TYPE.go, stream, { ok: false });
        job.lose(undefined, '');
      }
    },
    base: (url) => send(TYPE.base, 0, { url }),
    end,
  };
}

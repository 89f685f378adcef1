/**
 * The reactor that executes runs: claims what may start, hands it to the graphs, records how it ended.
 *
 * X1 The claim is a fact that the thread's machine allows once. X3 Every execution ends with one terminal fact, or is
 * handed back. X5 What is pending in the log is found by reading, so a lost wake-up delays a run and never loses it.
 */
import type { InlineStart } from '../actors/inline-start.ts';
import { newLedger, readLedger } from '../actors/last-frames.ts';
import { falseWhenFull } from '../actors/log-failures.ts';
import type { Store } from '../actors/store.ts';
import type { Threads } from '../actors/threads.ts';
import type { GraphHost, StopReason } from '../graphs/port.ts';
import { dueTime, type Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import { within } from '../kernel/within.ts';
import type { Recorded } from '../log/events.ts';
import type { EventLog, Notice } from '../log/log.ts';
import { claimableRuns, getRun, nextDueRun, readRun, type RunRecord } from '../projections/run-queries.ts';
import { parseSecret } from '../thread/secret.ts';
import type { RunRef } from '../thread/events.ts';
import { isSuspect, trialMs } from '../thread/fault.ts';
import { accountOf, activeOf, isLiving, isStepEnd, openRun, type ThreadState } from '../thread/state.ts';
import { createCommitInterval } from './commit-interval.ts';
import { createExecution, outcomeOf, untrackedOf, type Execution } from './execution.ts';
import type { OnFault } from './fault.ts';
import { afterGrace, stopFor, timeLimitOf } from './grace.ts';
import type { Permits } from './permits.ts';
import { openingOf, type Opening } from './opening.ts';
import { orderOf, type Standing } from './run-order.ts';
import { openTrial } from './trial.ts';
import { inputOf } from './unsaved-input.ts';

export interface ExecutorOptions {
  readonly log: EventLog;
  readonly threads: Threads;
  /** What graphs keep beyond their threads. */
  readonly store: Store;
  readonly graphs: GraphHost;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly onFault: OnFault;
  /** Whether somebody waits for what a run tells. */
  readonly isRead: (runId: string) => boolean;
  /** Real time, whatever the server's clock says: writes that wait for others must not stand still with it. */
  readonly lingerClock: Clock;
  readonly permits: Permits;
  readonly runTimeoutMs: number;
  /** Deaths of its process that a run is charged with before it ends with an error (X6). */
  readonly maxCharges: number;
  /** How long a graph may take to honour a stop before its run ends without it. */
  readonly stopGraceMs: number;
}

export interface Executor {
  /** Claims nothing more; resolves when nothing runs any more, after `ms` at the latest. */
  drain(ms: number): Promise<void>;
  /** Claims nothing more, tells running graphs to stop, and hands their runs back within `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** The net under lost wake-ups. */
const POLL_MS = 1_000;

interface Running {
  readonly threadId: string;
  readonly leaseId: string;
  readonly attempt: number;
  readonly stop: AbortController;
  /** Aborts when the server stops: a graph that was told to stop before has no more grace. */
  readonly hurry: AbortController;
  readonly done: Promise<void>;
  /** Nothing of the graph is left to stop; the end of the run is being recorded. */
  isOver: boolean;
}

export function startExecutor(options: ExecutorOptions): Executor {
  const { log, threads, store, graphs, clock, ids, onFault, permits, isRead } = options;
  const { runTimeoutMs, stopGraceMs, maxCharges } = options;
  const running = new Map<string, Running>();
  /** Nothing more is claimed. */
  let draining = false;
  /** And what runs is told to stop. */
  let stopping = false;
  /** What still runs has nobody left to report to: the next start finds it as the log has it. */
  let closed = false;
  let claiming: Promise<void> | undefined;
  let again = false;
  let cancelPoll: () => void = () => undefined;
  /** Runs may wait that could start if there were room, or that nobody has looked for: no new one gets before them. */
  let backlog = true;
  const trial = openTrial(clock, pump);
  /** This life of the server. */
  const incarnation = ids.token();
  const commitInterval = createCommitInterval(options.lingerClock);
  /** Runs that start in a commit which is under way. */
  const promised = new Map<string, Promise<void>>();

  function pump(): void {
    if (draining) return;
    if (claiming !== undefined) {
      again = true;
      return;
    }
    again = false;
    claiming = claim()
      .catch((error: unknown) => onFault(error, 'claiming runs'))
      .finally(() => {
        claiming = undefined;
        if (again) pump();
      });
  }

  async function claim(): Promise<void> {
    cancelPoll();
    cancelPoll = clock.after(POLL_MS, pump);
    const free = permits.free(running.size + promised.size);
    backlog = free <= 0;
    if (free > 0) {
      const found = await claimableRuns(log.rows, dueTime(clock), free, trial.isFree);
      backlog = found.length === free;
      const waiting = found.filter(({ runId }) => !running.has(runId));
      const started = await Promise.all(waiting.map((run) => start(run).catch(falseWhenFull)));
      // Only after one of them started: what cannot, and is found again at once, would keep the process to itself.
      if (found.length === free && started.includes(true)) again = true;
    }
    const now = dueTime(clock);
    const due = await nextDueRun(log.rows, now);
    cancelPoll();
    if (!draining) cancelPoll = clock.after(Math.min((due ?? Infinity) - now, POLL_MS), pump);
  }

  const opening = (run: RunRef, attempt: number, first: number): Opening =>
    openingOf(run, { runId: run.runId, attempt, leaseId: ids.token() }, first, incarnation);

  /** Whether the run executes now. */
  async function start({ runId, threadId }: RunRef): Promise<boolean> {
    const run = await getRun(log.rows, runId);
    if (run === undefined || draining) return false;
    const first = (await log.payloads.lastFrame(runId)) + 1;
    const attempt = opening({ runId, threadId }, run.attempt + 1, first);
    const ledger = run.attempt === 0 ? undefined : await readLedger(log, runId, run.kwargs);
    const started = await threads.dispatch(threadId, [attempt.command], { payloads: attempt.payloads });
    if (started.ok) begin(run, { ...attempt, ledger }, started.state);
    return started.ok;
  }

  /** The start of a new run that no other run is due before, for the commit that creates it. */
  function startInline(run: RunRef): InlineStart | undefined {
    if (draining || backlog || permits.free(running.size + promised.size) <= 0) return undefined;
    let settled: () => void = () => undefined;
    promised.set(run.runId, new Promise((resolve) => (settled = resolve)));
    const attempt = opening(run, 1, 0);
    return {
      settle(state) {
        promised.delete(run.runId);
        settled();
        if (state === undefined) return pump();
        const found = readRun(log.rows, run.runId);
        if (found !== undefined) begin(found, attempt, state);
      },
      ...attempt,
    };
  }

  function begin(found: RunRecord, { lease, first, ledger }: Opening, state: ThreadState): void {
    const { runId, threadId, kwargs } = found;
    const run = { ...found, attempt: lease.attempt };
    const stop = new AbortController();
    // Claimed while the stop was asked for: handed back like the others, or the attempt would count as lost.
    if (stopping) stop.abort('shutdown' satisfies StopReason);
    const execution = createExecution({
      isRead: () => isRead(runId),
      owesWebhook: kwargs.webhook !== undefined,
      temporary: isLiving(state) && state.temporary,
      sync: kwargs.durability === 'sync',
      nextFrame: first + 1,
      ledger: ledger ?? newLedger(kwargs),
      onBegun: () => trial.begun(runId),
      onFenced: () => stop.abort('fenced' satisfies StopReason),
      ...{ log, threads, store, threadId, lease, commitInterval, lingerClock: options.lingerClock },
    });
    const hurry = new AbortController();
    const known = openRun(state, runId);
    const account = known && accountOf(known);
    const alone = account !== undefined && isSuspect(account);
    if (alone) trial.enter(runId, trialMs(account));
    const standing = { resume: known?.checkpointed ?? false, alone };
    const head = isLiving(state) ? state.head : null;
    const done = execute(run, standing, head, execution, stop, hurry.signal)
      .catch((error: unknown) => {
        if (!closed) onFault(error, `run ${runId}`);
      })
      .finally(() => {
        running.delete(runId);
        trial.leave(runId);
        // Who was declared dead stood in the way of its next attempt.
        if (backlog || stop.signal.aborted) pump();
      });
    const { attempt, leaseId } = lease;
    running.set(runId, { threadId, attempt, leaseId, stop, hurry, done, isOver: false });
  }

  async function execute(
    run: RunRecord,
    standing: Standing,
    head: string | null,
    execution: Execution,
    stop: AbortController,
    hurry: AbortSignal,
  ): Promise<void> {
    const input = await inputOf(log.rows, run, head);
    const order = orderOf(run, standing, input, parseSecret(await log.payloads.secret(run.runId)));
    const limitMs = timeLimitOf(run, runTimeoutMs);
    const cancelTimeout = clock.after(limitMs, () => stop.abort('timeout' satisfies StopReason));
    const abandoned = afterGrace(stop.signal, hurry, clock, stopGraceMs);
    const end = await Promise.race([graphs.run(order, execution.link, stop.signal), abandoned.end]).finally(
      () => {
        cancelTimeout();
        abandoned.cancel();
      },
    );
    const reason = stop.signal.aborted ? (stop.signal.reason as StopReason) : undefined;
    if (reason === 'fenced' || closed) return;
    const mine = running.get(run.runId);
    if (mine !== undefined) mine.isOver = true;
    // A write of this attempt after this line is refused: the lease ends with the commit below.
    if (reason === 'shutdown' && (end.kind === 'stopped' || end.kind === 'lost'))
      await execution.handBack('shutdown');
    else if (reason === undefined && end.kind === 'lost') await execution.lose(end, maxCharges);
    else await execution.finish(outcomeOf(end, reason, limitMs), untrackedOf(end));
  }

  function watch(): void {
    cancelWatch = clock.after(POLL_MS, watch);
    for (const [runId, each] of running)
      lookAfter(each).catch((error: unknown) => onFault(error, `looking after run ${runId}`));
  }

  /** Finds what a wake-up that was lost would have told: that the run is to stop, or that it is no longer ours. */
  async function lookAfter({ threadId, leaseId, stop }: Running): Promise<void> {
    const state = await threads.read(threadId);
    if (activeOf(state)?.leaseId !== leaseId) stop.abort('fenced' satisfies StopReason);
    else if (state.status === 'stopping') stop.abort(state.action satisfies StopReason);
  }

  function onNotice({ events }: Notice): void {
    for (const event of events) {
      if (event.type === 'CheckpointSaved' && isStepEnd(event.data)) trial.leave(event.data.runId);
      const run = 'runId' in event.data ? running.get(event.data.runId) : undefined;
      const reason = run && stopFor(event, run);
      if (reason !== undefined) run?.stop.abort(reason);
    }
    if (events.some(mayStart)) pump();
  }

  /** After this fact a run could start that could not before. Whoever needs a free place is told by its end. */
  function mayStart({ type, data }: Recorded): boolean {
    if (type === 'RunCreated') return !running.has(data.runId);
    if (type === 'RunCompleted') return data.remaining > 0 || backlog;
    return type === 'RunRequeued';
  }

  const stops = [log.onCommitted(onNotice), threads.startInline(startInline), permits.onReleased(pump)];
  let cancelWatch = clock.after(POLL_MS, watch);
  pump();

  /** Resolves when what is claimed and what runs is over, after `ms` at the latest. */
  async function allDone(ms: number): Promise<void> {
    const all = Promise.all([claiming, ...promised.values()]).then(() =>
      Promise.all([...running.values()].map(({ done }) => done)),
    );
    await within(clock, ms, all);
  }

  return {
    async drain(ms) {
      draining = true;
      cancelPoll();
      await allDone(ms);
    },
    async stop(graceMs) {
      draining = stopping = true;
      for (const stop of stops) stop();
      cancelPoll();
      cancelWatch();
      for (const { stop, hurry } of running.values()) {
        stop.abort('shutdown' satisfies StopReason);
        hurry.abort();
      }
      await allDone(graceMs);
      trial.close();
      closed = true;
    },
  };
}

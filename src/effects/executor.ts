/**
 * The reactor that executes runs: hands claimed runs (claims.ts) to the graph host and records their ends.
 *
 * X3 Every execution ends with one terminal event or requeues its run.
 */
import { newLedger } from '../actors/last-frames.ts';
import type { Store } from '../actors/store.ts';
import type { Threads } from '../actors/threads.ts';
import type { GraphHost, StopReason } from '../graphs/port.ts';
import type { OrderedRun } from '../graphs/run-order.ts';
import type { Clock } from '../kernel/clock.ts';
import { within } from '../kernel/within.ts';
import type { Recorded } from '../store/port/events.ts';
import { LogUnavailable } from '../store/port/log-failures.ts';
import type { Notice } from '../store/port/log.ts';
import type { Outlook } from '../store/port/nodes.ts';
import { activeOf, isLiving, openRun, type ThreadState } from '../thread/state.ts';
import { makeOrder, type OrderOptions, type Start } from './attempt-order.ts';
import { openClaims, type ClaimedRun } from './claims.ts';
import { createCommitInterval } from './commit-interval.ts';
import { createExecution, type Execution } from './execution.ts';
import { maskFailures } from './failure-secrets.ts';
import { leftBy, outcomeOf, toFailure } from './outcome.ts';
import type { DueWatch } from './due-watch.ts';
import type { OnFault } from './fault.ts';
import { keepsMessages } from './kept-messages.ts';
import { afterGrace, stopFor, timeLimitOf } from './grace.ts';
import { createPatience } from '../store/port/patience.ts';
import type { Permits } from './permits.ts';
import { abandon, recoverRuns } from './recovery.ts';
import type { Opening } from './opening.ts';

export interface ExecutorOptions extends OrderOptions {
  readonly threads: Threads;
  /** The store for items that outlive threads. */
  readonly store: Store;
  readonly graphs: GraphHost;
  readonly clock: Clock;
  readonly due: DueWatch;
  readonly onFault: OnFault;
  /** Tells whether a client is reading the run's stream. */
  readonly isRead: (runId: string) => boolean;
  /** Clock for the delay of writes; always real time, because a stopped test clock would block them. */
  readonly lingerClock: Clock;
  readonly permits: Permits;
  readonly runTimeoutMs: number;
  /** X6 Charges after which a run ends with an error. */
  readonly maxCharges: number;
  /** Time for a graph to obey a stop; after it the run ends without waiting for the graph. */
  readonly stopGraceMs: number;
}

export interface Executor {
  /** Stops claiming; resolves when no run executes any more, after `ms` at the latest. */
  drain(ms: number): Promise<void>;
  /** Stops claiming, aborts running graphs and requeues their runs within `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

interface Running {
  readonly threadId: string;
  readonly leaseId: string;
  readonly attempt: number;
  readonly stop: AbortController;
  /** Aborts at server shutdown and ends the grace period of a graph that was stopped earlier. */
  readonly hurry: AbortController;
  readonly done: Promise<void>;
  /** The graph has ended and the run's end is being committed. */
  isOver: boolean;
}

export function startExecutor(options: ExecutorOptions): Executor {
  const { log, threads, store, graphs, clock, ids, due, onFault, permits, isRead } = options;
  const { runTimeoutMs, stopGraceMs, maxCharges } = options;
  const running = new Map<string, Running>();
  /** Running graphs are aborted. */
  let stopping = false;
  /** Shutdown is over: runs that still execute record nothing more, and recovery at the next start handles them. */
  let closed = false;
  const patiently = createPatience(options.lingerClock, () => closed);
  const commitInterval = createCommitInterval(options.lingerClock);
  const claims = openClaims({ log, threads, clock, ids, permits, due, onFault, running, begin });

  function begin(found: ClaimedRun, { lease, first, ledger, secret }: Opening, state: ThreadState): void {
    const { runId, threadId, kwargs } = found;
    const run = { ...found, attempt: lease.attempt };
    const stop = new AbortController();
    // A run claimed during shutdown is aborted and requeued like the others, so its attempt does not count as lost.
    if (stopping) stop.abort('shutdown' satisfies StopReason);
    const limitMs = timeLimitOf(run, runTimeoutMs);
    let cancelTimeout: () => void = () => undefined;
    const { charges = 0, checkpointed: resume = false, usage: used } = openRun(state, runId) ?? {};
    const head = isLiving(state) ? state.head : null;
    const execution = createExecution({
      hasKept: lease.attempt > 1,
      isFirst: lease.attempt === 1 && head === null,
      isRead: () => isRead(runId),
      owesWebhook: kwargs.webhook !== undefined,
      temporary: isLiving(state) && state.temporary,
      sync: kwargs.durability === 'sync',
      nextFrame: first + 1,
      ledger: ledger ?? newLedger(kwargs),
      onBegun() {
        cancelTimeout();
        cancelTimeout = clock.after(limitMs, () => stop.abort('timeout' satisfies StopReason));
      },
      onFenced: () => stop.abort('fenced' satisfies StopReason),
      ...{ log, threads, store, threadId, lease, commitInterval, patiently },
      lingerClock: options.lingerClock,
    });
    const hurry = new AbortController();
    const unfollow = log.follow({ threadId });
    const done = execute(run, { resume, charges, head, used, secret }, execution, stop, hurry.signal)
      .catch((error: unknown) => {
        if (!closed) onFault(error, `run ${runId}`);
      })
      .finally(() => {
        running.delete(runId);
        unfollow();
        cancelTimeout();
        // An aborted attempt may have delayed the run's next attempt.
        if (claims.hasBacklog || stop.signal.aborted) claims.pump();
      });
    const { attempt, leaseId } = lease;
    running.set(runId, { threadId, attempt, leaseId, stop, hurry, done, isOver: false });
  }

  async function execute(
    run: OrderedRun,
    start: Start,
    execution: Execution,
    stop: AbortController,
    hurry: AbortSignal,
  ): Promise<void> {
    const end = await makeOrder(run, start, options, patiently)
      .then((order) => {
        const abandoned = afterGrace(stop.signal, hurry, clock, stopGraceMs);
        const masked = maskFailures(order, execution.link);
        const ended = graphs.run(order, masked.link, stop.signal).then(masked.end);
        return Promise.race([ended, abandoned.end]).finally(abandoned.cancel);
      })
      .catch((error: unknown) => {
        // X5 What the log keeps and cannot be read stays so; only its absence passes.
        if (closed || error instanceof LogUnavailable) throw error;
        return toFailure(error);
      });
    const reason = stop.signal.aborted ? (stop.signal.reason as StopReason) : undefined;
    if (reason === 'fenced' || closed) return;
    const mine = running.get(run.runId);
    if (mine !== undefined) mine.isOver = true;
    if ((reason === 'interrupt' || reason === 'shutdown') && end.kind !== 'success')
      if (keepsMessages(await patiently(() => threads.read(run.threadId)), run.kwargs))
        await execution.keep(ids).catch((error: unknown) => onFault(error, `messages of run ${run.runId}`));
    // The commit below ends the lease, so later writes of this attempt are refused.
    if (reason === 'shutdown' && (end.kind === 'stopped' || end.kind === 'lost'))
      await execution.handBack('shutdown');
    else if (reason === undefined && end.kind === 'lost') await execution.lose(end, maxCharges);
    else await execution.finish(outcomeOf(end, reason, timeLimitOf(run, runTimeoutMs)), leftBy(end));
  }

  const recovery = { maxCharges, ids, onFault };
  /** Leases that the log says are of this node, though nothing executes under them. */
  let idle: ReadonlySet<string> = new Set();
  let recovering: Promise<void> | undefined;

  /**
   * X5 Takes over the runs of nodes that are gone, and its own of whose start or end it got no answer. The latter are seen
   * twice, because a start may be under way.
   */
  async function recover(): Promise<void> {
    await recoverRuns(log, threads, recovery);
    const { nodes } = log;
    const holder = nodes.id;
    if (holder === undefined) return;
    const executing = new Set([...running.values()].map(({ threadId }) => threadId));
    const found = new Set<string>();
    for (const threadId of (await nodes.held()).filter((id) => !executing.has(id))) {
      const active = activeOf(await threads.read(threadId));
      if (active === undefined || running.has(active.runId)) continue;
      const { leaseId } = active;
      if (idle.has(leaseId))
        await abandon(log, threads, { threadId, holder, isAlive: true, leaseId }, recovery);
      else found.add(leaseId);
    }
    idle = found;
  }

  function onPoll({ hasOrphans, held }: Outlook): void {
    if (log.nodes.isShared && (hasOrphans || held !== running.size))
      recovering ??= recover()
        .catch((error: unknown) => onFault(error, 'taking over runs'))
        .finally(() => (recovering = undefined));
    lookAfter(() => true);
  }

  function lookAfter(wants: (run: Running) => boolean): void {
    for (const [runId, each] of running)
      if (wants(each))
        checkRunning(each).catch((error: unknown) => onFault(error, `looking after run ${runId}`));
  }

  /** Reads the thread for a cancel request, or a lease that is no longer valid: the notice may be lost, or another node's. */
  async function checkRunning({ threadId, leaseId, stop }: Running): Promise<void> {
    const state = await threads.read(threadId);
    if (activeOf(state)?.leaseId !== leaseId) stop.abort('fenced' satisfies StopReason);
    else if (state.status === 'stopping') stop.abort(state.action satisfies StopReason);
  }

  function onNotice({ events, elsewhere }: Notice): void {
    for (const event of events) {
      const run = 'runId' in event.data ? running.get(event.data.runId) : undefined;
      const reason = run && stopFor(event, run);
      if (reason !== undefined) run?.stop.abort(reason);
    }
    if (elsewhere?.threads.size)
      lookAfter(({ threadId, isOver }) => !isOver && elsewhere.threads.has(threadId));
    if (events.some(mayStart) || elsewhere?.mayStart) claims.pump();
  }

  /** Tells whether this event may allow a run to start. Completed runs matter only while others wait. */
  function mayStart({ type, data }: Recorded): boolean {
    if (type === 'RunCreated') return !running.has(data.runId) && !claims.isStarting(data.runId);
    if (type === 'RunCompleted') return data.remaining > 0 || claims.hasBacklog;
    return type === 'RunRequeued';
  }

  /** X1 Another node may take over what executes here. */
  function onCutOff(): void {
    for (const { stop } of running.values()) stop.abort('fenced' satisfies StopReason);
  }

  const stops = [
    log.onCommitted(onNotice),
    log.nodes.onCutOff(onCutOff),
    threads.startInline(claims.startInline),
    permits.onReleased(claims.pump),
    due.onPoll(onPoll),
  ];
  claims.pump();

  /** Resolves when all claimed and running runs are over, after `ms` at the latest. */
  async function allDone(ms: number): Promise<void> {
    const all = claims.settled().then(() => Promise.all([...running.values()].map(({ done }) => done)));
    await within(clock, ms, all);
  }

  return {
    async drain(ms) {
      claims.end();
      await allDone(ms);
    },
    async stop(graceMs) {
      claims.end();
      stopping = true;
      for (const stop of stops) stop();
      for (const { stop, hurry } of running.values()) {
        stop.abort('shutdown' satisfies StopReason);
        hurry.abort();
      }
      await allDone(graceMs);
      await recovering;
      closed = true;
    },
  };
}

/**
 * Claims runs that are due: starts those that the log has, or one inline in the commit that creates it.
 *
 * X1 A claim is an event that the thread's machine allows once. X5 Pending runs are found by reading the log, so a lost
 * wake-up delays a run but never loses it.
 */
import type { CreatedRun, InlineStart } from '../actors/inline-start.ts';
import { readLedger } from '../actors/last-frames.ts';
import { falseWhenFull } from '../store/port/log-failures.ts';
import type { Threads } from '../actors/threads.ts';
import type { OrderedRun } from '../graphs/run-order.ts';
import { dueTime, type Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { EventLog } from '../store/port/log.ts';
import type { RunRecord } from '../store/port/views/runs.ts';
import type { RunRef } from '../thread/events.ts';
import type { ThreadState } from '../thread/state.ts';
import type { DueWatch } from './due-watch.ts';
import type { OnFault } from './fault.ts';
import { openingOf, type Opening } from './opening.ts';
import type { Permits } from './permits.ts';

/** Part of the run's record that an attempt needs. */
export type ClaimedRun = Omit<OrderedRun, 'attempt'>;

export interface ClaimsOptions {
  readonly log: EventLog;
  readonly threads: Threads;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly permits: Permits;
  readonly due: DueWatch;
  readonly onFault: OnFault;
  readonly running: Pick<ReadonlyMap<string, unknown>, 'has' | 'size'>;
  /** Called when a start is committed. */
  readonly begin: (run: ClaimedRun, opening: Opening, state: ThreadState) => void;
}

export interface Claims {
  /** Claims as many runs as there are free permits, now or after the claims under way. */
  pump(): void;
  /** Offers an inline start for a new run when no other run is due before it. */
  startInline(run: CreatedRun): InlineStart | undefined;
  /** The run's inline start is being committed. */
  isStarting(runId: string): boolean;
  /** Other due runs may exist, so a new run must not overtake them with an inline start. */
  readonly hasBacklog: boolean;
  /** No more runs are claimed. */
  end(): void;
  /** Resolves when all claims under way are decided. */
  settled(): Promise<unknown>;
}

/** A claim is one statement, so the threads that it takes are bounded. */
const MAX_CLAIMED = 100;
/** Due threads that are looked at while some runs are of a clock that was ahead: some of these may not be due. */
const MAX_LOOKED_AT = 1_000;

export function openClaims(options: ClaimsOptions): Claims {
  const { log, threads, clock, ids, permits, due, onFault, running, begin } = options;
  let hasEnded = false;
  let claiming: Promise<void> | undefined;
  let again = false;
  let hasBacklog = true;
  /** How far the clock of an earlier process was ahead: its delays go on by it. */
  let leadMs: number | undefined;
  /** Runs whose inline start is being committed. */
  const startingInline = new Map<string, Promise<void>>();

  const freePermits = (): number => permits.free(running.size + startingInline.size);

  function pump(): void {
    if (hasEnded) return;
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
    const free = Math.min(freePermits(), MAX_CLAIMED);
    hasBacklog = free <= 0;
    if (free > 0 && log.nodes.id !== undefined) {
      const now = dueTime(clock);
      leadMs ??= log.nodes.isShared ? 0 : await log.views.runs.lead(now);
      const found = await log.nodes.claimThreads(now + leadMs, leadMs > 0 ? MAX_LOOKED_AT : free);
      hasBacklog = found.length >= free;
      let started = 0;
      for (let next = 0; next < found.length && freePermits() > 0;) {
        const some = found.slice(next, (next += freePermits()));
        const isStarted = await Promise.all(some.map((threadId) => start(threadId).catch(falseWhenFull)));
        started += isStarted.filter(Boolean).length;
      }
      // Claims again only after a start succeeded: repeated failing claims would monopolise the event loop.
      if (hasBacklog && started > 0) again = true;
    }
  }

  const opening = (
    run: RunRef,
    attempt: number,
    first: number,
    nodeId: string,
  ): ReturnType<typeof openingOf> =>
    openingOf(run, { runId: run.runId, attempt, leaseId: ids.token() }, first, nodeId);

  /** The queued run of the thread that may start now; undefined while its earlier attempt comes to an end. */
  async function nextRun(state: ThreadState): Promise<RunRecord | undefined> {
    if (state.status !== 'queued' || hasEnded) return undefined;
    const [first] = state.queue;
    const isPlain = first!.attempt > 0 || state.queue.every(({ notBefore }) => notBefore === undefined);
    const now = dueTime(clock);
    const ids = state.queue.map((run) => run.runId);
    const runId = isPlain ? first!.runId : await log.views.runs.firstDue(ids, now, now + (leadMs ?? 0));
    return runId === undefined || running.has(runId) ? undefined : log.views.runs.get(runId);
  }

  /** Starts an attempt at a run of the thread. Returns false when none can start. */
  async function start(threadId: string): Promise<boolean> {
    let claimed: { readonly run: RunRecord; readonly attempt: Opening } | undefined;
    const started = await threads.dispatch(
      threadId,
      async (state) => {
        claimed = undefined;
        const nodeId = log.nodes.id;
        const run = await nextRun(state);
        if (run === undefined || nodeId === undefined) return [];
        const first = (await log.payloads.lastFrame(run.runId)) + 1;
        const attempt = opening(run, run.attempt + 1, first, nodeId);
        const ledger = run.attempt === 0 ? undefined : await readLedger(log, run.runId, run.kwargs);
        const secret = (): Promise<string | undefined> => log.payloads.secret(run.runId);
        claimed = { run, attempt: { ...attempt, ledger, secret } };
        return [attempt.command];
      },
      { payloads: () => claimed!.attempt.payloads },
    );
    if (!started.ok || claimed === undefined) return false;
    begin(claimed.run, claimed.attempt, started.state);
    return true;
  }

  const unsubscribe = due.on('runs', pump);
  return {
    pump,
    startInline(run) {
      const nodeId = log.nodes.id;
      if (hasEnded || hasBacklog || nodeId === undefined || freePermits() <= 0) return undefined;
      let settled: () => void = () => undefined;
      startingInline.set(run.runId, new Promise((resolve) => (settled = resolve)));
      const attempt = opening(run, 1, 0, nodeId);
      return {
        settle(started) {
          startingInline.delete(run.runId);
          settled();
          if (started === undefined) pump();
          else begin(run, { ...attempt, secret: async () => started.secret }, started.state);
        },
        ...attempt,
      };
    },
    isStarting: (runId) => startingInline.has(runId),
    get hasBacklog() {
      return hasBacklog;
    },
    end() {
      hasEnded = true;
      unsubscribe();
    },
    settled: () => Promise.all([claiming, ...startingInline.values()]),
  };
}

/**
 * Claims runs that are due: starts them by polling the log, or inline in the commit that creates them.
 *
 * X1 A claim is an event that the thread's machine allows once. X5 Pending runs are found by reading the log, so a lost
 * wake-up delays a run but never loses it.
 */
import type { InlineStart } from '../actors/inline-start.ts';
import { readLedger } from '../actors/last-frames.ts';
import { falseWhenFull } from '../actors/log-failures.ts';
import type { Threads } from '../actors/threads.ts';
import { dueTime, type Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { EventLog } from '../store/port/log.ts';
import type { RunRef } from '../thread/events.ts';
import type { ThreadState } from '../thread/state.ts';
import type { OnFault } from './fault.ts';
import { openingOf, type Opening } from './opening.ts';
import type { Permits } from './permits.ts';
import type { RunRecord } from '../store/port/views/runs.ts';

export interface ClaimsOptions {
  readonly log: EventLog;
  readonly threads: Threads;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly permits: Permits;
  readonly onFault: OnFault;
  readonly running: Pick<ReadonlyMap<string, unknown>, 'has' | 'size'>;
  /** Called when a start is committed. */
  readonly begin: (run: RunRecord, opening: Opening, state: ThreadState) => void;
}

export interface Claims {
  /** Claims as many runs as there are free permits, now or after the claims under way. */
  pump(): void;
  /** Offers an inline start for a new run when no other run is due before it. */
  startInline(run: RunRef): InlineStart | undefined;
  /** Other due runs may exist, so a new run must not overtake them with an inline start. */
  readonly hasBacklog: boolean;
  /** No more runs are claimed. */
  end(): void;
  /** Resolves when all claims under way are decided. */
  settled(): Promise<unknown>;
}

/** Poll interval: bounds the delay after a lost wake-up. */
const POLL_MS = 1_000;

export function openClaims(options: ClaimsOptions): Claims {
  const { log, threads, clock, ids, permits, onFault, running, begin } = options;
  let hasEnded = false;
  let claiming: Promise<void> | undefined;
  let again = false;
  let hasBacklog = true;
  let cancelPoll: () => void = () => undefined;
  /** How far the clock of an earlier process was ahead: its delays go on by it. */
  let leadMs: number | undefined;
  /** Token of this server process. */
  const incarnation = ids.token();
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
    cancelPoll();
    cancelPoll = clock.after(POLL_MS, pump);
    const free = freePermits();
    hasBacklog = free <= 0;
    if (free > 0) {
      const now = dueTime(clock);
      leadMs ??= await log.views.runs.lead(now);
      const found = await log.views.runs.claimable(now, free, now + leadMs);
      hasBacklog = found.length === free;
      const waiting = found.filter(({ runId }) => !running.has(runId));
      const started = await Promise.all(waiting.map((run) => start(run).catch(falseWhenFull)));
      // Claims again only after a start succeeded: repeated failing claims would monopolise the event loop.
      if (found.length === free && started.includes(true)) again = true;
    }
    const now = dueTime(clock);
    const due = await log.views.runs.nextDue(now);
    cancelPoll();
    if (!hasEnded) cancelPoll = clock.after(Math.min((due ?? Infinity) - now, POLL_MS), pump);
  }

  const opening = (run: RunRef, attempt: number, first: number): Opening =>
    openingOf(run, { runId: run.runId, attempt, leaseId: ids.token() }, first, incarnation);

  /** Starts an attempt. Returns false when the run cannot start. */
  async function start({ runId, threadId }: RunRef): Promise<boolean> {
    const run = await log.views.runs.get(runId);
    if (run === undefined || hasEnded) return false;
    const first = (await log.payloads.lastFrame(runId)) + 1;
    const attempt = opening({ runId, threadId }, run.attempt + 1, first);
    const ledger = run.attempt === 0 ? undefined : await readLedger(log, runId, run.kwargs);
    const started = await threads.dispatch(threadId, [attempt.command], { payloads: attempt.payloads });
    if (started.ok) begin(run, { ...attempt, ledger }, started.state);
    return started.ok;
  }

  return {
    pump,
    startInline(run) {
      if (hasEnded || hasBacklog || freePermits() <= 0) return undefined;
      let settled: () => void = () => undefined;
      startingInline.set(run.runId, new Promise((resolve) => (settled = resolve)));
      const attempt = opening(run, 1, 0);
      return {
        async settle(state) {
          try {
            const found = state && (await log.views.runs.get(run.runId));
            if (found !== undefined) begin(found, attempt, state!);
          } finally {
            startingInline.delete(run.runId);
            settled();
          }
          if (state === undefined) pump();
        },
        ...attempt,
      };
    },
    get hasBacklog() {
      return hasBacklog;
    },
    end() {
      hasEnded = true;
      cancelPoll();
    },
    settled: () => Promise.all([claiming, ...startingInline.values()]),
  };
}

/**
 * Recovers runs that a dead server process left marked as running.
 *
 * X5 The directory lock excludes other processes, so no lease of such a run is in use: each run is requeued or ends
 * with a recorded reason. X6 Runs of the same server process are judged together.
 */
import type { Threads } from '../actors/threads.ts';
import type { Ids } from '../kernel/ids.ts';
import type { EventLog } from '../log/log.ts';
import { getRun, runningRuns } from '../projections/run-queries.ts';
import { attribute, type Verdict } from '../thread/fault.ts';
import { findKept, keepsMessages, writesOf } from './kept-messages.ts';
import { activeOf, openIn, type ActiveRun } from '../thread/state.ts';

interface Orphan {
  readonly threadId: string;
  readonly active: ActiveRun;
}

/** Call before the executor starts and the first request is served. Returns the number of recovered runs. */
export async function recoverRuns(
  log: EventLog,
  threads: Threads,
  { maxCharges, ids }: { maxCharges: number; ids?: Ids },
): Promise<number> {
  async function abandon({ threadId, active }: Orphan, verdict: Verdict): Promise<void> {
    const { runId, incarnation } = active;
    const command = {
      type: 'AbandonAttempt',
      ...{ runId, verdict, maxCharges, error: 'AttemptsExceeded' },
      reason: 'the server process ended while it executed',
      ...(incarnation !== undefined && { incarnation }),
    } as const;
    const kept = await keep(threadId, active);
    const done = await threads.dispatch(threadId, [...(kept?.commands ?? []), command], {
      isVital: true,
      payloads: kept?.payloads ?? [],
    });
    if (!done.ok) throw new Error(`run ${runId} cannot be recovered: ${done.refusal.code}`);
  }

  /** A cancel whose run was still ending when the server died keeps the run's messages. */
  async function keep(threadId: string, { runId, attempt, leaseId }: ActiveRun) {
    const run = await getRun(log.rows, runId);
    if (ids === undefined || run === undefined) return undefined;
    if (!keepsMessages(await threads.read(threadId), run.kwargs)) return undefined;
    // What cannot be read keeps no server from starting.
    const found = await findKept(log, { runId, threadId }, ids).catch(() => undefined);
    const lastFrame = await log.payloads.lastFrame(runId);
    return found && writesOf(found, threadId, { runId, attempt, leaseId }, lastFrame);
  }

  const marked = await runningRuns(log.rows);
  const orphans = await Promise.all(
    marked.map(async ({ runId, threadId }): Promise<Orphan> => {
      const active = activeOf(await threads.read(threadId));
      if (active?.runId !== runId) throw new Error(`run ${runId} cannot be recovered: run-not-open`);
      return { threadId, active };
    }),
  );
  const incarnations = new Set(orphans.map(({ active }) => active.incarnation));
  await Promise.all(
    [...incarnations].flatMap((incarnation) => {
      const runs = orphans.filter(({ active }) => active.incarnation === incarnation);
      const verdicts = attribute(
        'server',
        runs.map(({ active }) => openIn(active)),
      );
      return runs.map((run, index) => abandon(run, verdicts[index]!));
    }),
  );
  return orphans.length;
}

/**
 * X5 What a process left behind when it ended: runs marked running whose executor is gone. Under the directory lock
 * no other process can hold their leases, so each goes on as the next attempt or ends with a recorded reason.
 * X6 The runs that one life of the server left are judged together.
 */
import type { Threads } from '../actors/threads.ts';
import type { EventLog } from '../log/log.ts';
import { runningRuns } from '../projections/run-queries.ts';
import { attribute, type Verdict } from '../thread/fault.ts';
import { activeOf, openIn, type ActiveRun } from '../thread/state.ts';

interface Left {
  readonly threadId: string;
  readonly active: ActiveRun;
}

/** Comes before the executor and before the first request. Returns how many runs it found. */
export async function recoverRuns(
  log: EventLog,
  threads: Threads,
  { maxCharges }: { maxCharges: number },
): Promise<number> {
  async function abandon({ threadId, active }: Left, verdict: Verdict): Promise<void> {
    const { runId, incarnation } = active;
    const command = {
      type: 'AbandonAttempt',
      ...{ runId, verdict, maxCharges, error: 'AttemptsExceeded' },
      reason: 'the server process ended while it executed',
      ...(incarnation !== undefined && { incarnation }),
    } as const;
    const done = await threads.dispatch(threadId, [command], { isVital: true });
    if (!done.ok) throw new Error(`run ${runId} cannot be recovered: ${done.refusal.code}`);
  }

  const found = await runningRuns(log.rows);
  const left = await Promise.all(
    found.map(async ({ runId, threadId }): Promise<Left> => {
      const active = activeOf(await threads.read(threadId));
      if (active?.runId !== runId) throw new Error(`run ${runId} cannot be recovered: run-not-open`);
      return { threadId, active };
    }),
  );
  const lives = new Set(left.map(({ active }) => active.incarnation));
  await Promise.all(
    [...lives].flatMap((life) => {
      const runs = left.filter(({ active }) => active.incarnation === life);
      const verdicts = attribute(
        'server',
        runs.map(({ active }) => openIn(active)),
      );
      return runs.map((run, index) => abandon(run, verdicts[index]!));
    }),
  );
  return left.length;
}

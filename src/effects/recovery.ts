/**
 * X5 What a process left behind when it ended: runs marked running whose executor is gone. Under the directory lock
 * nobody else can hold their leases, so each goes on as the next attempt or ends with a recorded reason.
 */
import type { Threads } from '../actors/threads.ts';
import type { EventLog } from '../log/log.ts';
import { runningRuns } from '../projections/run-queries.ts';

/** Comes before the executor and before the first request. Returns how many runs it found. */
export async function recoverRuns(
  log: EventLog,
  threads: Threads,
  { maxAttempts }: { maxAttempts: number },
): Promise<number> {
  const left = await runningRuns(log.rows);
  const reason = 'the server process ended while it executed';
  await Promise.all(
    left.map(async ({ runId, threadId }) => {
      const command = { type: 'AbandonAttempt', runId, maxAttempts, reason } as const;
      const done = await threads.dispatch(threadId, [command], { isVital: true });
      if (!done.ok) throw new Error(`run ${runId} cannot be recovered: ${done.refusal.code}`);
    }),
  );
  return left.length;
}

/**
 * X5 What a process left behind when it ended: runs marked running whose executor is gone. Under the directory lock
 * nobody else can hold their leases, so each goes on as the next attempt or ends with a recorded reason.
 */
import type { Threads } from '../actors/threads.ts';
import type { Ids } from '../kernel/ids.ts';
import type { EventLog } from '../log/log.ts';
import { runningRuns } from '../projections/run-queries.ts';
import { errorFrame } from './execution.ts';

/** Comes before the executor and before the first request. Returns how many runs it found. */
export async function recoverRuns(
  log: EventLog,
  threads: Threads,
  ids: Ids,
  { maxAttempts }: { maxAttempts: number },
): Promise<number> {
  const left = await runningRuns(log.rows);
  const reason = 'the server process ended while it executed';
  await Promise.all(
    left.map(async ({ runId, threadId }) => {
      const done = await threads.dispatch(threadId, [{ type: 'AbandonAttempt', runId, maxAttempts, reason }]);
      if (!done.ok) throw new Error(`run ${runId} cannot be recovered: ${done.refusal.code}`);
      for (const { type, data } of done.events) {
        const frame = type === 'RunCompleted' ? errorFrame(data.outcome) : undefined;
        if (frame === undefined) continue;
        const first = (await log.payloads.lastFrame(runId)) + 1;
        const payloads = [{ kind: 'frames', runId, threadId, first, frames: [frame] } as const];
        await log.commit({ commandId: ids.uuid(), appends: [], payloads });
      }
    }),
  );
  return left.length;
}

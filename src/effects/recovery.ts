/**
 * Recovers runs that a dead server process left marked as running.
 *
 * X5 The directory lock excludes other processes, so no lease of such a run is in use: each run is requeued or ends
 * with a recorded reason.
 */
import type { OnFault } from './fault.ts';
import type { Threads } from '../actors/threads.ts';
import type { Ids } from '../kernel/ids.ts';
import type { EventLog } from '../store/port/log.ts';
import type { RunRef } from '../thread/events.ts';
import { activeOf } from '../thread/state.ts';
import { findKept, keepsMessages, writesOf } from './kept-messages.ts';

/** Call before the executor starts and the first request is served. Returns the number of recovered runs. */
export async function recoverRuns(
  log: EventLog,
  threads: Threads,
  { maxCharges, ids, onFault }: { maxCharges: number; ids?: Ids; onFault?: OnFault },
): Promise<number> {
  async function abandon({ runId, threadId }: RunRef): Promise<void> {
    const kept = await keep({ runId, threadId });
    const reason = 'the server process ended while it executed';
    const done = await threads.dispatch(
      threadId,
      [
        ...(kept?.commands ?? []),
        { type: 'AbandonAttempt', runId, died: 'server', maxCharges, reason, error: 'AttemptsExceeded' },
      ],
      { isVital: true, payloads: kept?.payloads ?? [] },
    );
    if (!done.ok) throw new Error(`run ${runId} cannot be recovered: ${done.refusal.code}`);
  }

  /** A cancel whose run was still ending when the server died keeps the run's messages. */
  async function keep({ runId, threadId }: RunRef) {
    const run = await log.views.runs.get(runId);
    if (ids === undefined || run === undefined) return undefined;
    const state = await threads.read(threadId);
    const active = activeOf(state);
    if (active?.runId !== runId || !keepsMessages(state, run.kwargs)) return undefined;
    // A failure to read the frames must not keep the server from starting.
    const found = await findKept(log, { runId, threadId }, ids).catch((error: unknown) =>
      onFault?.(error, `messages of run ${runId}`),
    );
    const lastFrame = await log.payloads.lastFrame(runId);
    const { attempt, leaseId } = active;
    return found && writesOf(found, threadId, { runId, attempt, leaseId }, lastFrame);
  }

  const orphans = await log.views.runs.busyThreads();
  await Promise.all(
    orphans.map(async (threadId) => {
      const runId = activeOf(await threads.read(threadId))?.runId;
      if (runId !== undefined) await abandon({ runId, threadId });
    }),
  );
  return orphans.length;
}

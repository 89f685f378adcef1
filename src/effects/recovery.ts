/**
 * Recovers runs that no server executes: those that a dead process left marked as running.
 *
 * X5 Each run is requeued or ends with a recorded reason. X1 An attempt is abandoned only while it is the one that was
 * found. X6 A server that was cut off and has come back did not die; of servers that share a store, one that says nothing may
 * come back later.
 */
import type { OnFault } from './fault.ts';
import type { Threads } from '../actors/threads.ts';
import type { Ids } from '../kernel/ids.ts';
import type { EventLog } from '../store/port/log.ts';
import type { Orphan } from '../store/port/nodes.ts';
import type { PayloadWrite } from '../store/port/payloads.ts';
import type { ThreadCommand } from '../thread/decide.ts';
import { activeOf, type ActiveRun, type ThreadState } from '../thread/state.ts';
import { findKept, keepsMessages, writesOf } from './kept-messages.ts';

export interface RecoveryOptions {
  readonly maxCharges: number;
  readonly ids?: Ids;
  readonly onFault?: OnFault;
}

/** Call before the executor starts and the first request is served. Returns the number of recovered runs. */
export async function recoverRuns(
  log: EventLog,
  threads: Threads,
  options: RecoveryOptions,
): Promise<number> {
  const orphans = await log.nodes.takeOver();
  await Promise.all(orphans.map((orphan) => abandon(log, threads, orphan, options)));
  return orphans.length;
}

/** Ends the attempt that executes on the thread, if it is one of the holder's; with `leaseId`, that one alone. */
export async function abandon(
  log: EventLog,
  threads: Threads,
  { threadId, holder, isAlive, leaseId: only }: Orphan & { readonly leaseId?: string },
  { maxCharges, ids, onFault }: RecoveryOptions,
): Promise<void> {
  let payloads: readonly PayloadWrite[] = [];
  const done = await threads.dispatch(
    threadId,
    async (state) => {
      payloads = [];
      const active = activeOf(state);
      if (active === undefined || (holder !== null && active.incarnation !== holder)) return [];
      if (only !== undefined && active.leaseId !== only) return [];
      const kept = await keep(threadId, state, active);
      payloads = kept?.payloads ?? [];
      const { runId, attempt, leaseId, missing } = active;
      const { isShared: isMissing } = log.nodes;
      const end: ThreadCommand = isAlive
        ? { type: 'RequeueRun', runId, attempt, leaseId, reason: 'the server that executed it was cut off' }
        : {
            type: 'AbandonAttempt',
            ...{ runId, died: 'server', isMissing, maxCharges, error: 'AttemptsExceeded' },
            hasReturned: missing !== undefined && (await log.nodes.hasReturned(missing)),
            reason: isMissing
              ? 'the server that executed it said nothing for too long'
              : 'the server process ended while it executed',
          };
      return [...(kept?.commands ?? []), end];
    },
    { isVital: true, payloads: () => payloads },
  );
  if (!done.ok) throw new Error(`a run of thread ${threadId} cannot be recovered: ${done.refusal.code}`);

  /** A cancel whose run was still ending when the server died keeps the run's messages. */
  async function keep(thread: string, state: ThreadState, { runId, attempt, leaseId }: ActiveRun) {
    const run = await log.views.runs.get(runId);
    if (ids === undefined || run === undefined || !keepsMessages(state, run.kwargs)) return undefined;
    // A failure to read the frames must not keep the server from starting.
    const found = await findKept(log, { runId, threadId: thread }, ids).catch((error: unknown) =>
      onFault?.(error, `messages of run ${runId}`),
    );
    const lastFrame = await log.payloads.lastFrame(runId);
    return found && writesOf(found, thread, { runId, attempt, leaseId }, lastFrame);
  }
}

/** Builds the events that end an attempt or a run. Pure; the thread machine decides whether they can happen. */
import type { Outcome, ThreadEvent, ThreadEventMap } from './events.ts';
import type { Seen } from './origin.ts';
import { activeOf, evolve, isLiving, openRun, type LivingThread, type ThreadState } from './state.ts';

export function completed(
  state: LivingThread,
  runId: string,
  outcome: Outcome,
  { observed, repeated, usage }: Seen = {},
): ThreadEvent {
  const run = openRun(state, runId);
  const open = state.queue.length + (activeOf(state) ? 1 : 0);
  const used = usage ?? run?.usage;
  const started = run !== undefined && run.attempt > 0;
  return {
    type: 'RunCompleted',
    data: {
      threadId: state.threadId,
      runId,
      attempt: run?.attempt ?? 0,
      outcome,
      remaining: open - 1,
      head: outcome.kind === 'rolled-back' && started ? run.base : state.head,
      ...(state.ttl?.strategy === 'keep-latest' && { rearm: state.ttl.minutes }),
      ...(observed && { observed }),
      ...(repeated && { repeated }),
      ...(used && { usage: used }),
    },
  };
}

/** Folds each end before building the next: a rollback moves the head that the next event must name. */
export function endAll(
  from: ThreadState,
  runs: readonly { readonly runId: string }[],
  outcome: Outcome,
): ThreadEvent[] {
  let state = from;
  return runs.flatMap(({ runId }) => {
    if (!isLiving(state)) return [];
    const fact = completed(state, runId, outcome);
    state = evolve(state, fact);
    return [fact];
  });
}

/** Requeues the active run for its next attempt. */
export function requeued(
  state: LivingThread,
  how: Omit<ThreadEventMap['RunRequeued'], 'threadId' | 'runId' | 'attempt'>,
): ThreadEvent {
  const { runId, attempt } = activeOf(state)!;
  return { type: 'RunRequeued', data: { threadId: state.threadId, runId, attempt, ...how } };
}

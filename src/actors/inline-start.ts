/**
 * Runs that begin in the commit that creates them: an executor with a free permit gives the lease, and the thread says
 * whether the run may start. X1 The start is a fact like any other: the machine judges it, and a run that has to wait is
 * created without it.
 */
import type { PayloadWrite } from '../log/payloads.ts';
import type { ThreadCommand } from '../thread/decide.ts';
import type { RunRef, ThreadEvent } from '../thread/events.ts';
import { isLiving, type ThreadState } from '../thread/state.ts';

export interface InlineStart {
  readonly command: ThreadCommand & { type: 'StartRun' };
  readonly payloads: readonly PayloadWrite[];
  /** Called once: with the thread's state after the commit, or without when the run was not started by it. */
  settle(state?: ThreadState): void;
}

/** Answers undefined without a free permit, and while other runs are due before this one. */
export type InlineStarter = (run: RunRef) => InlineStart | undefined;

/** The run that these facts create and that could start at once. */
export function startableRun(
  events: readonly ThreadEvent[],
  after: ThreadState,
  now: number,
): RunRef | undefined {
  const created = events.find(({ type }) => type === 'RunCreated') as
    (ThreadEvent & { type: 'RunCreated' }) | undefined;
  if (created === undefined || created.data.notBefore > now) return undefined;
  const { runId, threadId } = created.data;
  const isNext = isLiving(after) && after.status === 'queued' && after.queue[0]?.runId === runId;
  return isNext ? { runId, threadId } : undefined;
}

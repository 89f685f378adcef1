/**
 * Runs that begin in the commit that creates them: an executor with room to spare says with what lease, and the thread
 * says whether it may. X1 Starting is a fact like any other: the machine judges it, and a run that has to wait is
 * created without it.
 */
import type { PayloadWrite } from '../log/payloads.ts';
import type { ThreadCommand } from '../thread/decide.ts';
import type { ThreadEvent } from '../thread/events.ts';
import { isLiving, type ThreadState } from '../thread/state.ts';

export interface NewRunPlace {
  readonly runId: string;
  readonly threadId: string;
}

export interface Claim {
  readonly command: ThreadCommand & { type: 'StartRun' };
  readonly payloads: readonly PayloadWrite[];
  /** Called once: with the thread's state after the commit, or without when the run was not started by it. */
  settle(state?: ThreadState): void;
}

/** Undefined: it has no room, or others are before this run. */
export type Claimant = (run: NewRunPlace) => Claim | undefined;

/** The run that these facts create and that could start at once. */
export function startable(
  events: readonly ThreadEvent[],
  after: ThreadState,
  now: number,
): NewRunPlace | undefined {
  const created = events.find(({ type }) => type === 'RunCreated') as
    (ThreadEvent & { type: 'RunCreated' }) | undefined;
  if (created === undefined || created.data.notBefore > now) return undefined;
  const { runId, threadId } = created.data;
  const isNext = isLiving(after) && after.status === 'queued' && after.queue[0]?.runId === runId;
  return isNext ? { runId, threadId } : undefined;
}

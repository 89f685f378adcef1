/**
 * Lets a run start in the commit that creates it. An executor with a free permit offers a lease.
 *
 * X1 The start is an ordinary event that the thread machine judges. A run that has to wait is created without it.
 */
import type { PayloadWrite } from '../store/port/payloads.ts';
import type { ThreadCommand } from '../thread/decide.ts';
import type { ThreadEvent, ThreadEventMap } from '../thread/events.ts';
import { isLiving, type ThreadState } from '../thread/state.ts';

export interface InlineStart {
  readonly command: ThreadCommand & { type: 'StartRun' };
  readonly payloads: readonly PayloadWrite[];
  /** Called once: with what the commit left, or without it when the run did not start. */
  settle(started?: InlineStarted): void;
}

export interface InlineStarted {
  readonly state: ThreadState;
  /** Secret row of the run; undefined without one. */
  readonly secret: string | undefined;
}

/** Returns undefined without a free permit, or while other runs are due before this one. */
export type InlineStarter = (run: CreatedRun) => InlineStart | undefined;

export type CreatedRun = ThreadEventMap['RunCreated'];

/** Returns the run that these events create, if it could start at once. */
export function startableRun(
  events: readonly ThreadEvent[],
  after: ThreadState,
  now: number,
): CreatedRun | undefined {
  const created = events.find(({ type }) => type === 'RunCreated') as
    (ThreadEvent & { type: 'RunCreated' }) | undefined;
  if (created === undefined || created.data.notBefore > now) return undefined;
  const isNext = isLiving(after) && after.status === 'queued' && after.queue[0]?.runId === created.data.runId;
  return isNext ? created.data : undefined;
}

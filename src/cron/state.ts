/** What decisions about a cron need to know, folded from its facts. Plain JSON: it is stored as the snapshot. */
import type { CronContent, CronEvent } from './events.ts';

export interface LivingCron {
  readonly status: 'living';
  readonly cronId: string;
  readonly content: CronContent;
  readonly nextAt: number | null;
  /** The newest slot that is done with: neither it nor one before it comes again, whatever the clock says (cron/decide.ts has the exception). */
  readonly lastSlot: number | null;
}

export type CronState =
  { readonly status: 'absent' } | LivingCron | { readonly status: 'deleted'; readonly cronId: string };

export const initial: CronState = { status: 'absent' };

/** Whether a fact can happen. Slots are judged by what was planned: zones of the platform may have changed since. */
export function canFollow(state: CronState, event: CronEvent): boolean {
  if (event.type === 'CronCreated') return state.status === 'absent';
  if (state.status !== 'living') return false;
  switch (event.type) {
    case 'CronUpdated':
    case 'CronDeleted':
      return true;
    case 'CronFired':
    case 'CronSlotPassed': {
      const { slot, nextAt } = event.data;
      const isDue = state.nextAt !== null && slot >= state.nextAt;
      const isNew = state.lastSlot === null || slot > state.lastSlot;
      return isDue && isNew && (nextAt === null || nextAt > slot);
    }
  }
}

/** Total and pure: whether a fact can happen is `canFollow`'s business, what it means is told here. */
export function evolve(state: CronState, event: CronEvent): CronState {
  const { cronId } = event.data;
  switch (event.type) {
    case 'CronCreated':
    case 'CronUpdated': {
      const { nextAt } = event.data;
      const taken = state.status === 'living' ? state.lastSlot : null;
      // A plan before the newest slot means that a wrong clock took that slot.
      const lastSlot = taken !== null && nextAt !== null && nextAt <= taken ? null : taken;
      return { status: 'living', cronId, content: contentOf(event.data), nextAt, lastSlot };
    }
    case 'CronFired':
    case 'CronSlotPassed':
      if (state.status !== 'living') return state;
      return { ...state, nextAt: event.data.nextAt, lastSlot: event.data.slot };
    case 'CronDeleted':
      return { status: 'deleted', cronId };
  }
}

/** The members of a cron's content and nothing else. */
export const contentOf = (from: CronContent): CronContent => ({
  assistantId: from.assistantId,
  threadId: from.threadId,
  schedule: from.schedule,
  timezone: from.timezone,
  endTime: from.endTime,
  enabled: from.enabled,
  onRunCompleted: from.onRunCompleted,
  userId: from.userId,
  payload: from.payload,
  metadata: from.metadata,
});

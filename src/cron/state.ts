/** The state that cron decisions need, folded from events. Plain JSON: it is stored as the stream's snapshot. */
import type { CronContent, CronEvent } from './events.ts';

export interface LivingCron {
  readonly status: 'living';
  readonly cronId: string;
  readonly content: CronContent;
  readonly nextAt: number | null;
  /** Newest handled slot: slots up to it are not repeated, whatever the clock shows (exception in decide.ts). */
  readonly lastSlot: number | null;
}

export type CronState =
  { readonly status: 'absent' } | LivingCron | { readonly status: 'deleted'; readonly cronId: string };

export const initial: CronState = { status: 'absent' };

/** Tells whether an event can happen. Slots are compared with the plan, because time zone data may have changed. */
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

/** Total and pure: `canFollow` decides whether an event can happen, `evolve` only applies it. */
export function evolve(state: CronState, event: CronEvent): CronState {
  const { cronId } = event.data;
  switch (event.type) {
    case 'CronCreated':
    case 'CronUpdated': {
      const { nextAt } = event.data;
      const taken = state.status === 'living' ? state.lastSlot : null;
      // A next slot before `lastSlot` means that a clock that was ahead took `lastSlot`, so it is forgotten.
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

/** Picks the members of a cron's content. */
const contentOf = (from: CronContent): CronContent => ({
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

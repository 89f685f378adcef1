/**
 * Decides a cron command at `now`: returns an event, or a refusal with its reason. Pure.
 *
 * Each slot is computed from the previous slot, not from the clock. So a clock that goes back repeats no slot, and one
 * that jumps ahead skips none silently. Exception: changing, enabling or replanning a cron drops the plan and the slots
 * of a clock that was ahead of `now`.
 */
import type { CronContent, CronEvent } from './events.ts';
import { lastSlots, nextSlot } from './schedule.ts';
import { canFollow, type CronState, type LivingCron } from './state.ts';

export type CronCommand =
  | { type: 'CreateCron'; cronId: string; content: CronContent }
  /** `metadata` and `payload` are merged key by key; other members are replaced. */
  | { type: 'UpdateCron'; changes: Partial<CronContent> }
  /** Replans if the next slot is later than the first one after `now`. */
  | { type: 'ReplanCron' }
  | { type: 'TakeSlot'; due: DueSlot; by: { runId: string; threadId: string } | { reason: string } }
  | { type: 'DeleteCron' };

export type CronRefusal = { readonly code: 'cron-missing' | 'cron-exists' | 'slot-taken' | 'plan-holds' };

export type CronDecision =
  { readonly ok: true; readonly event: CronEvent } | { readonly ok: false; readonly refusal: CronRefusal };

/** Missed slots start one run for all of them, none, or one for each. */
export interface CatchUp {
  readonly mode: 'one' | 'none' | 'all';
  /** With `all`: maximum number of missed slots that start runs, the newest ones. */
  readonly limit: number;
}

export interface DueSlot {
  readonly slot: number;
  /** Oldest missed slot that this slot also stands for; null when it stands for itself alone. */
  readonly since: number | null;
  /** False: the slot was missed and starts no run. */
  readonly runs: boolean;
}

type PlannedContent = Pick<CronContent, 'schedule' | 'timezone' | 'endTime'>;

/** A slot handled later than this counts as missed. */
const MAX_DELAY_MS = 10_000;

const accept = (event: CronEvent): CronDecision => ({ ok: true, event });
const refuse = (code: CronRefusal['code']): CronDecision => ({ ok: false, refusal: { code } });

/** Returns the slot to handle at `now`, undefined when none is due. Further slots may be due after it. */
export function findDueSlot(
  { content, nextAt }: LivingCron,
  now: number,
  { mode, limit }: CatchUp,
): DueSlot | undefined {
  if (!content.enabled || nextAt === null || nextAt > now) return undefined;
  if (now - nextAt <= MAX_DELAY_MS) return { slot: nextAt, since: null, runs: true };
  const { endTime } = content;
  const isOver = endTime !== null && endTime < now;
  const maxSlots = mode === 'all' && !isOver ? limit : 1;
  const missed = lastSlots(content, isOver ? endTime : now, maxSlots).filter((slot) => slot >= nextAt);
  const slot = missed[0] ?? nextAt;
  const runs = !isOver && (mode !== 'none' || now - slot <= MAX_DELAY_MS);
  return { slot, since: slot > nextAt ? nextAt : null, runs };
}

export function decide(command: CronCommand, state: CronState, now: number): CronDecision {
  if (command.type === 'CreateCron') {
    const { cronId, content } = command;
    const event: CronEvent = {
      type: 'CronCreated',
      data: { cronId, ...content, nextAt: plan(content, now) },
    };
    return canFollow(state, event) ? accept(event) : refuse('cron-exists');
  }
  if (state.status !== 'living') return refuse('cron-missing');
  const { cronId } = state;
  switch (command.type) {
    case 'UpdateCron': {
      const { changes } = command;
      const metadata = { ...state.content.metadata, ...changes.metadata };
      const payload = { ...state.content.payload, ...changes.payload };
      const content = { ...state.content, ...changes, metadata, payload };
      return accept({
        type: 'CronUpdated',
        data: { cronId, ...content, nextAt: replan(state, content, now) },
      });
    }
    case 'ReplanCron': {
      const { content } = state;
      const nextAt = replan(state, content, now);
      const holds = !content.enabled || nextAt === state.nextAt;
      return holds
        ? refuse('plan-holds')
        : accept({ type: 'CronUpdated', data: { cronId, ...content, nextAt } });
    }
    case 'TakeSlot': {
      const { due, by } = command;
      const { slot, since } = due;
      const data = { cronId, slot, since, nextAt: plan(state.content, slot) };
      const event: CronEvent =
        'runId' in by
          ? { type: 'CronFired', data: { ...data, ...by } }
          : { type: 'CronSlotPassed', data: { ...data, ...by } };
      return canFollow(state, event) ? accept(event) : refuse('slot-taken');
    }
    case 'DeleteCron':
      return accept({ type: 'CronDeleted', data: { cronId } });
  }
}

/** First slot of a cron after a time; null when there is none before its end. */
export function plan(content: PlannedContent, after: number): number | null {
  return within(content, nextSlot(content, after));
}

/** Keeps the planned slot unless the schedule has changed or an earlier slot is due. */
function replan({ content: before, nextAt }: LivingCron, content: CronContent, now: number) {
  const planned = plan(content, now);
  // A disabled cron keeps showing its next slot; enabling it plans anew, so slots of the pause are skipped.
  const isSame =
    before.schedule === content.schedule &&
    before.timezone === content.timezone &&
    (before.enabled || !content.enabled);
  const isEarliest = nextAt !== null && (planned === null || nextAt <= planned);
  return isSame && isEarliest ? within(content, nextAt) : planned;
}

const within = ({ endTime }: PlannedContent, slot: number | null): number | null =>
  slot === null || (endTime !== null && slot > endTime) ? null : slot;

/**
 * What a command does to a cron: a fact, or the reason why not. Pure.
 *
 * A slot is counted from the slot before it and never from the clock, so a clock that goes back brings none again and
 * one that goes forward leaves none out unseen. One exception: a plan or a slot that only a clock far ahead of the right
 * time can have made is given up when the cron is changed, enabled, or found at a start.
 */
import type { CronContent, CronEvent } from './events.ts';
import { lastSlots, nextSlot } from './schedule.ts';
import { canFollow, type CronState, type LivingCron } from './state.ts';

export type CronCommand =
  | { type: 'CreateCron'; cronId: string; content: CronContent; now: number }
  /** `metadata` and `payload` are merged into what is there, key by key; all else replaces. */
  | { type: 'UpdateCron'; changes: Partial<CronContent>; now: number }
  /** Plans anew when the next slot lies after the first one that `now` allows. */
  | { type: 'ReplanCron'; now: number }
  | { type: 'TakeSlot'; due: DueSlot; by: { runId: string; threadId: string } | { reason: string } }
  | { type: 'DeleteCron' };

export type CronRefusal = { readonly code: 'cron-missing' | 'cron-exists' | 'slot-taken' | 'plan-holds' };

export type CronDecision =
  { readonly ok: true; readonly event: CronEvent } | { readonly ok: false; readonly refusal: CronRefusal };

/** What happens to slots that went by while nobody looked: one run for all of them, none, or each its own. */
export interface CatchUp {
  readonly mode: 'one' | 'none' | 'all';
  /** With `all`: how many at most, the newest ones. */
  readonly limit: number;
}

export interface DueSlot {
  readonly slot: number;
  /** The oldest one that it stands for besides itself. */
  readonly since: number | null;
  /** False: it went by, and nothing is to run for it. */
  readonly runs: boolean;
}

/** A slot that is dealt with later than this was missed. */
const LATE_MS = 10_000;
/** A slot that was taken within this time ahead of the clock is never repeated: a day, and an hour of summer time. */
const MAX_CLOCK_ERROR_MS = 90_000_000;

const accept = (event: CronEvent): CronDecision => ({ ok: true, event });
const refuse = (code: CronRefusal['code']): CronDecision => ({ ok: false, refusal: { code } });

/** The slot to deal with at `now`, undefined when none is due. After it is taken there may be another one. */
export function findDueSlot(
  { content, nextAt }: LivingCron,
  now: number,
  { mode, limit }: CatchUp,
): DueSlot | undefined {
  if (!content.enabled || nextAt === null || nextAt > now) return undefined;
  if (now - nextAt <= LATE_MS) return { slot: nextAt, since: null, runs: true };
  const { endTime } = content;
  const isOver = endTime !== null && endTime < now;
  const most = mode === 'all' && !isOver ? limit : 1;
  const missed = lastSlots(content, isOver ? endTime : now, most).filter((slot) => slot >= nextAt);
  const slot = missed[0] ?? nextAt;
  const runs = !isOver && (mode !== 'none' || now - slot <= LATE_MS);
  return { slot, since: slot > nextAt ? nextAt : null, runs };
}

export function decide(command: CronCommand, state: CronState): CronDecision {
  if (command.type === 'CreateCron') {
    const { cronId, content, now } = command;
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
      const { changes, now } = command;
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
      const nextAt = replan(state, content, command.now);
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

function plan(content: CronContent, after: number): number | null {
  return within(content, nextSlot(content, after));
}

/** A slot that waits stays planned, unless the schedule has changed or an earlier slot is still to come. */
function replan({ content: before, nextAt, lastSlot }: LivingCron, content: CronContent, now: number) {
  const isClockWrong = lastSlot !== null && lastSlot - now > MAX_CLOCK_ERROR_MS;
  const planned = plan(content, isClockWrong ? now : Math.max(now, lastSlot ?? now));
  // A cron that is disabled keeps its next slot to show; enabling it plans anew, so that no slot of the pause comes.
  const isSame =
    before.schedule === content.schedule &&
    before.timezone === content.timezone &&
    (before.enabled || !content.enabled);
  const isEarliest = nextAt !== null && (planned === null || nextAt <= planned);
  return isSame && isEarliest ? within(content, nextAt) : planned;
}

const within = ({ endTime }: CronContent, slot: number | null): number | null =>
  slot === null || (endTime !== null && slot > endTime) ? null : slot;

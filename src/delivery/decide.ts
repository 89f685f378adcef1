/** What follows from an attempt, and from the deletion of what a delivery reports. Pure. */
import type { DeliveryEvent } from './events.ts';
import { pauseAfter, retryAfterMs } from './schedule.ts';

export type DeliveryStatus = 'owed' | 'delivered' | 'failed';

export interface DeliveryState {
  readonly deliveryId: string;
  readonly status: DeliveryStatus;
  /** Of its whole life. */
  readonly attempts: number;
  /** Since it was owed, or was asked for again. */
  readonly tries: number;
  /** What it reports is deleted. */
  readonly orphan: boolean;
}

/** What came of a POST. */
export type Posted =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** The header as it came. */
      readonly retryAfter?: string;
      /** The beginning of the answer's body. */
      readonly response?: string;
    }
  | { readonly kind: 'failed'; readonly error: string }
  /** The policy does not let it go there: nothing was sent, and nothing will ever be. */
  | { readonly kind: 'denied'; readonly error: string };

const GONE = 410;

export const isTaken = (posted: Posted): boolean =>
  posted.kind === 'answered' && posted.status >= 200 && posted.status < 300;

/** A receiver that says nothing, or that it cannot: the next webhook would fare no better. */
export const isUnwell = (posted: Posted): boolean =>
  posted.kind === 'failed' || (posted.kind === 'answered' && (posted.status >= 500 || posted.status === 429));

export interface AttemptFacts {
  /** How long it took. */
  readonly ms: number;
  /** When it was over, milliseconds since 1970. */
  readonly now: number;
  /** What the pause before the next one is counted from. */
  readonly dueFrom: number;
  readonly pausesMs?: readonly number[] | undefined;
}

/** W2 Only a 2xx is success. */
export function judgeAttempt(
  posted: Posted,
  { deliveryId, attempts, tries }: DeliveryState,
  { ms, now, dueFrom, pausesMs }: AttemptFacts,
): DeliveryEvent & { type: 'WebhookDelivered' | 'WebhookAttemptFailed' } {
  const attempt = attempts + 1;
  const answer = posted.kind === 'answered' ? posted : undefined;
  const told = answer?.response === undefined ? {} : { response: answer.response };
  if (answer !== undefined && isTaken(posted))
    return { type: 'WebhookDelivered', data: { deliveryId, attempt, status: answer.status, ms, ...told } };
  const isFinal = posted.kind === 'denied' || answer?.status === GONE;
  const pause = isFinal ? undefined : pauseAfter(tries + 1, deliveryId, pausesMs);
  const nextAt =
    pause === undefined ? null : dueFrom + Math.max(pause, retryAfterMs(answer?.retryAfter, now));
  const [status, error] =
    posted.kind === 'answered'
      ? [posted.status, `the receiver answered ${posted.status}`]
      : [null, posted.error];
  return {
    type: 'WebhookAttemptFailed',
    data: { deliveryId, attempt, status, error, ms, nextAt, ...told },
  };
}

/** L3 What of a delivery happens when its thread or run is deleted: what is owed is still sent, the rest goes. */
export function onSourceDeleted({ deliveryId, status, orphan }: DeliveryState): DeliveryEvent | undefined {
  if (status !== 'owed') return { type: 'WebhookForgotten', data: { deliveryId } };
  return orphan ? undefined : { type: 'WebhookOrphaned', data: { deliveryId } };
}

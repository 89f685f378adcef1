/** Decides what follows from an attempt at a delivery, and from the deletion of its thread or run. Pure. */
import type { DeliveryEvent } from './events.ts';
import { pauseAfter, retryAfterMs } from './schedule.ts';

export type DeliveryStatus = 'owed' | 'delivered' | 'failed';

export interface DeliveryState {
  readonly deliveryId: string;
  readonly status: DeliveryStatus;
  /** Attempts ever made. */
  readonly attempts: number;
  /** Attempts since the delivery became owed or was requested again. */
  readonly tries: number;
  /** The run or thread that it reports on is deleted. */
  readonly orphan: boolean;
}

/** Result of a POST. */
export type Posted =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** Raw header value. */
      readonly retryAfter?: string;
      /** Beginning of the answer's body. */
      readonly response?: string;
    }
  | { readonly kind: 'failed'; readonly error: string }
  /** The URL policy forbids the receiver: nothing was sent, and no attempt follows. */
  | { readonly kind: 'denied'; readonly error: string };

const GONE = 410;

const isTaken = (posted: Posted): boolean =>
  posted.kind === 'answered' && posted.status >= 200 && posted.status < 300;

/** The receiver does not answer or is overloaded, so other webhooks to it would fail too. */
export const isUnwell = (posted: Posted): boolean =>
  posted.kind === 'failed' || (posted.kind === 'answered' && (posted.status >= 500 || posted.status === 429));

export interface AttemptFacts {
  /** Duration in milliseconds. */
  readonly ms: number;
  /** End in milliseconds since 1970. */
  readonly now: number;
  /** Start of the pause before the next attempt (`dueTime`). */
  readonly dueFrom: number;
  readonly pausesMs?: readonly number[] | undefined;
}

/** W2 Turns the result of an attempt into its event; only a 2xx status is success. */
export function judgeAttempt(
  posted: Posted,
  { deliveryId, attempts, tries }: DeliveryState,
  { ms, now, dueFrom, pausesMs }: AttemptFacts,
): DeliveryEvent & { type: 'WebhookDelivered' | 'WebhookAttemptFailed' } {
  const attempt = attempts + 1;
  const answer = posted.kind === 'answered' ? posted : undefined;
  const received = answer?.response === undefined ? {} : { response: answer.response };
  if (answer !== undefined && isTaken(posted))
    return {
      type: 'WebhookDelivered',
      data: { deliveryId, attempt, status: answer.status, ms, ...received },
    };
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
    data: { deliveryId, attempt, status, error, ms, nextAt, ...received },
  };
}

/** L3 When the thread or run of a delivery is deleted, an owed delivery is still sent and any other is forgotten. */
export function onSourceDeleted({ deliveryId, status, orphan }: DeliveryState): DeliveryEvent | undefined {
  if (status !== 'owed') return { type: 'WebhookForgotten', data: { deliveryId } };
  return orphan ? undefined : { type: 'WebhookOrphaned', data: { deliveryId } };
}

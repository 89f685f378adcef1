/**
 * The events of one owed webhook. It has its own stream because it outlives the thread of its run. Most events record
 * external results, so no state machine checks them; `decide.ts` derives them and versions order them.
 */
interface DeliveryEventMap {
  /** Appended in the commit that ends the run (W1). */
  WebhookOwed: { deliveryId: string; runId: string; threadId: string; url: string };
  /** `response`: beginning of the receiver's answer. */
  WebhookDelivered: { deliveryId: string; attempt: number; status: number; ms: number; response?: string };
  /** `nextAt`: time of the next attempt in milliseconds since 1970; null: no further attempt. */
  WebhookAttemptFailed: {
    deliveryId: string;
    attempt: number;
    status: number | null;
    error: string;
    ms: number;
    nextAt: number | null;
    response?: string;
  };
  /** A client requested redelivery: it is owed now, with the full number of attempts. */
  WebhookRedeliveryRequested: { deliveryId: string };
  /** The body of an old delivery is erased, so it can no longer be redelivered. */
  WebhookBodyErased: { deliveryId: string };
  /** The thread or run was deleted while the delivery was owed: it is hidden, and forgotten once it ends. */
  WebhookOrphaned: { deliveryId: string };
  /** The stream's tombstone: all earlier events are purged in the same commit (L3). */
  WebhookForgotten: { deliveryId: string };
}

export type DeliveryEvent = {
  [K in keyof DeliveryEventMap]: { readonly type: K; readonly data: DeliveryEventMap[K] };
}[keyof DeliveryEventMap];

/** The types of events that this program can read. */
export const DELIVERY_EVENTS: Readonly<Record<DeliveryEvent['type'], true>> = {
  WebhookOwed: true,
  WebhookDelivered: true,
  WebhookAttemptFailed: true,
  WebhookRedeliveryRequested: true,
  WebhookBodyErased: true,
  WebhookOrphaned: true,
  WebhookForgotten: true,
};

export const deliveryStream = (deliveryId: string): string => `delivery-${deliveryId}`;

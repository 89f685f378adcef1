/**
 * The facts of one owed webhook, in a stream of its own: it outlives the thread whose run it reports. Most of them
 * record what happened outside, so no machine judges them; `decide.ts` says what follows, and versions order them.
 */
export interface DeliveryEventMap {
  /** Appended in the commit that ends the run (W1). */
  WebhookOwed: { deliveryId: string; runId: string; threadId: string; url: string };
  /** `response`: the beginning of what the receiver answered. */
  WebhookDelivered: { deliveryId: string; attempt: number; status: number; ms: number; response?: string };
  /** `nextAt`: when to try again, milliseconds since 1970; null when nobody will. */
  WebhookAttemptFailed: {
    deliveryId: string;
    attempt: number;
    status: number | null;
    error: string;
    ms: number;
    nextAt: number | null;
    response?: string;
  };
  /** Somebody wants it sent again, now and with all its attempts before it. Owed as on the first day. */
  WebhookRedeliveryRequested: { deliveryId: string };
  /** It was delivered long ago: the body is gone, and with it the chance to send it again. */
  WebhookBodyErased: { deliveryId: string };
  /** Its thread or run was deleted while it was owed: nobody sees it any more, and it is forgotten once it is over. */
  WebhookOrphaned: { deliveryId: string };
  /** The stream's tombstone: everything before it is purged in the same commit (L3). */
  WebhookForgotten: { deliveryId: string };
}

export type DeliveryEvent = {
  [K in keyof DeliveryEventMap]: { readonly type: K; readonly data: DeliveryEventMap[K] };
}[keyof DeliveryEventMap];

export const deliveryStream = (deliveryId: string): string => `delivery-${deliveryId}`;
export const isDeliveryStream = (stream: string): boolean => stream.startsWith('delivery-');

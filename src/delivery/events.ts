/**
 * The facts of one owed webhook, in a stream of its own: it outlives the thread whose run it reports. These facts
 * record what happened outside, so no machine judges them; the version check alone orders them.
 */
export interface DeliveryEventMap {
  /** Appended in the commit that ends the run (W1). */
  WebhookOwed: { deliveryId: string; runId: string; threadId: string; url: string };
  WebhookDelivered: { deliveryId: string; attempt: number; status: number; ms: number };
  /** `nextAt`: when to try again, milliseconds since 1970; null when the attempts are used up. */
  WebhookAttemptFailed: {
    deliveryId: string;
    attempt: number;
    status: number | null;
    error: string;
    ms: number;
    nextAt: number | null;
  };
}

export type DeliveryEvent = {
  [K in keyof DeliveryEventMap]: { readonly type: K; readonly data: DeliveryEventMap[K] };
}[keyof DeliveryEventMap];

export const deliveryStream = (deliveryId: string): string => `delivery-${deliveryId}`;

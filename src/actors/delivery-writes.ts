/** Builds the commit for events of a delivery. L3 `WebhookForgotten` also removes its stream, row and body. */
import { deliveryStream, type DeliveryEvent } from '../delivery/events.ts';
import type { Append } from '../store/port/log.ts';
import type { PayloadWrite } from '../store/port/payloads.ts';

/** `version`: the version that the events were decided on. */
export function toWrites(
  { deliveryId, version }: { readonly deliveryId: string; readonly version: number },
  events: readonly DeliveryEvent[],
): { append: Append; payloads: readonly PayloadWrite[] } {
  const stream = deliveryStream(deliveryId);
  const payloads = events.flatMap(({ type }, index): PayloadWrite[] => {
    if (type === 'WebhookBodyErased') return [{ kind: 'erase-body', deliveryId }];
    if (type !== 'WebhookForgotten') return [];
    const tombstone = version + index + 1;
    return [
      { kind: 'erase-body', deliveryId },
      { kind: 'purge-stream', stream, tombstone },
    ];
  });
  return { append: { stream, expected: version, events }, payloads };
}

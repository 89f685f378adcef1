/** Webhooks as clients see them. A4 The URL is masked: it may hold secrets. */
import { z } from 'zod';
import type { DeliveryEvent } from '../../delivery/events.ts';
import { maskUrl } from '../../delivery/mask.ts';
import { toTimestamp } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Recorded } from '../../store/port/events.ts';
import { id, time } from '../reply-fields.ts';
import type { DeliveryRecord } from '../../store/port/views/deliveries.ts';

export const webhook = z
  .object({
    webhook_id: id.meta({ description: 'The `webhook-id` of every attempt.' }),
    run_id: id,
    thread_id: id,
    url: z.string().meta({ description: 'Values of the query are masked.' }),
    state: z.enum(['owed', 'delivered', 'failed']),
    created_at: time,
    next_attempt_at: time.nullable(),
    attempts: z.array(
      z.object({
        at: time,
        status: z.int().nullable().meta({ description: 'Null when the receiver did not reply.' }),
        latency_ms: z.int(),
        error: z.string().nullable(),
        response: z.string().nullable().meta({ description: 'The first KB of the reply.' }),
      }),
    ),
  })
  .meta({ id: 'Webhook' });

export const toWebhook = (
  delivery: DeliveryRecord,
  events: readonly Recorded<DeliveryEvent>[],
): JsonObject => ({
  webhook_id: delivery.deliveryId,
  run_id: delivery.runId,
  thread_id: delivery.threadId,
  url: maskUrl(delivery.url),
  state: delivery.status,
  created_at: toTimestamp(delivery.createdAt),
  next_attempt_at: delivery.nextAt === null ? null : toTimestamp(delivery.nextAt),
  attempts: events.flatMap(toAttempt),
});

function toAttempt(event: Recorded<DeliveryEvent>): JsonObject[] {
  if (event.type !== 'WebhookDelivered' && event.type !== 'WebhookAttemptFailed') return [];
  const { status, ms, response } = event.data;
  return [
    {
      at: toTimestamp(event.meta.at),
      status,
      latency_ms: ms,
      error: event.type === 'WebhookDelivered' ? null : event.data.error,
      response: response ?? null,
    },
  ];
}

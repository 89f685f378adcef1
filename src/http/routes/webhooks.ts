/**
 * Routes that read webhook deliveries and send them again. A2 Reading a delivery needs read access to the run's thread,
 * and sending it again needs update access; A3 any other delivery looks missing.
 */
import { Hono } from 'hono';
import type { JsonObject } from '../../kernel/json.ts';
import { deliveryStream, type DeliveryEvent } from '../../delivery/events.ts';
import { maskUrl } from '../../delivery/mask.ts';
import { toTimestamp } from '../../kernel/clock.ts';
import type { Recorded } from '../../log/events.ts';
import { getDelivery, searchDeliveries, type DeliveryRecord } from '../../projections/delivery-queries.ts';
import { authorise } from '../access.ts';
import type { Env, ServerContext } from '../context.ts';
import { paginationHeaders } from '../pagination.ts';
import { readQuery } from '../query.ts';
import { noBody, noWebhook } from '../replies.ts';
import { check, pathUuid } from '../schemas/common.ts';
import { webhookList, webhookRedeliver } from '../schemas/webhooks.ts';

/** Maximum number of attempts shown per delivery, the latest ones. */
const MAX_ATTEMPTS = 100;
/** Maximum number of deliveries sent again per request. */
const MAX_REDELIVERED = 1000;

export function webhookRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();
  const { log, deliveries } = context;

  async function render(delivery: DeliveryRecord): Promise<JsonObject> {
    const from = Math.max(1, delivery.version - MAX_ATTEMPTS + 1);
    const events = await log.readStream(deliveryStream(delivery.deliveryId), from, MAX_ATTEMPTS);
    return {
      webhook_id: delivery.deliveryId,
      run_id: delivery.runId,
      thread_id: delivery.threadId,
      url: maskUrl(delivery.url),
      state: delivery.status,
      created_at: toTimestamp(delivery.createdAt),
      next_attempt_at: delivery.nextAt === null ? null : toTimestamp(delivery.nextAt),
      attempts: events.flatMap((event) => toAttempt(event as Recorded<DeliveryEvent>)),
    };
  }

  app.get('/webhooks', async (c) => {
    const { limit, offset, ...wanted } = check(
      webhookList,
      readQuery(new URL(c.req.url), {
        ...{ run_id: 'text', thread_id: 'text', host: 'text', state: 'text' },
        ...{ limit: 'number', offset: 'number' },
      }),
    );
    const { filter } = await authorise(context, c.var.actor, 'threads:read', {
      ...(wanted.thread_id !== undefined && { thread_id: wanted.thread_id }),
    });
    const { deliveries: found, total } = await searchDeliveries(
      log.rows,
      {
        ...{ runId: wanted.run_id, threadId: wanted.thread_id, status: wanted.state },
        host: wanted.host?.toLowerCase(),
      },
      { limit, offset },
      filter,
    );
    const page: JsonObject[] = [];
    for (const delivery of found) page.push(await render(delivery));
    return c.json(page, { headers: paginationHeaders(offset, found.length, total) });
  });

  app.get('/webhooks/:webhook_id', async (c) => {
    const id = pathUuid(c.req.param('webhook_id'), 'webhook_id');
    const { filter = [] } = await authorise(context, c.var.actor, 'threads:read', {});
    const delivery = await getDelivery(log.rows, id, filter);
    if (delivery === undefined) throw noWebhook();
    return c.json(await render(delivery));
  });

  app.post('/webhooks/:webhook_id/redeliver', async (c) => {
    const id = pathUuid(c.req.param('webhook_id'), 'webhook_id');
    const { filter = [] } = await authorise(context, c.var.actor, 'threads:update', { metadata: {} });
    if ((await getDelivery(log.rows, id, filter)) === undefined) throw noWebhook();
    if (!(await deliveries.redeliver(id))) throw noBody();
    const delivery = await getDelivery(log.rows, id, filter);
    if (delivery === undefined) throw noWebhook();
    return c.json(await render(delivery));
  });

  app.post('/webhooks/redeliver', async (c) => {
    const wanted = check(webhookRedeliver, c.var.body ?? {});
    const { filter } = await authorise(context, c.var.actor, 'threads:update', {
      ...(wanted.thread_id !== undefined && { thread_id: wanted.thread_id }),
      metadata: {},
    });
    const { deliveries: found, total } = await searchDeliveries(
      log.rows,
      {
        ...{ runId: wanted.run_id, threadId: wanted.thread_id, status: wanted.state },
        ...{ since: wanted.since, until: wanted.until, hasBody: true },
        host: wanted.host?.toLowerCase(),
      },
      { limit: MAX_REDELIVERED, offset: 0 },
      filter,
    );
    const done = await Promise.all(
      found.map(async ({ deliveryId }) => ((await deliveries.redeliver(deliveryId)) ? [deliveryId] : [])),
    );
    return c.json({ webhook_ids: done.flat(), more: total > found.length });
  });

  return app;
}

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

/**
 * Endpoints that read webhook deliveries and send them again. A2 Reading a delivery needs read access to the run's
 * thread, and sending it again needs update access; A3 any other delivery looks missing.
 */
import { z } from 'zod';
import { deliveryStream, type DeliveryEvent } from '../../delivery/events.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Recorded } from '../../store/port/events.ts';
import { authorise } from '../access.ts';
import type { ServerContext } from '../context.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { json, PAGE_HEADERS, problems } from '../openapi/descriptions.ts';
import { paginationHeaders } from '../pagination.ts';
import { jsonReply, noBody, noWebhook } from '../replies.ts';
import { webhookList, webhookRedeliver } from './schemas.ts';
import { toWebhook, webhook } from './shapes.ts';
import type { DeliveryRecord } from '../../store/port/views/deliveries.ts';

/** Maximum number of attempts shown per delivery, the latest ones. */
const MAX_ATTEMPTS = 100;
/** Maximum number of deliveries sent again per request. */
const MAX_REDELIVERED = 1000;

export const webhookEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/webhooks',
    tag: 'webhooks',
    summary: 'List webhooks and their attempts',
    description:
      'Newest first. `host` is the host of the receiver, with its port unless it is the default port, or `self` for a ' +
      'path of this server.',
    query: webhookList,
    replies: { 200: json(z.array(webhook), 'A page of webhooks', PAGE_HEADERS) },
    async handle({ context, actor, query }) {
      const { limit, offset, ...wanted } = query;
      const { filter } = await authorise(context, actor, 'threads:read', {
        ...(wanted.thread_id !== undefined && { thread_id: wanted.thread_id }),
      });
      const { deliveries, total } = await context.log.views.deliveries.search(
        {
          ...{ runId: wanted.run_id, threadId: wanted.thread_id, status: wanted.state },
          host: wanted.host?.toLowerCase(),
        },
        { limit, offset },
        filter,
      );
      const page: JsonObject[] = [];
      for (const delivery of deliveries) page.push(await shownWebhook(context, delivery));
      return jsonReply(page, 200, paginationHeaders(offset, deliveries.length, total));
    },
  }),
  endpoint({
    method: 'post',
    path: '/webhooks/redeliver',
    tag: 'webhooks',
    summary: 'Send the webhooks of a time range again',
    description:
      'Webhooks that became owed at or after `since` and before `until`, and whose delivery failed or, with `state`, ' +
      'succeeded; at most 1000, newest first. Each keeps its id and its bytes.',
    body: webhookRedeliver,
    replies: {
      200: json(
        z.object({ webhook_ids: z.array(z.uuid()), more: z.boolean() }),
        'Ids of the webhooks that are sent again, and whether more match',
      ),
    },
    async handle({ context, actor, body: wanted }) {
      const { filter } = await authorise(context, actor, 'threads:update', {
        ...(wanted.thread_id !== undefined && { thread_id: wanted.thread_id }),
        metadata: {},
      });
      const { deliveries, total } = await context.log.views.deliveries.search(
        {
          ...{ runId: wanted.run_id, threadId: wanted.thread_id, status: wanted.state },
          ...{ since: wanted.since, until: wanted.until, hasBody: true },
          host: wanted.host?.toLowerCase(),
        },
        { limit: MAX_REDELIVERED, offset: 0 },
        filter,
      );
      const done = await Promise.all(
        deliveries.map(async ({ deliveryId }) =>
          (await context.deliveries.redeliver(deliveryId)) ? [deliveryId] : [],
        ),
      );
      return jsonReply({ webhook_ids: done.flat(), more: total > deliveries.length });
    },
  }),
  endpoint({
    method: 'get',
    path: '/webhooks/{webhook_id}',
    tag: 'webhooks',
    summary: 'Get a webhook and its attempts',
    replies: { 200: json(webhook, 'The webhook'), ...problems(404) },
    async handle({ context, actor, params }) {
      const { filter = [] } = await authorise(context, actor, 'threads:read', {});
      const delivery = await context.log.views.deliveries.get(params.webhook_id, filter);
      if (delivery === undefined) throw noWebhook();
      return jsonReply(await shownWebhook(context, delivery));
    },
  }),
  endpoint({
    method: 'post',
    path: '/webhooks/{webhook_id}/redeliver',
    tag: 'webhooks',
    summary: 'Send a webhook again',
    description: 'It is sent at once and gets all its attempts again. It keeps its id and its bytes.',
    replies: { 200: json(webhook, 'The webhook, owed again'), ...problems(404, 409) },
    async handle({ context, actor, params: { webhook_id: id } }) {
      const { deliveries } = context.log.views;
      const { filter = [] } = await authorise(context, actor, 'threads:update', { metadata: {} });
      if ((await deliveries.get(id, filter)) === undefined) throw noWebhook();
      if (!(await context.deliveries.redeliver(id))) throw noBody();
      const delivery = await deliveries.get(id, filter);
      if (delivery === undefined) throw noWebhook();
      return jsonReply(await shownWebhook(context, delivery));
    },
  }),
];

async function shownWebhook({ log }: ServerContext, delivery: DeliveryRecord): Promise<JsonObject> {
  const from = Math.max(1, delivery.version - MAX_ATTEMPTS + 1);
  const events = await log.readStream(deliveryStream(delivery.deliveryId), from, MAX_ATTEMPTS);
  return toWebhook(delivery, events as Recorded<DeliveryEvent>[]);
}

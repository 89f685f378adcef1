import { z } from 'zod';
import { webhookList, webhookRedeliver } from '../schemas/webhooks.ts';
import { json, PAGE_HEADERS, problems, type Operation } from './operation.ts';
import { webhook } from './shapes.ts';

export const webhookOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/webhooks',
    tag: 'webhooks',
    summary: 'List webhooks and their attempts',
    description:
      'The newest first. `host` is that of the receiver, with its port where it is not the usual one, or `self` for ' +
      'a path of this server.',
    query: webhookList,
    replies: { 200: json(z.array(webhook), 'A page of webhooks', PAGE_HEADERS) },
  },
  {
    method: 'post',
    path: '/webhooks/redeliver',
    tag: 'webhooks',
    summary: 'Send the webhooks of a time range again',
    description:
      'Those that were owed from `since` on and before `until`, and were given up or, with `state`, delivered; at ' +
      'most 1000, the newest first. Each keeps its id and its bytes.',
    body: webhookRedeliver,
    replies: {
      200: json(
        z.object({ webhook_ids: z.array(z.uuid()), more: z.boolean() }),
        'Those that are owed again, and whether there are more',
      ),
    },
  },
  {
    method: 'get',
    path: '/webhooks/{webhook_id}',
    tag: 'webhooks',
    summary: 'Get a webhook and its attempts',
    replies: { 200: json(webhook, 'The webhook'), ...problems(404) },
  },
  {
    method: 'post',
    path: '/webhooks/{webhook_id}/redeliver',
    tag: 'webhooks',
    summary: 'Send a webhook again',
    description: 'Now, and with all its attempts before it. It keeps its id and its bytes.',
    replies: { 200: json(webhook, 'The webhook, owed again'), ...problems(404, 409) },
  },
];

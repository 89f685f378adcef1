/** Endpoints that read, search and count crons. A2 The handler's filter is part of every query. */
import { z } from 'zod';
import type { Actor } from '../../auth/authenticate.ts';
import { toTimestamp } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { authorise, grantedSearch } from '../access.ts';
import { toAssistantId } from '../assistants/access.ts';
import type { ServerContext } from '../context.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { json, PAGE_HEADERS, problems } from '../openapi/descriptions.ts';
import { paginationHeaders } from '../pagination.ts';
import { jsonReply, noCron } from '../replies.ts';
import { pick } from '../select.ts';
import { cronConditions, cronCount, cronSearch } from './schemas.ts';
import { cron, toCron } from './shapes.ts';
import type { CronConditions } from '../../store/port/views/crons.ts';

export const cronEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/runs/crons/search',
    changes: false,
    tag: 'crons',
    summary: 'Search crons',
    description: '`select` may also name `now`, the time of the reply.',
    body: cronSearch,
    replies: { 200: json(z.array(cron), 'A page of crons', PAGE_HEADERS) },
    async handle({ context, actor, body }) {
      const { limit, offset, select } = body;
      const { conditions, filter } = await grant(context, actor, body, { limit, offset });
      const { crons, total } = await context.log.views.crons.search(
        { ...conditions, sortBy: body.sort_by, sortOrder: body.sort_order, limit, offset },
        filter,
      );
      // `now` (the time of the reply) is included only if selected: it is not part of a cron.
      const now = select?.includes('now') === true && { now: toTimestamp(context.clock.now()) };
      return jsonReply(
        crons.map((each) => pick({ ...toCron(each), ...now }, select)),
        200,
        paginationHeaders(offset, crons.length, total),
      );
    },
  }),
  endpoint({
    method: 'post',
    path: '/runs/crons/count',
    changes: false,
    tag: 'crons',
    summary: 'Count crons',
    body: cronCount,
    replies: { 200: json(z.int(), 'Number of crons that match') },
    async handle({ context, actor, body }) {
      const { conditions, filter } = await grant(context, actor, body, { limit: 0, offset: 0 });
      return jsonReply(await context.log.views.crons.count(conditions, filter));
    },
  }),
  endpoint({
    method: 'get',
    path: '/runs/crons/{cron_id}',
    tag: 'crons',
    summary: 'Get a cron',
    replies: { 200: json(cron, 'The cron'), ...problems(404) },
    async handle({ context, actor, params: { cron_id: cronId } }) {
      const { filter } = await authorise(context, actor, 'crons:read', { cron_id: cronId });
      const found = await context.log.views.crons.get(cronId, filter);
      if (found === undefined) throw noCron(cronId);
      return jsonReply(toCron(found));
    },
  }),
];

/** A2 Filters of the handlers of crons and of their threads, and values that they add, are part of the query. */
async function grant(
  context: ServerContext,
  actor: Actor,
  wanted: z.output<typeof cronCount>,
  page: JsonObject,
) {
  const { assistantId, threadId, metadata = {} } = conditionsOf(wanted);
  const granted = await authorise(context, actor, 'crons:search', {
    assistant_id: assistantId ?? null,
    thread_id: threadId ?? null,
    metadata,
    ...page,
  });
  const { enabled } = wanted;
  const conditions = conditionsOf({ ...grantedSearch(cronConditions, granted), enabled });
  const { filter: threadFilter } = await (conditions.threadId === undefined
    ? authorise(context, actor, 'threads:search', {})
    : authorise(context, actor, 'threads:read', { thread_id: conditions.threadId }));
  return { conditions: { ...conditions, threadFilter }, filter: granted.filter };
}

const conditionsOf = (wanted: z.output<typeof cronCount>): CronConditions => ({
  ...(wanted.assistant_id !== undefined && { assistantId: toAssistantId(wanted.assistant_id) }),
  ...(wanted.thread_id !== undefined && { threadId: wanted.thread_id }),
  ...(wanted.enabled !== undefined && { enabled: wanted.enabled }),
  ...(wanted.metadata !== undefined && { metadata: wanted.metadata }),
});

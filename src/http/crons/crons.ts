/** Routes that read, search and count crons. A2 The handler's filter is part of every query. */
import { Hono } from 'hono';
import type { z } from 'zod';
import type { Actor } from '../../auth/authenticate.ts';
import { toTimestamp } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { countCrons, getCron, searchCrons, type CronConditions } from '../../projections/cron-queries.ts';
import { authorise, grantedSearch } from '../access.ts';
import { toAssistantId } from '../assistants/access.ts';
import type { Env, ServerContext } from '../context.ts';
import { paginationHeaders } from '../pagination.ts';
import { noCron } from '../replies.ts';
import { check, pathUuid } from '../check.ts';
import { pick } from '../select.ts';
import { cronConditions, cronCount, cronSearch } from './schemas.ts';
import { toCron } from '../serializers.ts';

export function cronRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();
  const { rows } = context.log;

  /** A2 Filters of the handlers of crons and of their threads, and values that they add, are part of the query. */
  async function grant(actor: Actor, wanted: z.output<typeof cronCount>, page: JsonObject) {
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

  app.post('/runs/crons/search', async (c) => {
    const search = check(cronSearch, c.var.body ?? {});
    const { limit, offset, select } = search;
    const { conditions, filter } = await grant(c.var.actor, search, { limit, offset });
    const { crons, total } = await searchCrons(
      rows,
      { ...conditions, sortBy: search.sort_by, sortOrder: search.sort_order, limit, offset },
      filter,
    );
    // `now` (the time of the reply) is included only if selected: it is not part of a cron.
    const now = select?.includes('now') === true && { now: toTimestamp(context.clock.now()) };
    return c.json(
      crons.map((cron) => pick({ ...toCron(cron), ...now }, select)),
      200,
      paginationHeaders(offset, crons.length, total),
    );
  });

  app.post('/runs/crons/count', async (c) => {
    const wanted = check(cronCount, c.var.body ?? {});
    const { conditions, filter } = await grant(c.var.actor, wanted, { limit: 0, offset: 0 });
    return c.json(await countCrons(rows, conditions, filter));
  });

  app.get('/runs/crons/:cron_id', async (c) => {
    const cronId = pathUuid(c.req.param('cron_id'), 'cron_id');
    const { filter } = await authorise(context, c.var.actor, 'crons:read', { cron_id: cronId });
    const cron = await getCron(rows, cronId, filter);
    if (cron === undefined) throw noCron(cronId);
    return c.json(toCron(cron));
  });

  return app;
}

const conditionsOf = (wanted: z.output<typeof cronCount>): CronConditions => ({
  ...(wanted.assistant_id !== undefined && { assistantId: toAssistantId(wanted.assistant_id) }),
  ...(wanted.thread_id !== undefined && { threadId: wanted.thread_id }),
  ...(wanted.enabled !== undefined && { enabled: wanted.enabled }),
  ...(wanted.metadata !== undefined && { metadata: wanted.metadata }),
});

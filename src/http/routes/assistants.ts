import { Hono } from 'hono';
import { systemAssistantId } from '../../actors/assistants.ts';
import { isUuid } from '../../kernel/ids.ts';
import { getAssistant, searchAssistants } from '../../projections/assistant-queries.ts';
import { authorise } from '../access.ts';
import type { Env, ServerContext } from '../context.ts';
import { paginationHeaders } from '../pagination.ts';
import { noAssistant } from '../replies.ts';
import { assistantSearch } from '../schemas/assistants.ts';
import { check, pick } from '../schemas/common.ts';
import { toAssistant } from '../wire.ts';

export function assistantRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();

  app.post('/assistants/search', async (c) => {
    const search = check(assistantSearch, c.var.body ?? {});
    const { filter } = await authorise(context, c.var.actor, 'assistants:search', {
      graph_id: search.graph_id ?? null,
      metadata: search.metadata ?? {},
      limit: search.limit,
      offset: search.offset,
    });
    const { assistants, total } = await searchAssistants(
      context.log.rows,
      {
        ...(search.graph_id !== undefined && { graphId: search.graph_id }),
        ...(search.name !== undefined && { name: search.name }),
        ...(search.metadata !== undefined && { metadata: search.metadata }),
        sortBy: search.sort_by,
        sortOrder: search.sort_order,
        limit: search.limit,
        offset: search.offset,
      },
      filter,
    );
    return c.json(
      assistants.map((assistant) => pick(toAssistant(assistant), search.select)),
      200,
      paginationHeaders(search.offset, assistants.length, total),
    );
  });

  app.get('/assistants/:id', async (c) => {
    const given = c.req.param('id');
    const assistantId = isUuid(given) ? given.toLowerCase() : systemAssistantId(given);
    const { filter } = await authorise(context, c.var.actor, 'assistants:read', {
      assistant_id: assistantId,
    });
    const assistant = await getAssistant(context.log.rows, assistantId, filter);
    if (assistant === undefined) throw noAssistant();
    return c.json(toAssistant(assistant));
  });

  return app;
}

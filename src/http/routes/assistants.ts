/** Assistants: read, searched, counted, and their versions. */
import { Hono } from 'hono';
import type { z } from 'zod';
import { searchAssistants, type AssistantSearch } from '../../projections/assistant-queries.ts';
import { listVersions } from '../../projections/assistant-versions.ts';
import { authorise } from '../access.ts';
import { findAssistant, toAssistantId } from '../assistant-access.ts';
import type { Env, ServerContext } from '../context.ts';
import { paginationHeaders } from '../pagination.ts';
import { noVersionsOf } from '../replies.ts';
import { assistantCount, assistantSearch, versionSearch } from '../schemas/assistants.ts';
import { check, pick } from '../schemas/common.ts';
import { toAssistant, toAssistantVersion } from '../wire.ts';

export function assistantRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();
  const { rows } = context.log;

  app.post('/assistants/search', async (c) => {
    const search = check(assistantSearch, c.var.body ?? {});
    const { filter } = await authorise(context, c.var.actor, 'assistants:search', {
      graph_id: search.graph_id ?? null,
      metadata: search.metadata ?? {},
      limit: search.limit,
      offset: search.offset,
    });
    const { assistants, total } = await searchAssistants(
      rows,
      {
        ...wantedOf(search),
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

  app.post('/assistants/count', async (c) => {
    const wanted = check(assistantCount, c.var.body ?? {});
    const { filter } = await authorise(context, c.var.actor, 'assistants:search', {
      graph_id: wanted.graph_id ?? null,
      metadata: wanted.metadata ?? {},
      limit: 0,
      offset: 0,
    });
    const page = { sortBy: 'assistant_id', sortOrder: 'asc', limit: 0, offset: 0 } as const;
    const { total } = await searchAssistants(rows, { ...wantedOf(wanted), ...page }, filter);
    return c.json(total);
  });

  app.get('/assistants/:id', async (c) => {
    const assistantId = toAssistantId(c.req.param('id'));
    const { filter } = await authorise(context, c.var.actor, 'assistants:read', {
      assistant_id: assistantId,
    });
    return c.json(toAssistant(await findAssistant(context, assistantId, filter)));
  });

  app.post('/assistants/:id/versions', async (c) => {
    const assistantId = toAssistantId(c.req.param('id'));
    const { metadata, limit, offset } = check(versionSearch, c.var.body ?? {});
    const { filter } = await authorise(context, c.var.actor, 'assistants:read', {
      assistant_id: assistantId,
      metadata: metadata ?? {},
    });
    const search = { assistantId, ...(metadata !== undefined && { metadata }), limit, offset };
    const versions = await listVersions(rows, search, filter);
    if (versions.length === 0) throw noVersionsOf(c.req.param('id'));
    return c.json(versions.map(toAssistantVersion));
  });

  return app;
}

const wantedOf = (
  wanted: z.output<typeof assistantCount>,
): Pick<AssistantSearch, 'graphId' | 'name' | 'metadata'> => ({
  ...(wanted.graph_id !== undefined && { graphId: wanted.graph_id }),
  ...(wanted.name !== undefined && { name: wanted.name }),
  ...(wanted.metadata !== undefined && { metadata: wanted.metadata }),
});

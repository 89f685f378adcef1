/** Routes that read, search and count assistants and list their versions. */
import { Hono } from 'hono';
import type { z } from 'zod';
import type { Actor } from '../../auth/authenticate.ts';
import { parseFilter, type Filter } from '../../auth/filters.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { searchAssistants, type AssistantSearch } from '../../projections/assistant-queries.ts';
import { listVersions } from '../../projections/assistant-versions.ts';
import { authorise, grantedSearch } from '../access.ts';
import { findAssistant, toAssistantId } from './access.ts';
import type { Env, ServerContext } from '../context.ts';
import { paginationHeaders } from '../pagination.ts';
import { noVersionsOf } from '../replies.ts';
import { assistantConditions, assistantCount, assistantSearch, versionSearch } from './schemas.ts';
import { check } from '../check.ts';
import { pick } from '../select.ts';
import { toAssistant, toAssistantVersion } from '../serializers.ts';

export function assistantRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();
  const { rows } = context.log;

  /** A2 The filter of the handler of `assistants:search` and the values that it adds are part of the query. */
  async function find(actor: Actor, wanted: z.output<typeof assistantCount>, page: Page) {
    const granted = await authorise(context, actor, 'assistants:search', {
      graph_id: wanted.graph_id ?? null,
      metadata: wanted.metadata ?? {},
      limit: page.limit,
      offset: page.offset,
    });
    const { graph_id: graphId, metadata = {} } = grantedSearch(assistantConditions, granted);
    const { contained, stamped } = splitStamps(wanted.metadata ?? {}, metadata);
    const conditions = {
      ...(graphId !== undefined && { graphId }),
      ...(wanted.name !== undefined && { name: wanted.name }),
      metadata: { ...contained, ...wanted.metadata },
    };
    // Values of the handler become filter conditions, because system assistants pass every filter.
    return searchAssistants(rows, { ...conditions, ...page }, [...(granted.filter ?? []), ...stamped]);
  }

  app.post('/assistants/search', async (c) => {
    const search = check(assistantSearch, c.var.body ?? {});
    const { sort_by: sortBy, sort_order: sortOrder, limit, offset } = search;
    const { assistants, total } = await find(c.var.actor, search, { sortBy, sortOrder, limit, offset });
    return c.json(
      assistants.map((assistant) => pick(toAssistant(assistant), search.select)),
      200,
      paginationHeaders(offset, assistants.length, total),
    );
  });

  app.post('/assistants/count', async (c) => {
    const wanted = check(assistantCount, c.var.body ?? {});
    const page = { sortBy: 'assistant_id', sortOrder: 'asc', limit: 0, offset: 0 } as const;
    const { total } = await find(c.var.actor, wanted, page);
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

/** Splits values that the handler added to the search's metadata: scalars become filter conditions, others `contained`. */
function splitStamps(before: JsonObject, after: JsonObject): { contained: JsonObject; stamped: Filter } {
  const written = Object.entries(after).filter(([key, value]) => before[key] !== value);
  const isScalar = ([, value]: [string, Json]): boolean => typeof value !== 'object' || value === null;
  return {
    contained: Object.fromEntries(written.filter((entry) => !isScalar(entry))),
    stamped: parseFilter(Object.fromEntries(written.filter(isScalar))),
  };
}

type Page = Pick<AssistantSearch, 'sortBy' | 'sortOrder' | 'limit' | 'offset'>;

/** Endpoints that read, search and count assistants and list their versions. */
import { z } from 'zod';
import type { Actor } from '../../auth/authenticate.ts';
import type { Filter } from '../../kernel/filter.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { parseFilter } from '../../kernel/filter-syntax.ts';
import { authorise, grantedSearch } from '../access.ts';
import type { ServerContext } from '../context.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { json, PAGE_HEADERS, problems } from '../openapi/descriptions.ts';
import { paginationHeaders } from '../pagination.ts';
import { jsonReply, noVersionsOf } from '../replies.ts';
import { pick } from '../select.ts';
import { findAssistant, toAssistantId } from './access.ts';
import { assistantConditions, assistantCount, assistantSearch, versionSearch } from './schemas.ts';
import { assistant, assistantVersion, toAssistant, toAssistantVersion } from './shapes.ts';
import type { AssistantSearch } from '../../store/port/views/assistants.ts';

export const assistantEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/assistants/search',
    changes: false,
    tag: 'assistants',
    summary: 'Search assistants',
    body: assistantSearch,
    replies: { 200: json(z.array(assistant), 'A page of assistants', PAGE_HEADERS) },
    async handle({ context, actor, body }) {
      const { sort_by: sortBy, sort_order: sortOrder, limit, offset } = body;
      const { assistants, total } = await find(context, actor, body, { sortBy, sortOrder, limit, offset });
      return jsonReply(
        assistants.map((each) => pick(toAssistant(each), body.select)),
        200,
        paginationHeaders(offset, assistants.length, total),
      );
    },
  }),
  endpoint({
    method: 'post',
    path: '/assistants/count',
    changes: false,
    tag: 'assistants',
    summary: 'Count assistants',
    body: assistantCount,
    replies: { 200: json(z.int(), 'Number of assistants that match') },
    async handle({ context, actor, body }) {
      const page = { sortBy: 'assistant_id', sortOrder: 'asc', limit: 0, offset: 0 } as const;
      const { total } = await find(context, actor, body, page);
      return jsonReply(total);
    },
  }),
  endpoint({
    method: 'get',
    path: '/assistants/{assistant_id}',
    tag: 'assistants',
    summary: 'Get an assistant',
    replies: { 200: json(assistant, 'The assistant'), ...problems(404) },
    async handle({ context, actor, params }) {
      const assistantId = toAssistantId(params.assistant_id);
      const { filter } = await authorise(context, actor, 'assistants:read', { assistant_id: assistantId });
      return jsonReply(toAssistant(await findAssistant(context, assistantId, filter)));
    },
  }),
  endpoint({
    method: 'post',
    path: '/assistants/{assistant_id}/versions',
    changes: false,
    tag: 'assistants',
    summary: 'List the versions of an assistant',
    body: versionSearch,
    replies: { 200: json(z.array(assistantVersion), 'Newest first, at least one'), ...problems(404) },
    async handle({ context, actor, params, body: { metadata, limit, offset } }) {
      const assistantId = toAssistantId(params.assistant_id);
      const { filter } = await authorise(context, actor, 'assistants:read', {
        assistant_id: assistantId,
        metadata: metadata ?? {},
      });
      const search = { assistantId, ...(metadata !== undefined && { metadata }), limit, offset };
      const versions = await context.log.views.assistants.versions(search, filter);
      if (versions.length === 0) throw noVersionsOf(params.assistant_id);
      return jsonReply(versions.map(toAssistantVersion));
    },
  }),
];

/** A2 The filter of the handler of `assistants:search` and the values that it adds are part of the query. */
async function find(
  context: ServerContext,
  actor: Actor,
  wanted: z.output<typeof assistantCount>,
  page: Page,
) {
  const granted = await authorise(context, actor, 'assistants:search', {
    graph_id: wanted.graph_id ?? null,
    metadata: wanted.metadata ?? {},
    limit: page.limit,
    offset: page.offset,
  });
  const { graph_id: graphId, metadata = {} } = grantedSearch(assistantConditions, granted);
  const conditions = {
    ...(graphId !== undefined && { graphId }),
    ...(wanted.name !== undefined && { name: wanted.name }),
    ...(wanted.metadata !== undefined && { metadata: wanted.metadata }),
  };
  // Values of the handler become filter conditions, because system assistants pass every filter.
  return context.log.views.assistants.search({ ...conditions, ...page }, [
    ...(granted.filter ?? []),
    ...stampsOf(wanted.metadata ?? {}, metadata),
  ]);
}

/** Values that the handler added to the search's metadata or changed in it, as filter conditions. */
const stampsOf = (before: JsonObject, after: JsonObject): Filter =>
  parseFilter(
    Object.fromEntries(Object.entries(after).filter(([key, value]) => before[key] !== value)),
    'part',
  );

type Page = Pick<AssistantSearch, 'sortBy' | 'sortOrder' | 'limit' | 'offset'>;

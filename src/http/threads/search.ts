/** Endpoints that search, list and count threads. A2 The filter of `threads:search` is part of every query. */
import { z } from 'zod';
import type { Actor } from '../../auth/authenticate.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { JsonText, type Sendable } from '../../kernel/json-text.ts';
import type { EventLog } from '../../store/port/log.ts';
import { authorise, grantedSearch } from '../access.ts';
import type { ServerContext } from '../context.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { listReply } from '../list-reply.ts';
import { json, PAGE_HEADERS } from '../openapi/descriptions.ts';
import { paginationHeaders } from '../pagination.ts';
import { jsonReply } from '../replies.ts';
import { pick } from '../select.ts';
import { valueAt } from './extract.ts';
import { threadConditions, threadCount, threadSearch, type ThreadSearchBody } from './schemas.ts';
import { thread } from './shapes.ts';
import { shownThread } from './shown-thread.ts';
import type { ThreadRecord } from '../../store/port/views/threads.ts';

const page = json(z.array(thread), 'A page of threads', PAGE_HEADERS);

export const threadSearchEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/threads',
    tag: 'threads',
    summary: 'List threads',
    query: threadSearch,
    replies: { 200: page },
    handle: ({ context, actor, query }) => search(context, actor, query),
  }),
  endpoint({
    method: 'post',
    path: '/threads/search',
    changes: false,
    tag: 'threads',
    summary: 'Search threads',
    body: threadSearch,
    replies: { 200: page },
    handle: ({ context, actor, body }) => search(context, actor, body),
  }),
  endpoint({
    method: 'post',
    path: '/threads/count',
    changes: false,
    tag: 'threads',
    summary: 'Count threads',
    body: threadCount,
    replies: { 200: json(z.int(), 'Number of threads that match') },
    async handle({ context, actor, body }) {
      const { conditions, filter } = await grant(context, actor, {
        ids: undefined,
        limit: 0,
        offset: 0,
        ...body,
      });
      return jsonReply(await context.log.views.threads.count(conditions, filter));
    },
  }),
];

async function search(context: ServerContext, actor: Actor, wanted: ThreadSearchBody): Promise<Response> {
  const { conditions, filter } = await grant(context, actor, wanted);
  const { sort_by: sortBy, sort_order: sortOrder, limit, offset } = wanted;
  const page = { ...conditions, sortBy, sortOrder, limit, offset };
  const { threads, total } = await context.log.views.threads.search(page, filter);
  const headers = paginationHeaders(offset, threads.length, total);
  return listReply(threads, (found) => render(context.log, found, wanted), headers);
}

type Conditions = Pick<ThreadSearchBody, 'ids' | 'metadata' | 'values' | 'status'>;

/** The search that the handler of `threads:search` lets the caller make. */
async function grant(
  context: ServerContext,
  actor: Actor,
  wanted: Conditions & { readonly limit: number; readonly offset: number },
) {
  const granted = await authorise(context, actor, 'threads:search', {
    ...(wanted.ids !== undefined && { ids: wanted.ids }),
    status: wanted.status ?? null,
    values: wanted.values ?? {},
    metadata: wanted.metadata ?? {},
    limit: wanted.limit,
    offset: wanted.offset,
  });
  const { ids, metadata, values, status } = grantedSearch(threadConditions, granted);
  const conditions = {
    ...(ids !== undefined && { ids }),
    ...(metadata !== undefined && { metadata }),
    ...(values !== undefined && { values }),
    ...(status !== undefined && { status }),
  };
  return { conditions, filter: granted.filter };
}

/** Renders a thread; its values are read only if selected or extracted. */
async function render(
  log: EventLog,
  found: ThreadRecord,
  { select, extract }: ThreadSearchBody,
): Promise<Record<string, Sendable>> {
  const paths = Object.entries(extract ?? {});
  const isWhole = select === undefined || select.length === 0 || select.includes('values');
  const needsValues = isWhole || paths.some(([, path]) => path[0] === 'values');
  const record = await shownThread(log, found, { values: needsValues });
  if (paths.length === 0) return pick(record, select);
  const { values } = record;
  const parsed = { ...record, values: values instanceof JsonText ? values.parse() : null } as JsonObject;
  const extracted = Object.fromEntries(paths.map(([alias, path]) => [alias, valueAt(parsed, path)]));
  return { ...pick(record, select), extracted };
}

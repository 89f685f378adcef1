/** Routes that search, list and count threads. A2 The filter of `threads:search` is part of every query. */
import { Hono } from 'hono';
import type { Actor } from '../../auth/authenticate.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { JsonText, type Sendable } from '../../kernel/json-text.ts';
import { searchThreads, type ThreadRecord } from '../../projections/thread-queries.ts';
import { authorise, grantedSearch } from '../access.ts';
import type { Env, ServerContext } from '../context.ts';
import { valueAt } from './extract.ts';
import { listReply } from '../list-reply.ts';
import { paginationHeaders } from '../pagination.ts';
import { readQuery } from '../query.ts';
import { check } from '../check.ts';
import { pick } from '../select.ts';
import { threadConditions, threadCount, threadSearch, type ThreadSearchBody } from './schemas.ts';
import { shownThread } from './shown-thread.ts';

export function threadSearchRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();
  const { log } = context;

  async function find(actor: Actor, wanted: Omit<ThreadSearchBody, 'select' | 'extract'>) {
    const granted = await authorise(context, actor, 'threads:search', {
      ...(wanted.ids !== undefined && { ids: wanted.ids }),
      status: wanted.status ?? null,
      values: wanted.values ?? {},
      metadata: wanted.metadata ?? {},
      limit: wanted.limit,
      offset: wanted.offset,
    });
    const { ids, metadata, values, status } = grantedSearch(threadConditions, granted);
    return searchThreads(
      log,
      {
        ...(ids !== undefined && { ids }),
        ...(metadata !== undefined && { metadata }),
        ...(values !== undefined && { values }),
        ...(status !== undefined && { status }),
        sortBy: wanted.sort_by,
        sortOrder: wanted.sort_order,
        limit: wanted.limit,
        offset: wanted.offset,
      },
      granted.filter,
    );
  }

  /** Renders a thread; its values are read only if selected or extracted. */
  async function render(
    thread: ThreadRecord,
    { select, extract }: ThreadSearchBody,
  ): Promise<Record<string, Sendable>> {
    const paths = Object.entries(extract ?? {});
    const isWhole = select === undefined || select.length === 0 || select.includes('values');
    const needsValues = isWhole || paths.some(([, path]) => path[0] === 'values');
    const record = await shownThread(log, thread, { values: needsValues });
    if (paths.length === 0) return pick(record, select);
    const { values } = record;
    const parsed = { ...record, values: values instanceof JsonText ? values.parse() : null } as JsonObject;
    const extracted = Object.fromEntries(paths.map(([alias, path]) => [alias, valueAt(parsed, path)]));
    return { ...pick(record, select), extracted };
  }

  async function search(actor: Actor, body: Json | undefined): Promise<Response> {
    const wanted = check(threadSearch, body ?? {});
    const { threads, total } = await find(actor, wanted);
    const headers = paginationHeaders(wanted.offset, threads.length, total);
    return listReply(threads, (thread) => render(thread, wanted), headers);
  }

  app.get('/threads', (c) =>
    search(
      c.var.actor,
      readQuery(c.req.url, {
        limit: 'number',
        offset: 'number',
        status: 'text',
        metadata: 'json',
        values: 'json',
        extract: 'json',
        ids: 'list',
        sort_by: 'text',
        sort_order: 'text',
        select: 'list',
      }),
    ),
  );

  app.post('/threads/search', (c) => search(c.var.actor, c.var.body));

  app.post('/threads/count', async (c) => {
    const wanted = check(threadCount, c.var.body ?? {});
    const page = { ids: undefined, sort_by: 'thread_id', sort_order: 'asc', limit: 0, offset: 0 } as const;
    const { total } = await find(c.var.actor, { ...page, ...wanted });
    return c.json(total);
  });

  return app;
}

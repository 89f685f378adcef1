import { Hono } from 'hono';
import type { Actor } from '../../auth/authenticate.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { AccessFilter } from '../../projections/filters.ts';
import { getThread, searchThreads, type ThreadRecord } from '../../projections/thread-queries.ts';
import { authorise, grantedMetadata } from '../access.ts';
import type { Env, ServerContext } from '../context.ts';
import { paginationHeaders } from '../pagination.ts';
import { readQuery } from '../query.ts';
import { noContent, noThread, refused, threadExists } from '../replies.ts';
import { check, pathUuid, pick } from '../schemas/common.ts';
import { threadCreate, threadPatch, threadSearch } from '../schemas/threads.ts';
import { createThread } from '../thread-creation.ts';
import { toThread } from '../wire.ts';

export function threadRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();
  const { log, threads } = context;

  const withValues = async (thread: ThreadRecord): Promise<JsonObject> =>
    toThread(
      thread,
      thread.head === null ? undefined : await log.payloads.values(thread.threadId, thread.head),
    );

  async function find(threadId: string, filter: AccessFilter | undefined): Promise<ThreadRecord> {
    const thread = await getThread(log.rows, threadId, filter);
    if (thread === undefined) throw noThread(threadId);
    return thread;
  }

  async function search(actor: Actor, body: Json | undefined): Promise<Response> {
    const wanted = check(threadSearch, body ?? {});
    const { filter } = await authorise(context, actor, 'threads:search', {
      ...(wanted.ids !== undefined && { ids: wanted.ids }),
      ...(wanted.status !== undefined && { status: wanted.status }),
      metadata: wanted.metadata ?? {},
      limit: wanted.limit,
      offset: wanted.offset,
    });
    const { threads: found, total } = await searchThreads(
      log.rows,
      {
        ...(wanted.ids !== undefined && { ids: wanted.ids }),
        ...(wanted.metadata !== undefined && { metadata: wanted.metadata }),
        ...(wanted.status !== undefined && { status: wanted.status }),
        sortBy: wanted.sort_by,
        sortOrder: wanted.sort_order,
        limit: wanted.limit,
        offset: wanted.offset,
      },
      filter,
    );
    const page = await Promise.all(
      found.map(async (thread) => pick(await withValues(thread), wanted.select)),
    );
    return Response.json(page, { headers: paginationHeaders(wanted.offset, found.length, total) });
  }

  app.post('/threads', async (c) => {
    const body = check(threadCreate, c.var.body ?? {});
    const threadId = body.thread_id ?? context.ids.uuid();
    const granted = await authorise(context, c.var.actor, 'threads:create', {
      thread_id: threadId,
      metadata: body.metadata ?? {},
      if_exists: body.if_exists ?? 'raise',
    });
    const metadata = grantedMetadata(granted);
    const done = await createThread(context, c.var.actor, {
      threadId,
      metadata,
      supersteps: body.supersteps,
    });
    if (done.ok) return c.json(await withValues(await find(threadId, undefined)));
    if (body.if_exists !== 'do_nothing') throw refused(done.refusal, threadId);
    const existing = await getThread(log.rows, threadId, granted.filter);
    // Somebody else's thread: that the id is taken is all there is to say.
    if (existing === undefined) throw threadExists();
    return c.json(await withValues(existing));
  });

  app.get('/threads', (c) =>
    search(
      c.var.actor,
      readQuery(new URL(c.req.url), {
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

  app.get('/threads/:thread_id', async (c) => {
    const threadId = pathUuid(c.req.param('thread_id'), 'thread_id');
    const { filter } = await authorise(context, c.var.actor, 'threads:read', { thread_id: threadId });
    return c.json(await withValues(await find(threadId, filter)));
  });

  app.patch('/threads/:thread_id', async (c) => {
    const threadId = pathUuid(c.req.param('thread_id'), 'thread_id');
    const body = check(threadPatch, c.var.body ?? {});
    const granted = await authorise(context, c.var.actor, 'threads:update', {
      thread_id: threadId,
      metadata: body.metadata ?? {},
    });
    const thread = await find(threadId, granted.filter);
    const metadata = grantedMetadata(granted, thread.metadata);
    const done = await threads.dispatch(threadId, [{ type: 'UpdateThread', metadata }]);
    if (!done.ok) throw refused(done.refusal, threadId);
    if (c.req.header('prefer') === 'return=minimal') return noContent();
    return c.json(await withValues(await find(threadId, undefined)));
  });

  app.delete('/threads/:thread_id', async (c) => {
    const threadId = pathUuid(c.req.param('thread_id'), 'thread_id');
    const { filter } = await authorise(context, c.var.actor, 'threads:delete', { thread_id: threadId });
    await find(threadId, filter);
    const done = await threads.dispatch(threadId, [{ type: 'DeleteThread' }]);
    if (!done.ok) throw refused(done.refusal, threadId);
    return noContent();
  });

  return app;
}

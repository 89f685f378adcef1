import { Hono } from 'hono';
import type { AccessFilter } from '../../projections/filters.ts';
import { getThread, newThread, type ThreadRecord } from '../../projections/thread-queries.ts';
import { authorise, grantedMetadata } from '../access.ts';
import type { Env, ServerContext } from '../context.ts';
import { readQuery } from '../query.ts';
import { jsonReply, noContent, noThread, refused, threadExists } from '../replies.ts';
import { check, pathUuid } from '../check.ts';
import { threadCreate, threadGet, threadPatch } from './schemas.ts';
import { createThread } from './creation.ts';
import { shownThread } from './shown-thread.ts';
import { toTtl } from '../serializers.ts';

export function threadRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();
  const { log, threads } = context;

  async function find(threadId: string, filter: AccessFilter | undefined): Promise<ThreadRecord> {
    const thread = await getThread(log.rows, threadId, filter);
    if (thread === undefined) throw noThread(threadId);
    return thread;
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
      isNew: body.thread_id === undefined,
      metadata,
      supersteps: body.supersteps,
      ttl: body.ttl ?? context.defaultTtl,
    });
    if (done.ok)
      return jsonReply(await shownThread(log, newThread(done.events) ?? (await find(threadId, undefined))));
    if (body.if_exists !== 'do_nothing') throw refused(done.refusal, threadId);
    const existing = await getThread(log.rows, threadId, granted.filter);
    // A3 The thread of another user: the reply reveals only that the id is taken.
    if (existing === undefined) throw threadExists();
    return jsonReply(await shownThread(log, existing));
  });

  app.get('/threads/:thread_id', async (c) => {
    const threadId = pathUuid(c.req.param('thread_id'), 'thread_id');
    const { include } = check(threadGet, readQuery(c.req.url, { include: 'list' }));
    const { filter } = await authorise(context, c.var.actor, 'threads:read', { thread_id: threadId });
    const thread = await find(threadId, filter);
    const record = await shownThread(log, thread);
    const ttl = thread.ttl !== null && include?.includes('ttl') === true && { ttl: toTtl(thread.ttl) };
    return jsonReply({ ...record, ...ttl });
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
    const done = await threads.dispatch(threadId, [
      { type: 'UpdateThread', metadata, ...(body.ttl && { ttl: body.ttl }) },
    ]);
    if (!done.ok) throw refused(done.refusal, threadId);
    if (c.req.header('prefer') === 'return=minimal') return noContent();
    return jsonReply(await shownThread(log, await find(threadId, undefined)));
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

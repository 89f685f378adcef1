/** Routes that copy, prune and measure threads and delete runs. */
import { Hono } from 'hono';
import { getRun } from '../../projections/run-queries.ts';
import { getThread } from '../../projections/thread-queries.ts';
import { authorise, grantedMetadata } from '../access.ts';
import type { Env, ServerContext } from '../context.ts';
import { jsonReply, noContent, noRun, noThread, nothingToCopy, refused, stateBusy } from '../replies.ts';
import { check, pathUuid } from '../check.ts';
import { threadPrune } from './schemas.ts';
import { shownThread } from './shown-thread.ts';
import { toStorage } from '../serializers.ts';

export function threadMaintenanceRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();
  const { log, threads, maintenance } = context;

  app.post('/threads/:thread_id/copy', async (c) => {
    const from = pathUuid(c.req.param('thread_id'), 'thread_id');
    const { filter } = await authorise(context, c.var.actor, 'threads:read', { thread_id: from });
    const original = await getThread(log.rows, from, filter);
    if (original === undefined) throw nothingToCopy();
    const threadId = context.ids.uuid();
    const granted = await authorise(context, c.var.actor, 'threads:create', {
      thread_id: threadId,
      metadata: original.metadata,
      if_exists: 'raise',
    });
    const metadata = grantedMetadata(granted);
    const ttl = context.defaultTtl;
    const done = await maintenance.copy(from, { threadId, metadata, ...(ttl && { ttl }) });
    if (!done.ok)
      throw done.refusal.code === 'thread-missing' ? nothingToCopy() : refused(done.refusal, from);
    const copy = await getThread(log.rows, threadId);
    if (copy === undefined) throw new Error(`thread ${threadId} was copied and cannot be read`);
    return jsonReply(await shownThread(log, copy));
  });

  app.post('/threads/prune', async (c) => {
    const { thread_ids: ids, strategy } = check(threadPrune, c.var.body ?? {});
    const isDeletion = strategy === 'delete';
    // The handler is asked about the whole request first, then about each thread.
    if (isDeletion) await authorise(context, c.var.actor, 'threads:delete', { thread_ids: [...ids] });
    const seen: string[] = [];
    // All threads are authorized before the first is changed: a denial changes nothing.
    for (const threadId of new Set(ids)) {
      const { filter } = isDeletion
        ? await authorise(context, c.var.actor, 'threads:delete', { thread_id: threadId })
        : await authorise(context, c.var.actor, 'threads:update', { thread_id: threadId, action: 'prune' });
      if ((await getThread(log.rows, threadId, filter)) !== undefined) seen.push(threadId);
    }
    let pruned = 0;
    for (const threadId of seen) {
      const done = isDeletion
        ? await threads.dispatch(threadId, [{ type: 'DeleteThread' }])
        : await maintenance.keepLatest(threadId);
      if (done.ok) pruned += 1;
    }
    return c.json({ pruned_count: pruned });
  });

  app.get('/threads/:thread_id/storage', async (c) => {
    const threadId = pathUuid(c.req.param('thread_id'), 'thread_id');
    const { filter } = await authorise(context, c.var.actor, 'threads:read', { thread_id: threadId });
    if ((await getThread(log.rows, threadId, filter)) === undefined) throw noThread(threadId);
    return c.json(toStorage(threadId, await log.payloads.storage(threadId)));
  });

  app.delete('/threads/:thread_id/runs/:run_id', async (c) => {
    const threadId = pathUuid(c.req.param('thread_id'), 'thread_id');
    const runId = pathUuid(c.req.param('run_id'), 'run_id');
    const { filter } = await authorise(context, c.var.actor, 'threads:delete', {
      thread_id: threadId,
      run_id: runId,
    });
    if ((await getRun(log.rows, runId, { threadId, filter })) === undefined) throw noRun();
    const done = await maintenance.deleteRun(threadId, runId);
    if (!done.ok) throw done.refusal.code === 'thread-busy' ? stateBusy() : noRun();
    return noContent();
  });

  return app;
}

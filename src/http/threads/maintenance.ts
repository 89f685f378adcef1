/** Endpoints that copy, prune and measure threads. */
import { z } from 'zod';
import { authorise, grantedMetadata } from '../access.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { json, problems } from '../openapi/descriptions.ts';
import { jsonReply, noThread, nothingToCopy, refused } from '../replies.ts';
import { threadPrune } from './schemas.ts';
import { storage, thread, toStorage } from './shapes.ts';
import { shownThread } from './shown-thread.ts';

export const threadMaintenanceEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/threads/{thread_id}/copy',
    tag: 'threads',
    summary: 'Copy a thread with its checkpoints and without its runs',
    replies: { 200: json(thread, 'The new thread'), ...problems(409) },
    async handle({ context, actor, params: { thread_id: from } }) {
      const { log, maintenance } = context;
      const { filter } = await authorise(context, actor, 'threads:read', { thread_id: from });
      const original = await log.views.threads.get(from, filter);
      if (original === undefined) throw nothingToCopy();
      const threadId = context.ids.uuid();
      const granted = await authorise(context, actor, 'threads:create', {
        thread_id: threadId,
        metadata: original.metadata,
        if_exists: 'raise',
      });
      const metadata = grantedMetadata(granted);
      const ttl = context.defaultTtl;
      const done = await maintenance.copy(
        from,
        { threadId, metadata, ...(ttl && { ttl }) },
        actor.user?.identity,
      );
      if (!done.ok)
        throw done.refusal.code === 'thread-missing' ? nothingToCopy() : refused(done.refusal, from);
      const copy = await log.views.threads.get(threadId);
      if (copy === undefined) throw new Error(`thread ${threadId} was copied and cannot be read`);
      return jsonReply(await shownThread(log, copy));
    },
  }),
  endpoint({
    method: 'post',
    path: '/threads/prune',
    tag: 'threads',
    summary: 'Delete threads, or all but their latest state',
    description: 'Missing threads are skipped, and with `keep_latest` also busy ones.',
    body: threadPrune,
    replies: { 200: json(z.object({ pruned_count: z.int() }), 'Number of threads that were pruned') },
    async handle({ context, actor, body: { thread_ids: ids, strategy } }) {
      const { log, threads, maintenance } = context;
      const isDeletion = strategy === 'delete';
      // The handler is asked about the whole request first, then about each thread.
      if (isDeletion) await authorise(context, actor, 'threads:delete', { thread_ids: [...ids] });
      const seen: string[] = [];
      // All threads are authorized before the first is changed: a denial changes nothing.
      for (const threadId of new Set(ids)) {
        const { filter } = isDeletion
          ? await authorise(context, actor, 'threads:delete', { thread_id: threadId })
          : await authorise(context, actor, 'threads:update', { thread_id: threadId, action: 'prune' });
        if ((await log.views.threads.get(threadId, filter)) !== undefined) seen.push(threadId);
      }
      const by = actor.user?.identity;
      let pruned = 0;
      for (const threadId of seen) {
        const done = isDeletion
          ? await threads.dispatch(threadId, [{ type: 'DeleteThread' }], { by })
          : await maintenance.keepLatest(threadId, { by });
        if (done.ok) pruned += 1;
      }
      return jsonReply({ pruned_count: pruned });
    },
  }),
  endpoint({
    method: 'get',
    path: '/threads/{thread_id}/storage',
    tag: 'threads',
    summary: 'Get the storage that a thread occupies',
    replies: { 200: json(storage, 'Bytes of text, as stored'), ...problems(404) },
    async handle({ context, actor, params: { thread_id: threadId } }) {
      const { log } = context;
      const { filter } = await authorise(context, actor, 'threads:read', { thread_id: threadId });
      if ((await log.views.threads.get(threadId, filter)) === undefined) throw noThread(threadId);
      return jsonReply(toStorage(threadId, await log.payloads.storage(threadId)));
    },
  }),
];

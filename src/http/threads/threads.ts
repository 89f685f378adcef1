import type { Filter } from '../../kernel/filter.ts';
import { authorise, grantedMetadata } from '../access.ts';
import type { ServerContext } from '../context.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { json, nothing, problems } from '../openapi/descriptions.ts';
import { jsonReply, noContent, noThread, refused, threadExists } from '../replies.ts';
import { createThread } from './creation.ts';
import { threadCreate, threadGet, threadPatch } from './schemas.ts';
import { thread, toThread, toTtl } from './shapes.ts';
import { shownThread } from './shown-thread.ts';
import type { ThreadRecord } from '../../store/port/views/threads.ts';

export const threadEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/threads',
    tag: 'threads',
    summary: 'Create a thread',
    body: threadCreate,
    replies: { 200: json(thread, 'The thread'), ...problems(400, 404, 409) },
    async handle({ context, actor, body }) {
      const { log } = context;
      const threadId = body.thread_id ?? context.ids.uuid();
      const granted = await authorise(context, actor, 'threads:create', {
        thread_id: threadId,
        metadata: body.metadata ?? {},
        if_exists: body.if_exists,
      });
      const metadata = grantedMetadata(granted);
      const done = await createThread(context, actor, {
        threadId,
        isNew: body.thread_id === undefined,
        metadata,
        supersteps: body.supersteps,
        ttl: body.ttl ?? context.defaultTtl,
      });
      if (done.ok) {
        const created = log.views.threads.made(done.events);
        return jsonReply(
          created === undefined
            ? await shownThread(log, await findThread(context, threadId, undefined))
            : toThread(created, { values: undefined, config: undefined }),
        );
      }
      if (body.if_exists !== 'do_nothing') throw refused(done.refusal, threadId);
      const existing = await log.views.threads.get(threadId, granted.filter);
      // A3 The thread of another user: the reply reveals only that the id is taken.
      if (existing === undefined) throw threadExists();
      return jsonReply(await shownThread(log, existing));
    },
  }),
  endpoint({
    method: 'get',
    path: '/threads/{thread_id}',
    tag: 'threads',
    summary: 'Get a thread',
    query: threadGet,
    replies: { 200: json(thread, 'The thread'), ...problems(404) },
    async handle({ context, actor, params: { thread_id: threadId }, query: { include } }) {
      const { filter } = await authorise(context, actor, 'threads:read', { thread_id: threadId });
      const found = await findThread(context, threadId, filter);
      const record = await shownThread(context.log, found);
      const ttl = found.ttl !== null && include?.includes('ttl') === true && { ttl: toTtl(found.ttl) };
      return jsonReply({ ...record, ...ttl });
    },
  }),
  endpoint({
    method: 'patch',
    path: '/threads/{thread_id}',
    tag: 'threads',
    summary: 'Change the metadata of a thread',
    headers: { Prefer: '`return=minimal` asks for a reply without a body.' },
    body: threadPatch,
    replies: {
      200: json(thread, 'The thread'),
      204: nothing('Changed, with `Prefer: return=minimal`'),
      ...problems(404),
    },
    async handle({ context, actor, params: { thread_id: threadId }, body, c }) {
      const granted = await authorise(context, actor, 'threads:update', {
        thread_id: threadId,
        metadata: body.metadata ?? {},
      });
      const before = await findThread(context, threadId, granted.filter);
      const metadata = grantedMetadata(granted, before.metadata);
      const done = await context.threads.dispatch(
        threadId,
        [{ type: 'UpdateThread', metadata, ...(body.ttl && { ttl: body.ttl }) }],
        { by: actor.user?.identity },
      );
      if (!done.ok) throw refused(done.refusal, threadId);
      if (c.req.header('prefer') === 'return=minimal') return noContent();
      return jsonReply(await shownThread(context.log, await findThread(context, threadId, undefined)));
    },
  }),
  endpoint({
    method: 'delete',
    path: '/threads/{thread_id}',
    tag: 'threads',
    summary: 'Delete a thread for good',
    replies: { 204: nothing('Deleted'), ...problems(404) },
    async handle({ context, actor, params: { thread_id: threadId } }) {
      const { filter } = await authorise(context, actor, 'threads:delete', { thread_id: threadId });
      await findThread(context, threadId, filter);
      const done = await context.threads.dispatch(threadId, [{ type: 'DeleteThread' }], {
        by: actor.user?.identity,
      });
      if (!done.ok) throw refused(done.refusal, threadId);
      return noContent();
    },
  }),
];

async function findThread(
  { log }: ServerContext,
  threadId: string,
  filter: Filter | undefined,
): Promise<ThreadRecord> {
  const found = await log.views.threads.get(threadId, filter);
  if (found === undefined) throw noThread(threadId);
  return found;
}

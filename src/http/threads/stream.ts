/** Route that streams the frames of all runs of a thread until the client disconnects. */
import { Hono } from 'hono';
import type { Actor } from '../../auth/authenticate.ts';
import type { Sendable } from '../../kernel/json-text.ts';
import { getThread, type ThreadRecord } from '../../projections/thread-queries.ts';
import { authorise } from '../access.ts';
import type { Env, ServerContext } from '../context.ts';
import { readQuery } from '../query.ts';
import { noThread } from '../replies.ts';
import { check, pathUuid } from '../check.ts';
import { threadStreamQuery } from '../runs/schemas.ts';
import type { StreamingReply } from '../streaming-body.ts';
import { sseReply } from '../sse.ts';
import { checkpointsOf, findThreadGraph } from './thread-graph.ts';
import { toState } from '../serializers.ts';

export function threadStreamRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();
  const { log, threadStreams } = context;

  app.get('/threads/:thread_id/stream', async (c) => {
    const threadId = pathUuid(c.req.param('thread_id'), 'thread_id');
    const query = check(
      threadStreamQuery,
      readQuery(c.req.url, { stream_modes: 'list', stream_mode: 'list' }),
    );
    const { filter } = await authorise(context, c.var.actor, 'threads:read', { thread_id: threadId });
    const find = () => getThread(log.rows, threadId, filter);
    const thread = await find();
    if (thread === undefined) throw noThread(threadId);
    const reply: StreamingReply = {
      clock: context.clock,
      over: new AbortController(),
      stopping: context.stopping,
      expiresAt: c.var.actor.expiresAt,
      outgoing: c.env.outgoing,
      headers: { location: `/threads/${threadId}/stream` },
    };
    const modes = query.stream_modes ?? query.stream_mode ?? ['run_modes'];
    const frames = threadStreams.read(threadId, {
      modes,
      after: c.req.header('last-event-id'),
      visible: async () => (await find()) !== undefined,
      state: (checkpointId) => stateAt(c.var.actor, thread, checkpointId),
      signal: reply.over.signal,
    });
    return sseReply(frames, reply);
  });

  async function stateAt(
    actor: Actor,
    { threadId, metadata }: ThreadRecord,
    checkpointId: string,
  ): Promise<Sendable | undefined> {
    const checkpoints = checkpointsOf(context, threadId);
    if ((await checkpoints.load('', checkpointId)) === undefined) return undefined;
    try {
      const graph = await findThreadGraph(context, actor, threadId, metadata);
      if (graph === undefined) return undefined;
      const order = { ...graph, threadId, checkpointId, subgraphs: false };
      return toState(threadId, await context.graphs.state(order, checkpoints));
    } catch (error) {
      // The graph may have changed since: the stream goes on without this state.
      context.onFault(error, `reading the state of thread ${threadId}`);
      return undefined;
    }
  }

  return app;
}

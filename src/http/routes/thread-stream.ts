/** The stream of a thread: what all its runs do, for as long as the client listens. */
import { Hono } from 'hono';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import type { Sendable } from '../../kernel/json-text.ts';
import type { RunRecord } from '../../projections/run-queries.ts';
import { getThread } from '../../projections/thread-queries.ts';
import { authorise } from '../access.ts';
import type { Env, ServerContext } from '../context.ts';
import { readQuery } from '../query.ts';
import { noThread } from '../replies.ts';
import { check, pathUuid } from '../schemas/common.ts';
import { threadStreamQuery } from '../schemas/runs.ts';
import type { HeldReply } from '../held-body.ts';
import { sseReply } from '../sse.ts';
import { checkpointsOf } from '../thread-graph.ts';
import { toState } from '../wire.ts';

export function threadStreamRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();
  const { log, threadStreams } = context;

  app.get('/threads/:thread_id/stream', async (c) => {
    const threadId = pathUuid(c.req.param('thread_id'), 'thread_id');
    const query = check(
      threadStreamQuery,
      readQuery(new URL(c.req.url), { stream_modes: 'list', stream_mode: 'list' }),
    );
    const { filter } = await authorise(context, c.var.actor, 'threads:read', { thread_id: threadId });
    const visible = async (): Promise<boolean> => (await getThread(log.rows, threadId, filter)) !== undefined;
    if (!(await visible())) throw noThread(threadId);
    const reply: HeldReply = {
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
      visible,
      state: (run) => stateAfter(run),
      signal: reply.over.signal,
    });
    return sseReply(frames, reply);
  });

  async function stateAfter({
    head,
    graphId,
    threadId,
    kwargs,
    metadata,
  }: RunRecord): Promise<Sendable | undefined> {
    const checkpoints = checkpointsOf(context, threadId);
    if (head === null || !context.graphs.graphIds.includes(graphId)) return undefined;
    if ((await checkpoints.load('', head)) === undefined) return undefined;
    const configurable = withoutPlace(kwargs.config['configurable']);
    const config = { configurable, metadata };
    try {
      const order = { graphId, threadId, checkpointId: head, subgraphs: false, config };
      return toState(threadId, await context.graphs.state(order, checkpoints));
    } catch (error) {
      // The graph may have changed since: the stream goes on without this state.
      context.onFault(error, `reading the state of thread ${threadId}`);
      return undefined;
    }
  }

  return app;
}

/** Where a run began is not where it ended. */
const withoutPlace = (configurable: Json | undefined): JsonObject =>
  Object.fromEntries(
    Object.entries(isObject(configurable) ? configurable : {}).filter(
      ([key]) => !key.startsWith('checkpoint_'),
    ),
  );

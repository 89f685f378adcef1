/** Endpoint that streams the frames of all runs of a thread until the client disconnects. */
import type { Actor } from '../../auth/authenticate.ts';
import type { Sendable } from '../../kernel/json-text.ts';
import { authorise } from '../access.ts';
import type { ServerContext } from '../context.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { events, problems } from '../openapi/descriptions.ts';
import { noThread } from '../replies.ts';
import { lastEventIdOf, sseReply } from '../sse.ts';
import { streamingReply } from '../streaming-reply.ts';
import { threadStreamQuery } from './schemas.ts';
import { toState } from './state-shapes.ts';
import { checkpointsOf, findThreadGraph } from './thread-graph.ts';
import type { ThreadRecord } from '../../store/port/views/threads.ts';

export const threadStreamEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/threads/{thread_id}/stream',
    tag: 'threads',
    summary: 'Stream all runs of a thread',
    query: threadStreamQuery,
    headers: {
      'Last-Event-ID':
        'Id of the last event that arrived: the stream resumes after it. `-` is the beginning.',
    },
    replies: { 200: events('Frames of all runs, from now on or after Last-Event-ID'), ...problems(404) },
    async handle({ context, actor, params: { thread_id: threadId }, query, c }) {
      const { filter } = await authorise(context, actor, 'threads:read', { thread_id: threadId });
      const find = () => context.log.views.threads.get(threadId, filter);
      const thread = await find();
      if (thread === undefined) throw noThread(threadId);
      const reply = streamingReply(
        { context, actor, c },
        { headers: { location: `/threads/${threadId}/stream` } },
      );
      const modes = query.stream_modes ?? query.stream_mode ?? ['run_modes'];
      // A run that is created once the reply has begun is part of it.
      const frames = await context.threadStreams.read(threadId, {
        modes,
        after: lastEventIdOf(c),
        // Another thread under the id of a deleted one is not this stream's.
        visible: async () => (await find())?.createdAt === thread.createdAt,
        state: (checkpointId) => stateAt(context, actor, thread, checkpointId),
        signal: reply.over.signal,
      });
      return sseReply(frames, reply);
    },
  }),
];

async function stateAt(
  context: ServerContext,
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

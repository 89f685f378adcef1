/** Endpoints that read and join existing runs. */
import { z } from 'zod';
import { authorise, grantedSearch } from '../access.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { listReply } from '../list-reply.ts';
import { events, json, problems, RUN_HEADERS } from '../openapi/descriptions.ts';
import { HttpProblem, jsonReply, noRun, noThread } from '../replies.ts';
import { pick } from '../select.ts';
import { lastEventIdOf, singleFrame, textReply, waitReply } from '../sse.ts';
import type { StreamingReply } from '../streaming-body.ts';
import { streamingReply } from '../streaming-reply.ts';
import { cancelAbandoned } from './abandon.ts';
import { findRun, locationHeaders, type RunRequest } from './find-run.ts';
import { readingOf } from './reading.ts';
import { runReply } from './reply.ts';
import {
  joinQuery,
  joinStreamQuery,
  runConditions,
  runList,
  type JoinQuery,
  type JoinStreamQuery,
} from './schemas.ts';
import { run, runResult, toRun } from './shapes.ts';
import type { RunRecord } from '../../store/port/views/runs.ts';

const joined = json(runResult, 'The result, when the run has ended');
const RESUME = { 'Last-Event-ID': 'Id of the last event that arrived: the stream resumes after it.' };
const streamed = events('The frames; one `error` event when the thread has no such run', RUN_HEADERS);

export const runReadEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/threads/{thread_id}/runs',
    tag: 'runs',
    summary: 'List the runs of a thread',
    query: runList,
    replies: { 200: json(z.array(run), 'A page of runs, newest first'), ...problems(404) },
    async handle({ context, actor, params: { thread_id: threadId }, query }) {
      const { threads, runs } = context.log.views;
      const read = await authorise(context, actor, 'threads:read', { thread_id: threadId });
      if ((await threads.get(threadId, read.filter)) === undefined) throw noThread(threadId);
      const granted = await authorise(context, actor, 'threads:search', {
        thread_id: threadId,
        metadata: query.metadata ?? {},
        ...(query.status !== undefined && { status: query.status }),
      });
      const { filter } = granted;
      if ((await threads.get(threadId, filter)) === undefined) throw noThread(threadId);
      const { metadata, status } = grantedSearch(runConditions, granted);
      const ids = await runs.list(
        {
          threadId,
          limit: query.limit,
          offset: query.offset,
          ...(status !== undefined && { status }),
          ...(metadata !== undefined && { metadata }),
        },
        filter,
      );
      return listReply(ids, async (runId) => {
        const found = await runs.get(runId, { threadId, filter });
        return found && pick(toRun(found), query.select);
      });
    },
  }),
  endpoint({
    method: 'get',
    path: '/threads/{thread_id}/runs/{run_id}',
    tag: 'runs',
    summary: 'Get a run',
    replies: { 200: json(run, 'The run'), ...problems(404) },
    handle: async (request) => jsonReply(toRun(await findRun(request, 'threads:read'))),
  }),
  endpoint({
    method: 'get',
    path: '/threads/{thread_id}/runs/{run_id}/join',
    tag: 'runs',
    summary: 'Wait for the end of a run',
    query: joinQuery,
    replies: { 200: joined, ...problems(404) },
    handle: (request) => join(request),
  }),
  endpoint({
    method: 'get',
    path: '/runs/{run_id}/join',
    tag: 'stateless runs',
    summary: 'Wait for the end of a stateless run',
    query: joinQuery,
    replies: { 200: joined, ...problems(404) },
    handle: (request) => join(request),
  }),
  endpoint({
    method: 'get',
    path: '/threads/{thread_id}/runs/{run_id}/stream',
    tag: 'runs',
    summary: 'Stream a run from any frame on',
    query: joinStreamQuery,
    headers: RESUME,
    replies: { 200: streamed },
    handle: joinStreamOnThread,
  }),
  endpoint({
    method: 'get',
    path: '/runs/{run_id}/stream',
    tag: 'stateless runs',
    summary: 'Stream a stateless run from any frame on',
    query: joinStreamQuery,
    headers: RESUME,
    replies: { 200: events('The frames', RUN_HEADERS), ...problems(404) },
    handle: async (request) => joinStream(request, await findRun(request, 'threads:read')),
  }),
];

async function join(request: RunRequest & { readonly query: JoinQuery }): Promise<Response> {
  const { streams } = request.context;
  const found = await findRun(request, 'threads:read');
  const reply = openReply(request, found, 'join');
  return waitReply(() => streams.ended(found, reply.over.signal), streams.result, reply);
}

type JoinStreamRequest = RunRequest & { readonly query: JoinStreamQuery };

/** Existing clients expect a stream with an error, not a 404, when the thread has no such run. */
async function joinStreamOnThread(
  request: JoinStreamRequest & { readonly params: Required<RunRequest['params']> },
): Promise<Response> {
  let found: RunRecord;
  try {
    found = await findRun(request, 'threads:read');
  } catch (error) {
    if (!(error instanceof HttpProblem) || error.status !== noRun().status) throw error;
    const missing = { error: 'HTTPException', message: `${error.status}: ${error.message}` };
    const { thread_id: threadId, run_id: runId } = request.params;
    const headers = locationHeaders(request, { threadId, runId }, 'stream');
    return textReply(singleFrame('error', missing), streamingReply(request, { headers }));
  }
  return joinStream(request, found);
}

async function joinStream(request: JoinStreamRequest, found: RunRecord): Promise<Response> {
  const { context, query, c } = request;
  const reading = await readingOf(context, found, query, lastEventIdOf(c));
  return runReply(context, found, reading, openReply(request, found, 'stream'));
}

/** `rest` is the last path segment of the `Location` header, where a client resumes a broken reply. */
function openReply(
  request: RunRequest & { readonly query: JoinQuery },
  found: RunRecord,
  rest: 'join' | 'stream',
): StreamingReply {
  // A HEAD request disconnects at once and must not cancel the run.
  const cancels = request.query.cancel_on_disconnect && request.c.req.method !== 'HEAD';
  return streamingReply(request, {
    headers: locationHeaders(request, found, rest),
    ...(cancels && { onLeave: () => cancelAbandoned(request.context, found) }),
  });
}

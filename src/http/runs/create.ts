/** Endpoints that create a run, on a thread or stateless, and return it, stream it or wait for its end. */
import { endpoint, type Endpoint, type EndpointRequest } from '../endpoint.ts';
import { events, json, IDEMPOTENCY_HEADER, problems, RUN_HEADERS } from '../openapi/descriptions.ts';
import { jsonReply } from '../replies.ts';
import { waitReply } from '../sse.ts';
import type { StreamingReply } from '../streaming-body.ts';
import { streamingReply } from '../streaming-reply.ts';
import { cancelAbandoned } from './abandon.ts';
import type { ToldEnd, Wake } from '../../streams/hub.ts';
import type { Subscriber } from '../../streams/subscriber.ts';
import { createRun, shownRun, type Created } from './creation.ts';
import { toIdempotencyKey } from './idempotency.ts';
import type { RunExtras } from './preparation.ts';
import { readingOfNew } from './reading.ts';
import { runReply } from './reply.ts';
import { runCreate, streamQuery, type RunCreate, type StreamQuery } from './schemas.ts';
import { run, runResult, toRun } from './shapes.ts';

const createdReply = json(run, 'The run, pending', { 'Content-Location': RUN_HEADERS['Content-Location'] });
const streamedReply = events('The frames of the run', RUN_HEADERS);
const waitedReply = json(runResult, 'The result, when the run has ended', RUN_HEADERS);

export const runCreationEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/threads/{thread_id}/runs',
    tag: 'runs',
    summary: 'Start a run in the background',
    headers: IDEMPOTENCY_HEADER,
    body: runCreate,
    replies: { 200: createdReply, ...problems(404, 409) },
    handle: (request) => start(request, request.params.thread_id, onThread),
  }),
  endpoint({
    method: 'post',
    path: '/threads/{thread_id}/runs/stream',
    tag: 'runs',
    summary: 'Start a run and stream it',
    headers: IDEMPOTENCY_HEADER,
    query: streamQuery,
    body: runCreate,
    replies: { 200: streamedReply, ...problems(404, 409) },
    handle: (request) => stream(request, request.params.thread_id, onThread),
  }),
  endpoint({
    method: 'post',
    path: '/threads/{thread_id}/runs/wait',
    tag: 'runs',
    summary: 'Start a run and wait for its end',
    headers: IDEMPOTENCY_HEADER,
    body: runCreate,
    replies: { 200: waitedReply, ...problems(404, 409) },
    async handle(request) {
      return wait(request, request.params.thread_id, onThread);
    },
  }),
  endpoint({
    method: 'post',
    path: '/runs',
    tag: 'stateless runs',
    summary: 'Start a stateless run in the background',
    headers: IDEMPOTENCY_HEADER,
    body: runCreate,
    replies: { 200: createdReply, ...problems(404) },
    handle: (request) => start(request, undefined, stateless),
  }),
  endpoint({
    method: 'post',
    path: '/runs/stream',
    tag: 'stateless runs',
    summary: 'Start a stateless run and stream it',
    headers: IDEMPOTENCY_HEADER,
    query: streamQuery,
    body: runCreate,
    replies: { 200: streamedReply, ...problems(404) },
    handle: (request) => stream(request, undefined, stateless),
  }),
  endpoint({
    method: 'post',
    path: '/runs/wait',
    tag: 'stateless runs',
    summary: 'Start a stateless run and wait for its end',
    headers: IDEMPOTENCY_HEADER,
    body: runCreate,
    replies: { 200: waitedReply, ...problems(404) },
    async handle(request) {
      // The official server also names the thread in `Content-Location` and not in `Location`.
      return wait(request, undefined, stateless);
    },
  }),
];

type CreationRequest = Pick<EndpointRequest<string, unknown, RunCreate>, 'context' | 'actor' | 'body' | 'c'>;

const onThread = ({ run: { threadId, runId } }: Created): string => `/threads/${threadId}/runs/${runId}`;
const stateless = ({ run: { runId } }: Created): string => `/runs/${runId}`;

/** Without `follow`, for replies that show the run, it does not start at once, so that its status in them is `pending`. */
const create = (
  { context, actor, body, c }: CreationRequest,
  threadId: string | undefined,
  follow?: RunExtras['follow'],
): Promise<Created> =>
  createRun(context, actor, body, threadId, {
    ...(follow && { startsAtOnce: true, follow }),
    // The key does not depend on the kind of reply: a client that waited may retry with a stream.
    idempotencyKey: toIdempotencyKey(c.req.header('idempotency-key'), actor, [
      threadId ?? null,
      c.var.body ?? {},
    ]),
  });

async function start(
  request: CreationRequest,
  threadId: string | undefined,
  pathOf: (created: Created) => string,
): Promise<Response> {
  const created = await create(request, threadId);
  const shown = toRun(await shownRun(request.context, created));
  return jsonReply(shown, 200, { 'content-location': pathOf(created) });
}

async function stream(
  request: CreationRequest & { readonly query: StreamQuery },
  threadId: string | undefined,
  pathOf: (created: Created) => string,
): Promise<Response> {
  let followed: Subscriber | undefined;
  const created = await create(request, threadId, (run) => {
    const subscriber = (followed = request.context.streams.follow(run));
    return () => {
      subscriber.close();
      followed = undefined;
    };
  });
  const path = pathOf(created);
  const reply = openReply(request, created, path, `${path}/stream`);
  return runReply(request.context, created.run, { ...readingOfNew(request.query), followed }, reply);
}

async function wait(
  request: CreationRequest,
  threadId: string | undefined,
  pathOf: (created: Created) => string,
): Promise<Response> {
  const { streams } = request.context;
  let followed: Wake<ToldEnd> | undefined;
  const created = await create(request, threadId, (run) => {
    const end = (followed = streams.followEnd(run));
    return () => {
      end.cancel();
      followed = undefined;
    };
  });
  const reply = openReply(request, created, onThread(created), `${pathOf(created)}/join`);
  const { signal } = reply.over;
  return waitReply(() => streams.ended(created.run, signal, followed), streams.result, reply);
}

/** `named` becomes `Content-Location`, the run's path; `location` is where a client resumes a broken reply. */
const openReply = (
  request: CreationRequest,
  { run: created, request: { on_disconnect: onDisconnect } }: Created,
  named: string,
  location: string,
): StreamingReply =>
  streamingReply(request, {
    headers: { 'content-location': named, location },
    ...(onDisconnect === 'cancel' && { onLeave: () => cancelAbandoned(request.context, created) }),
  });

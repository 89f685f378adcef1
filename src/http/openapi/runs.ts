import { z } from 'zod';
import {
  cancelMany,
  cancelManyQuery,
  cancelQuery,
  joinQuery,
  joinStreamQuery,
  runBatch,
  runCreate,
  runList,
  streamQuery,
  threadStreamQuery,
} from '../runs/schemas.ts';
import { events, json, nothing, problems, ONCE, RUN_HEADERS, type Reply, type Tag } from './descriptions.ts';
import { type Operation } from '../endpoint.ts';
import { run, runResult } from './shapes.ts';

const RESUME = { 'Last-Event-ID': 'The last event that arrived: the stream goes on after it.' };
const created = json(run, 'The run, pending', { 'Content-Location': RUN_HEADERS['Content-Location'] });
const streamed = events('The frames of the run', RUN_HEADERS);
const waited = json(runResult, 'The result, when the run has ended', RUN_HEADERS);

const create = (
  path: string,
  tag: Tag,
  summary: string,
  reply: Reply,
  ...refusals: (404 | 409)[]
): Operation => ({
  method: 'post',
  path,
  tag,
  summary,
  body: runCreate,
  headers: ONCE,
  replies: { 200: reply, ...problems(...refusals) },
  ...(path.endsWith('/stream') && { query: streamQuery }),
});

const join = (path: string, tag: Tag): Operation => ({
  method: 'get',
  path,
  tag,
  summary: 'Wait for the end of a run',
  query: joinQuery,
  replies: { 200: json(runResult, 'The result, when the run has ended'), ...problems(404) },
});

const joinStream = (path: string, tag: Tag): Operation => ({
  method: 'get',
  path,
  tag,
  summary: 'Follow a run from any frame',
  query: joinStreamQuery,
  headers: RESUME,
  replies: {
    200: events('The frames; one `error` event when there is no such run', {
      Location: RUN_HEADERS.Location,
    }),
  },
});

const ON_THREAD = '/threads/{thread_id}/runs';

export const runOperations: readonly Operation[] = [
  create(ON_THREAD, 'runs', 'Start a run in the background', created, 404, 409),
  create(`${ON_THREAD}/stream`, 'runs', 'Start a run and stream it', streamed, 404, 409),
  create(`${ON_THREAD}/wait`, 'runs', 'Start a run and wait for its end', waited, 404, 409),
  create('/runs', 'stateless runs', 'Start a stateless run in the background', created, 404),
  create('/runs/stream', 'stateless runs', 'Start a stateless run and stream it', streamed, 404),
  create('/runs/wait', 'stateless runs', 'Start a stateless run and wait for its end', waited, 404),
  {
    method: 'get',
    path: ON_THREAD,
    tag: 'runs',
    summary: 'List the runs of a thread',
    query: runList,
    replies: { 200: json(z.array(run), 'A page of runs, newest first'), ...problems(404) },
  },
  {
    method: 'get',
    path: `${ON_THREAD}/{run_id}`,
    tag: 'runs',
    summary: 'Get a run',
    replies: { 200: json(run, 'The run'), ...problems(404) },
  },
  {
    method: 'delete',
    path: `${ON_THREAD}/{run_id}`,
    tag: 'runs',
    summary: 'Delete a run and its checkpoints for good',
    replies: { 204: nothing('Deleted'), ...problems(404, 409) },
  },
  join(`${ON_THREAD}/{run_id}/join`, 'runs'),
  {
    method: 'post',
    path: '/runs/batch',
    tag: 'stateless runs',
    summary: 'Start many stateless runs in the background',
    description: 'Nothing is started when one of them is refused.',
    body: runBatch,
    headers: ONCE,
    replies: { 200: json(z.array(run), 'The runs, in the order of the request'), ...problems(404) },
  },
  {
    method: 'post',
    path: '/runs/cancel',
    tag: 'runs',
    summary: 'Cancel many runs',
    description: 'With `run_ids`, those that are there are cancelled also when others are not.',
    query: cancelManyQuery,
    body: cancelMany,
    replies: { 204: nothing('Asked for'), ...problems(404) },
  },
  join('/runs/{run_id}/join', 'stateless runs'),
  joinStream(`${ON_THREAD}/{run_id}/stream`, 'runs'),
  joinStream('/runs/{run_id}/stream', 'stateless runs'),
  {
    method: 'get',
    path: '/threads/{thread_id}/stream',
    tag: 'threads',
    summary: 'Follow all runs of a thread',
    query: threadStreamQuery,
    headers: { 'Last-Event-ID': 'The last event that arrived; `-` is the beginning of the thread.' },
    replies: { 200: events('Frames of all runs, from now on or after Last-Event-ID'), ...problems(404) },
  },
  {
    method: 'post',
    path: `${ON_THREAD}/{run_id}/cancel`,
    tag: 'runs',
    summary: 'Cancel a run',
    query: cancelQuery,
    replies: {
      202: nothing('Asked for'),
      200: json(z.object({}), 'The run has ended, with `wait`', RUN_HEADERS),
      ...problems(404),
    },
  },
];

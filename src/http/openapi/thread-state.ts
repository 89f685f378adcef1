import { z } from 'zod';
import { jsonObject } from '../fields.ts';
import { historyQuery, stateChoice, statePatch, stateQuery, stateUpdate } from '../threads/state-schemas.ts';
import { json, nothing, problems } from './descriptions.ts';
import { type Operation } from '../endpoint.ts';
import { checkpoint, threadState } from './shapes.ts';

const STATE = { 200: json(threadState, 'The state'), ...problems(404) };
const HISTORY = { 200: json(z.array(threadState), 'The states, newest first'), ...problems(404) };

export const threadStateOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/threads/{thread_id}/state',
    tag: 'threads',
    summary: 'Get the state of a thread',
    query: stateChoice,
    replies: STATE,
  },
  {
    method: 'get',
    path: '/threads/{thread_id}/state/{checkpoint_id}',
    tag: 'threads',
    summary: 'Get the state at a checkpoint',
    query: stateChoice,
    replies: STATE,
  },
  {
    method: 'post',
    path: '/threads/{thread_id}/state/checkpoint',
    tag: 'threads',
    summary: 'Get the state at a checkpoint or of a subgraph',
    description:
      'Without `checkpoint_id` the newest state of the namespace, without a checkpoint the thread’s own.',
    body: stateQuery,
    replies: STATE,
  },
  {
    method: 'post',
    path: '/threads/{thread_id}/state',
    tag: 'threads',
    summary: 'Write into the state of a thread',
    description:
      'As if the node `as_node` had returned `values`. Only between runs; the status of the thread follows the new head.',
    body: stateUpdate,
    replies: {
      200: json(
        z.object({ checkpoint, configurable: jsonObject, checkpoint_id: z.string().nullable() }),
        'The new checkpoint',
      ),
      ...problems(400, 404, 409),
    },
  },
  {
    method: 'patch',
    path: '/threads/{thread_id}/state',
    tag: 'threads',
    summary: 'Change the metadata of a thread',
    body: statePatch,
    replies: { 204: nothing('Done'), ...problems(404) },
  },
  {
    method: 'get',
    path: '/threads/{thread_id}/history',
    tag: 'threads',
    summary: 'List the states of a thread',
    query: historyQuery(10),
    replies: HISTORY,
  },
  {
    method: 'post',
    path: '/threads/{thread_id}/history',
    tag: 'threads',
    summary: 'Search the states of a thread',
    body: historyQuery(1),
    replies: HISTORY,
  },
];

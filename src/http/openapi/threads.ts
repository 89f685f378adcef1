import { z } from 'zod';
import {
  threadCount,
  threadCreate,
  threadGet,
  threadPatch,
  threadPrune,
  threadSearch,
} from '../threads/schemas.ts';
import { json, nothing, PAGE_HEADERS, problems } from './descriptions.ts';
import { type Operation } from '../endpoint.ts';
import { storage, thread } from './shapes.ts';

const page = json(z.array(thread), 'A page of threads', PAGE_HEADERS);

export const threadOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/threads',
    tag: 'threads',
    summary: 'Create a thread',
    body: threadCreate,
    replies: { 200: json(thread, 'The thread'), ...problems(400, 404, 409) },
  },
  {
    method: 'get',
    path: '/threads',
    tag: 'threads',
    summary: 'List threads',
    query: threadSearch,
    replies: { 200: page },
  },
  {
    method: 'post',
    path: '/threads/search',
    tag: 'threads',
    summary: 'Search threads',
    body: threadSearch,
    replies: { 200: page },
  },
  {
    method: 'post',
    path: '/threads/count',
    tag: 'threads',
    summary: 'Count threads',
    body: threadCount,
    replies: { 200: json(z.int(), 'How many match') },
  },
  {
    method: 'post',
    path: '/threads/prune',
    tag: 'threads',
    summary: 'Delete threads, or all but their latest state',
    description: 'Threads that are not there are passed over, as are busy ones with `keep_latest`.',
    body: threadPrune,
    replies: { 200: json(z.object({ pruned_count: z.int() }), 'How many were pruned') },
  },
  {
    method: 'post',
    path: '/threads/{thread_id}/copy',
    tag: 'threads',
    summary: 'Copy a thread with its checkpoints and without its runs',
    replies: { 200: json(thread, 'The new thread'), ...problems(409) },
  },
  {
    method: 'get',
    path: '/threads/{thread_id}/storage',
    tag: 'threads',
    summary: 'Tell how much a thread occupies',
    replies: { 200: json(storage, 'Bytes of text, as stored'), ...problems(404) },
  },
  {
    method: 'get',
    path: '/threads/{thread_id}',
    tag: 'threads',
    summary: 'Get a thread',
    query: threadGet,
    replies: { 200: json(thread, 'The thread'), ...problems(404) },
  },
  {
    method: 'patch',
    path: '/threads/{thread_id}',
    tag: 'threads',
    summary: 'Change the metadata of a thread',
    headers: { Prefer: '`return=minimal` asks for a reply without a body.' },
    body: threadPatch,
    replies: {
      200: json(thread, 'The thread'),
      204: nothing('Done, with `Prefer: return=minimal`'),
      ...problems(404),
    },
  },
  {
    method: 'delete',
    path: '/threads/{thread_id}',
    tag: 'threads',
    summary: 'Delete a thread for good',
    replies: { 204: nothing('Deleted'), ...problems(404) },
  },
];

import { z } from 'zod';
import { cronCount, cronCreate, cronPatch, cronSearch } from '../crons/schemas.ts';
import { json, nothing, PAGE_HEADERS, problems } from './descriptions.ts';
import { type Operation } from '../endpoint.ts';
import { cron } from './shapes.ts';

const create = (path: string, summary: string, description: string): Operation => ({
  method: 'post',
  path,
  tag: 'crons',
  summary,
  description,
  body: cronCreate,
  replies: { 200: json(cron, 'The cron'), ...problems(404) },
});

export const cronOperations: readonly Operation[] = [
  create(
    '/runs/crons',
    'Create a cron whose runs get threads of their own',
    '`on_run_completed` says what becomes of such a thread.',
  ),
  create(
    '/threads/{thread_id}/runs/crons',
    'Create a cron on a thread',
    'It goes with the thread. `on_run_completed` has no meaning here.',
  ),
  {
    method: 'post',
    path: '/runs/crons/search',
    tag: 'crons',
    summary: 'Search crons',
    description: '`select` knows `now` as well: the moment of the answer.',
    body: cronSearch,
    replies: { 200: json(z.array(cron), 'A page of crons', PAGE_HEADERS) },
  },
  {
    method: 'post',
    path: '/runs/crons/count',
    tag: 'crons',
    summary: 'Count crons',
    body: cronCount,
    replies: { 200: json(z.int(), 'How many match') },
  },
  {
    method: 'get',
    path: '/runs/crons/{cron_id}',
    tag: 'crons',
    summary: 'Get a cron',
    replies: { 200: json(cron, 'The cron'), ...problems(404) },
  },
  {
    method: 'patch',
    path: '/runs/crons/{cron_id}',
    tag: 'crons',
    summary: 'Change a cron',
    description:
      '`metadata` is merged key by key, everything else that is given replaces; `"end_time": null` takes the end away.',
    body: cronPatch,
    replies: { 200: json(cron, 'The cron'), ...problems(400, 404) },
  },
  {
    method: 'delete',
    path: '/runs/crons/{cron_id}',
    tag: 'crons',
    summary: 'Delete a cron',
    description: 'Runs that it has started go on.',
    replies: { 204: nothing('Deleted'), ...problems(404) },
  },
];

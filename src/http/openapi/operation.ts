/**
 * The words in which the interface describes itself. To add an operation: write it into the list of its resource's
 * file in this folder (a new resource: a new file, named in `operations.ts`), with the very schemas that its route
 * checks requests with and the shape of what it answers from `shapes.ts`. A test walks the router and fails for a
 * route without an operation, and for an operation without a route.
 *
 *     {
 *       method: 'post',
 *       path: '/threads/{thread_id}/copy',
 *       tag: 'threads',
 *       summary: 'Copy a thread',
 *       body: threadCopy,                                   // what `check` gets; left out when there is none
 *       query: z.object({ dry: z.boolean().optional() }),   // one parameter per member
 *       replies: { 200: json(thread, 'The new thread'), ...problems(404, 409) },
 *     }
 */
import { z } from 'zod';
import { problem } from './shapes.ts';

export const TAGS = {
  assistants: 'A graph with its configuration, in versions.',
  threads: 'Conversations and their state.',
  runs: 'Executions of an assistant on a thread.',
  'stateless runs': 'Executions on a thread of their own, which goes with them.',
  webhooks: 'What was sent when runs ended, and what is owed.',
  crons: 'Runs that start by themselves.',
  store: 'Items that outlive threads.',
  protocol: 'Commands and event channels of a thread.',
  integrations: 'Other protocols.',
  system: 'The server itself.',
} as const;

export type Tag = keyof typeof TAGS;
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

export interface Reply {
  readonly description: string;
  /** Media type to schema. */
  readonly content?: Readonly<Record<string, z.ZodType>>;
  /** Name to meaning. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Operation {
  readonly method: Method;
  /** With parameters in braces. Those that end in `_id` are UUIDs, but for `assistant_id`, which may be a name. */
  readonly path: string;
  readonly tag: Tag;
  /** A few words, without a full stop. */
  readonly summary: string;
  readonly description?: string;
  /** Every member is a query parameter. */
  readonly query?: z.ZodObject;
  /** Request headers, name to meaning. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Required when it refuses `{}`. */
  readonly body?: z.ZodType;
  readonly replies: Readonly<Record<number, Reply>>;
}

export const json = (schema: z.ZodType, description: string, headers?: Reply['headers']): Reply => ({
  description,
  content: { 'application/json': schema },
  ...(headers && { headers }),
});

/** Server-sent events. */
export const events = (description: string, headers?: Reply['headers']): Reply => ({
  description,
  content: { 'text/event-stream': z.string() },
  ...(headers && { headers }),
});

export const text = (type: string, description: string): Reply => ({
  description,
  content: { [type]: z.string() },
});

export const nothing = (description: string): Reply => ({ description });

const PROBLEMS = {
  400: 'The request cannot be answered in this state',
  404: 'Not found, or not visible to the caller',
  409: 'In conflict with what is there',
} as const;

/** Refusals with their own meaning here; those that every operation shares are added to all of them. */
export const problems = (...statuses: (keyof typeof PROBLEMS)[]): Record<number, Reply> =>
  Object.fromEntries(statuses.map((status) => [status, json(problem, PROBLEMS[status])]));

/** What search operations tell besides the page. */
export const PAGE_HEADERS = {
  'X-Pagination-Total': 'How many match in all.',
  'X-Pagination-Next': 'The offset of the next page; absent on the last one.',
} as const;

export const ONCE = {
  'Idempotency-Key':
    '1 to 255 visible ASCII characters. Sent again with the same key and body within 24 hours, the request is answered with the run that it was accepted as; with another body it is refused with 422. A refused request uses up no key.',
} as const;

export const RUN_HEADERS = {
  'Content-Location': 'The run, with nothing after its id.',
  Location: 'Where a reply that broke off goes on.',
} as const;

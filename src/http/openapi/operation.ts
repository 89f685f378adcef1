/**
 * Types and helpers that describe the API's operations. To add an operation, append it to the list in its resource's
 * file in this folder (`operations.ts` names these files). Use the schemas that its route validates with, and reply
 * shapes from `shapes.ts`. A test fails for a route without an operation and for an operation without a route.
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
  /** Schemas by media type. */
  readonly content?: Readonly<Record<string, z.ZodType>>;
  /** Descriptions by header name. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Operation {
  readonly method: Method;
  /** Path with parameters in braces. Parameters `…_id` are UUIDs, except `assistant_id`, which may be a name. */
  readonly path: string;
  readonly tag: Tag;
  /** Short title without a full stop. */
  readonly summary: string;
  readonly description?: string;
  /** Every member is a query parameter. */
  readonly query?: z.ZodObject;
  /** Descriptions of request headers by name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Schema of the body. The body is required if the schema rejects `{}`. */
  readonly body?: z.ZodType;
  readonly replies: Readonly<Record<number, Reply>>;
}

export const json = (schema: z.ZodType, description: string, headers?: Reply['headers']): Reply => ({
  description,
  content: { 'application/json': schema },
  ...(headers && { headers }),
});

/** A reply of server-sent events. */
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

/** Error replies specific to an operation; document.ts adds those that all operations share. */
export const problems = (...statuses: (keyof typeof PROBLEMS)[]): Record<number, Reply> =>
  Object.fromEntries(statuses.map((status) => [status, json(problem, PROBLEMS[status])]));

/** Reply headers of search operations. */
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

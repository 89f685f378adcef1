/** Descriptions that endpoints give to the OpenAPI document: tags, replies, headers. */
import { z } from 'zod';

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

export interface Reply {
  readonly description: string;
  /** Schemas by media type. */
  readonly content?: Readonly<Record<string, z.ZodType>>;
  /** Descriptions by header name. */
  readonly headers?: Readonly<Record<string, string>>;
}

export const problem = z
  .object({ detail: z.string() })
  .meta({ id: 'Problem', description: 'Why a request was refused, in words for a person.' });

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

export const file = (type: string, description: string): Reply => ({
  description,
  content: { [type]: z.string().meta({ format: 'binary' }) },
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

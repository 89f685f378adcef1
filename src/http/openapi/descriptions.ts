/** Descriptions that endpoints give to the OpenAPI document: tags, replies, headers. */
import { z } from 'zod';

export const TAGS = {
  assistants: 'Graphs with their configuration, in versions.',
  threads: 'Conversations: their state, history and metadata.',
  runs: 'Executions of an assistant on a thread.',
  'stateless runs': 'Executions on a thread of their own, which is deleted with the run.',
  webhooks: 'Notifications about the ends of runs, and their deliveries.',
  crons: 'Runs that start at scheduled times.',
  store: 'Items that are kept independently of threads.',
  protocol: 'Commands and protocol events of a thread.',
  integrations: 'Other protocols.',
  system: 'Health, metrics and description of the server.',
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
  .meta({ id: 'Problem', description: 'Why a request was refused, as text for people.' });

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
  400: 'The request is not possible in this state',
  404: 'Not found, or not visible to the caller',
  409: 'Conflict with the current state',
} as const;

/** Error replies specific to an operation; document.ts adds those that all operations share. */
export const problems = (...statuses: (keyof typeof PROBLEMS)[]): Record<number, Reply> =>
  Object.fromEntries(statuses.map((status) => [status, json(problem, PROBLEMS[status])]));

/** Reply headers of search operations. */
export const PAGE_HEADERS = {
  'X-Pagination-Total': 'Number of all matches; of threads exact up to 10,000.',
  'X-Pagination-Next': 'Offset of the next page; absent on the last page.',
} as const;

export const IDEMPOTENCY_HEADER = {
  'Idempotency-Key':
    '1 to 255 visible ASCII characters. A request with the same key and body within 24 hours returns the run of the first request; another body is refused with 422. A refused request does not use its key.',
} as const;

export const RUN_HEADERS = {
  'Content-Location': 'Path of the run.',
  Location: 'Path at which a client resumes a reply that broke off.',
} as const;

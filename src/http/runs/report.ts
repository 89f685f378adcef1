/** Endpoints that hand on what a run left: its report for people and coding agents, and its recorded exchanges. */
import { z } from 'zod';
import {
  readExchanges,
  UnreadableRecording,
  type ExchangeChoice,
  type ExchangePage,
} from '../../past/report/exchanges.ts';
import { DEFAULT_REPORT_CHARACTERS, MAX_REPORT_CHARACTERS, reportRun } from '../../past/report/run-report.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { limit, offset, withDefault } from '../fields.ts';
import { json, PAGE_HEADERS, problems, text } from '../openapi/descriptions.ts';
import { paginationHeaders } from '../pagination.ts';
import { HttpProblem, invalid, jsonReply } from '../replies.ts';
import { time } from '../reply-fields.ts';
import { findRun, type RunRequest } from './find-run.ts';

/** A page of 100 exchanges with two bodies each stays below the largest reply. */
const MAX_LISTED_BODY_BYTES = 64 * 1024;
const MAX_BODY_BYTES = 16 * 1024 * 1024;

const body = z
  .object({
    content_type: z.string().nullable(),
    size: z.int().nullable().meta({ description: 'Bytes without content encoding; null above the bound.' }),
    text: z.string().nullable().meta({ description: 'Null: the body is larger than the bound.' }),
    encoding: z.enum(['utf8', 'base64']),
  })
  .meta({ id: 'RecordedBody' });

const exchange = z
  .object({
    n: z.int().meta({ description: 'From 1, as `rewound rerun --answer` counts.' }),
    attempt: z.int(),
    step: z.int().nullable().meta({ description: 'Null outside of nodes.' }),
    node: z.string().nullable(),
    at: time,
    request: z.object({ method: z.string(), url: z.string(), body: body.nullable() }),
    answer: z
      .object({
        status: z.int(),
        status_text: z.string().nullable(),
        headers: z.record(z.string(), z.string()),
        body,
        took_ms: z.number(),
      })
      .nullable()
      .meta({ description: 'Null: none came.' }),
    failure: z.object({ name: z.string(), message: z.string(), code: z.string().nullable() }).nullable(),
  })
  .meta({
    id: 'RecordedExchange',
    description: 'A request of the run with its answer, or with how it failed.',
  });

async function readPage(request: RunRequest, choice: ExchangeChoice): Promise<ExchangePage> {
  const { runId } = await findRun(request, 'threads:read');
  try {
    return await readExchanges(request.context.log, runId, choice);
  } catch (error) {
    throw error instanceof UnreadableRecording ? invalid(error.message) : error;
  }
}

const MARKDOWN = 'text/markdown';
const CHARACTERS = `expected an integer from ${DEFAULT_REPORT_CHARACTERS} to ${MAX_REPORT_CHARACTERS}`;

export const runReportEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/threads/{thread_id}/runs/{run_id}/report',
    tag: 'runs',
    summary: 'Get the report of a run, for a colleague or a coding agent',
    description:
      'Markdown: where the run failed with the lines of code, its input, the state before, the last recorded calls, what ' +
      'was printed, and the commands that execute it again. Secrets read as their stand-ins. What users, models and tools ' +
      'wrote stands in fences. Code is quoted from files of the project alone, and for no imported thread.',
    query: z.object({
      max_characters: withDefault(
        z.int(CHARACTERS).min(DEFAULT_REPORT_CHARACTERS, CHARACTERS).max(MAX_REPORT_CHARACTERS, CHARACTERS),
        DEFAULT_REPORT_CHARACTERS,
      ),
    }),
    replies: { 200: text(MARKDOWN, 'The report'), ...problems(404) },
    async handle({ query, ...request }) {
      const run = await findRun(request, 'threads:read');
      const { log, projectFolders: folders } = request.context;
      const options = { maxCharacters: query.max_characters, folders, quotesImported: false };
      const report = await reportRun(log, run, options);
      return request.c.body(report, 200, { 'content-type': `${MARKDOWN}; charset=utf-8` });
    },
  }),
  endpoint({
    method: 'get',
    path: '/threads/{thread_id}/runs/{run_id}/exchanges',
    tag: 'runs',
    summary: 'List what a recorded run asked and was answered',
    description:
      'In the order in which the exchanges ended; none when the run was not recorded. Secrets read as their stand-ins. ' +
      'Bodies above 64 KiB are left out; `/exchanges/{n}` has them.',
    query: z.object({ limit: limit(20, 100), offset }),
    replies: { 200: json(z.array(exchange), 'Exchanges', PAGE_HEADERS), ...problems(404) },
    async handle({ query, ...request }) {
      const page = await readPage(request, { ...query, maxBytes: MAX_LISTED_BODY_BYTES });
      const { exchanges, total } = page;
      return jsonReply(exchanges, 200, paginationHeaders(query.offset, exchanges.length, total));
    },
  }),
  endpoint({
    method: 'get',
    path: '/threads/{thread_id}/runs/{run_id}/exchanges/{n}',
    tag: 'runs',
    summary: 'Get one exchange of a recorded run',
    description: 'With bodies of up to 16 MiB.',
    replies: { 200: json(exchange, 'The exchange'), ...problems(404) },
    async handle(request) {
      const { n } = request.params;
      if (!/^[1-9]\d{0,8}$/.test(n)) throw invalid('n: expected the number of an exchange, from 1');
      const page = await readPage(request, { offset: Number(n) - 1, limit: 1, maxBytes: MAX_BODY_BYTES });
      const [found] = page.exchanges;
      if (found === undefined)
        throw new HttpProblem(404, `The recording has ${page.total} exchanges, no ${n}`);
      return jsonReply(found);
    },
  }),
];

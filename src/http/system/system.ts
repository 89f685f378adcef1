/** Endpoints about the server itself: health, info, metrics, OpenAPI document and its page. */
import { z } from 'zod';
import type { Actor } from '../../auth/authenticate.ts';
import { authorise } from '../access.ts';
import type { ServerContext } from '../context.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { id, time } from '../reply-fields.ts';
import { json, nothing, problem, text } from '../openapi/descriptions.ts';
import { cutOff, jsonReply, notWell, toStudio } from '../replies.ts';
import { prefersPage } from '../studio/page.ts';
import { toJsonMetrics, toPrometheus } from './metrics.ts';
import { metricsQuery, okQuery } from './schemas.ts';

const ok = z.object({
  ...{ ok: z.literal(true), services: z.object({}).optional() },
  nodes: z
    .int()
    .optional()
    .meta({ description: 'Servers that share the log and lived a second ago; absent for a log in files.' }),
});

const info = z.object({
  version: z.string(),
  context: z.literal('js'),
  flags: z.record(z.string(), z.boolean()),
  host: z.object({
    kind: z.string(),
    project_id: z.string().nullable(),
    host_revision_id: z.string().nullable(),
    revision_id: z.string().nullable(),
    tenant_id: z.string().nullable(),
  }),
  metadata: z.record(z.string(), z.unknown()),
});

const jsonMetrics = z
  .object({
    queue: z.record(z.string(), z.number().nullable()),
    api: z.object({
      http_requests_total: z.array(
        z.object({ method: z.string(), path: z.string(), status: z.int(), count: z.int() }),
      ),
    }),
    workers: z.object({ max: z.int(), active: z.int(), available: z.int() }),
  })
  .catchall(z.union([z.number(), z.record(z.string(), z.number())]));

const verdict = z
  .looseObject({
    ...{ run_id: id, thread_id: id, graph_id: z.string(), at: time, took_ms: z.int() },
    verdict: z.enum(['equal', 'different', 'untried']),
    reasons: z.array(z.string()),
  })
  .meta({
    id: 'Verdict',
    description: 'The report of a re-execution, as `rewound rerun --json` prints it.',
  });

const openapi = z.looseObject({ openapi: z.string() });

const well = {
  200: json(ok, 'The server is up'),
  500: json(problem, 'With `check_db`: the log does not respond'),
  503: json(problem, 'The server is cut off from the log that it shares with others, and executes nothing'),
};

/** A2 Of runs on threads that the caller may read. */
async function readableVerdicts(context: ServerContext, actor: Actor): Promise<Response> {
  const all = context.verdicts();
  const search = { status: null, values: {}, metadata: {}, limit: Math.max(1, all.length), offset: 0 };
  const { filter } = await authorise(context, actor, 'threads:search', search);
  const shown = await Promise.all(
    all.map(async (each) => {
      const [threadId, runId] = [each['thread_id'] as string, each['run_id'] as string];
      return (await context.log.views.runs.get(runId, { threadId, filter })) === undefined ? [] : [each];
    }),
  );
  return jsonReply(shown.flat());
}

export const systemEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/ok',
    tag: 'system',
    summary: 'Check that the server is up',
    query: okQuery,
    replies: well,
    handle: ({ context, query }) => checkHealth(context, query.check_db),
  }),
  endpoint({
    method: 'get',
    path: '/',
    tag: 'system',
    summary: 'Check that the server is up, like /ok',
    description: 'A browser that opens the address is redirected to the studio.',
    query: okQuery,
    replies: { ...well, 302: nothing('To the studio') },
    handle: ({ context, query, c }) =>
      prefersPage(c) && !context.http.disabled.has('studio')
        ? toStudio()
        : checkHealth(context, query.check_db),
  }),
  endpoint({
    method: 'get',
    path: '/server/verdicts',
    tag: 'system',
    summary: 'List what saves did to earlier runs',
    description:
      'Of a server that `dev` started: what became of the last run of a graph, and of pinned runs, when they were executed ' +
      'again after a save; the newest first, at most 100. Other servers answer an empty list.',
    replies: { 200: json(z.array(verdict), 'Verdicts') },
    handle: ({ context, actor }) => readableVerdicts(context, actor),
  }),
  endpoint({
    method: 'get',
    path: '/info',
    tag: 'system',
    summary: 'Get version and features of the server',
    replies: { 200: json(info, 'Version and features') },
    handle({ context: { version, http } }) {
      return jsonReply({
        version,
        context: 'js',
        flags: {
          assistants: !http.disabled.has('assistants'),
          crons: !http.disabled.has('crons'),
          strict_resume: true,
          langsmith: false,
          langsmith_tracing_replicas: false,
          langsmith_tracing_session_on_runs: false,
          join_checkpoint_id: true,
          stream_namespaces: true,
          state_select: true,
        },
        host: {
          ...{ kind: 'self-hosted', project_id: null, host_revision_id: null },
          ...{ revision_id: null, tenant_id: null },
        },
        metadata: {},
      });
    },
  }),
  endpoint({
    method: 'get',
    path: '/metrics',
    tag: 'system',
    summary: 'Get metrics of the server',
    query: metricsQuery,
    replies: {
      200: {
        description:
          'Numbers by name, as text for Prometheus; with `format=json` also the load as queue, api and workers',
        content: {
          ...text('text/plain', '').content,
          'application/json': jsonMetrics,
        },
      },
    },
    async handle({ context, query, c }) {
      const metrics = await context.metrics.read();
      if (query.format === 'json') return jsonReply(toJsonMetrics(metrics));
      return c.body(toPrometheus(metrics), 200, {
        'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      });
    },
  }),
  endpoint({
    method: 'get',
    path: '/docs',
    tag: 'system',
    summary: 'Get the description of the API as a page',
    replies: { 200: text('text/html', 'A page without scripts that loads nothing') },
    handle({ context, c }) {
      const { body, policy } = context.about.docs();
      return c.body(body, 200, {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
    },
  }),
  endpoint({
    method: 'get',
    path: '/openapi.json',
    tag: 'system',
    summary: 'Get the description of the API',
    replies: { 200: json(openapi, 'OpenAPI 3.1') },
    handle: ({ context }) => jsonReply(context.about.document()),
  }),
];

async function checkHealth(
  { http, about, log: { nodes }, onFault }: ServerContext,
  checksLog: boolean,
): Promise<Response> {
  if (nodes.id === undefined) throw cutOff();
  // `/ok` answers also with the group `meta` disabled, but without checking the log.
  if (checksLog && !http.disabled.has('meta'))
    try {
      await about.checkLog();
    } catch (error) {
      onFault(error, 'checking the log');
      throw notWell();
    }
  return jsonReply({ ok: true, services: {}, ...(nodes.isShared && { nodes: nodes.count }) });
}

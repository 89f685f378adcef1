/** Routes about the server itself: health, info, metrics, OpenAPI document and its page. */
import { Hono } from 'hono';
import type { Env, ServerContext } from '../context.ts';
import { renderDocs } from './docs/page.ts';
import { toJsonMetrics, toPrometheus } from './metrics.ts';
import { describeServer } from '../openapi/served.ts';
import { readQuery } from '../query.ts';
import { jsonReply, notWell } from '../replies.ts';
import { check } from '../check.ts';
import { metricsQuery } from './schemas.ts';

export function systemRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();
  const { log } = context;
  const { disabled } = context.http;
  // Built on first request: building takes about 10 % of start-up time, and most servers never need it.
  const document = once(() =>
    describeServer({ ...context.describe, version: context.version, http: context.http }),
  );
  const docs = once(() => renderDocs(document()));
  let poisoned: string | undefined;
  log.onPoisoned((cause) => (poisoned = cause));

  const ok = async (url: string): Promise<Response> => {
    const { check_db: wanted } = readQuery(url, { check_db: 'boolean' });
    // `/ok` answers also with the group `meta` disabled, but without checking the log.
    if (wanted === true && !disabled.has('meta'))
      try {
        if (poisoned !== undefined) throw new Error(poisoned);
        await log.readAll(0, 1);
      } catch (error) {
        context.onFault(error, 'looking after the log');
        throw notWell();
      }
    return jsonReply({ ok: true, services: {} });
  };
  app.get('/ok', (c) => ok(c.req.url));
  app.get('/', (c) => ok(c.req.url));

  app.get('/info', (c) =>
    c.json({
      version: context.version,
      context: 'js',
      flags: {
        assistants: !disabled.has('assistants'),
        crons: !disabled.has('crons'),
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
    }),
  );

  app.get('/metrics', async (c) => {
    const { format } = check(metricsQuery, readQuery(c.req.url, { format: 'text' }));
    const metrics = await context.metrics.read();
    if (format === 'json') return c.json(toJsonMetrics(metrics));
    return c.body(toPrometheus(metrics), 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
  });

  app.get('/openapi.json', (c) => c.json(document()));

  app.get('/docs', (c) => {
    const { body, policy } = docs();
    return c.body(body, 200, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
  });
  return app;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

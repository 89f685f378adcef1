import * as assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { ENDPOINTS } from '../../src/http/endpoints.ts';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';
import { config, MISSING, newThread, say, startGated } from './scene.ts';

const test = suite('conformance: the server itself');

test('given a server, when it is asked how it is and what it is, then it tells', () =>
  withServer({}, async (s) => {
    const well = { ok: true, services: {}, ...(s.config.databaseUrl !== undefined && { nodes: 1 }) };
    assert.deepEqual((await s.request('GET', '/ok')).json, well);
    assert.deepEqual((await s.request('GET', '/ok?check_db=1')).json, well);
    const { json } = await s.request('GET', '/info');
    assert.equal(typeof json.version, 'string');
    assert.deepEqual(Object.keys(json.host), [
      ...['kind', 'project_id', 'host_revision_id', 'revision_id', 'tenant_id'],
    ]);
    assert.deepEqual(json.flags, {
      assistants: true,
      crons: true,
      strict_resume: true,
      stream_namespaces: true,
      join_checkpoint_id: true,
      langsmith: false,
      langsmith_tracing_replicas: false,
      langsmith_tracing_session_on_runs: false,
      state_select: true,
    });
  }));

test('given a server whose log does not answer, when it is asked how it is, then it says so only when it is to look', () =>
  withServer({ allowFaults: true }, async (s) => {
    for (const path of ['/ok', '/', '/ok?check_db=0'])
      assert.equal((await s.request('GET', path)).status, 200);
    await s.server.log.close();
    assert.equal((await s.request('GET', '/ok')).json.ok, true);
    for (const path of ['/ok?check_db=', '/ok?check_db=no', '/ok?check_db=False'])
      assert.equal((await s.request('GET', path)).status, 200, path);
    for (const path of ['/ok?check_db=1', '/?check_db=true', '/ok?check_db=maybe', '/ok?check_db=2']) {
      const { status, json } = await s.request('GET', path);
      assert.deepEqual([status, json], [500, { detail: 'The log does not respond.' }]);
    }
    // A database that is away is told once, when it goes.
    assert.equal(s.faults.length, s.config.databaseUrl === undefined ? 4 : 0);
  }));

test('given runs and deliveries, when the metrics are read, then they count them, as text and as JSON', () =>
  withWebhookSink((sink) =>
    withServer({}, async (s) => {
      const body = { assistant_id: 'echo', input: say('hi') };
      await s.request('POST', '/runs/wait', { ...body, on_completion: 'keep', webhook: sink.url() });
      await sink.next(1);
      await s.until(({ type }) => type === 'WebhookDelivered');
      const threadId = await newThread(s);
      await s.request('POST', `/threads/${threadId}/runs`, { ...body, after_seconds: 3600 });
      const { json } = await s.request('GET', '/metrics?format=json');
      const { rewound_runs: runs, rewound_webhook_deliveries: deliveries } = json;
      assert.deepEqual(runs, { pending: 1, running: 0, success: 1, error: 0, timeout: 0, interrupted: 0 });
      assert.deepEqual(deliveries, { owed: 0, delivered: 1, failed: 0 });
      assert.equal(json.rewound_runs_queued, 0);
      const { pending_runs_wait_time_max_secs: longest, ...queue } = json.queue;
      assert.ok(longest >= 0 && longest < 60);
      assert.deepEqual(queue, {
        ...{ n_pending: 1, n_running: 0, pending_runs_wait_time_med_secs: longest },
        pending_unblocked_runs_wait_time_max_secs: longest,
      });
      const max = s.config.concurrency;
      assert.deepEqual(json.workers, { max, active: 0, available: max });
      const waits = { method: 'POST', path: '/runs/wait', status: 200, count: 1 };
      assert.deepEqual(json.api.http_requests_total[0], waits);
      assert.equal(json.rewound_stream_readers, 0);
      assert.ok(json.rewound_open_connections >= 1 && json.process_resident_memory_bytes > 1e6);
      assert.deepEqual(Object.keys(json.nodejs_eventloop_delay_seconds), ['mean', 'p99', 'max']);
      const { text, headers } = await s.request('GET', '/metrics');
      assert.equal(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
      assert.match(text, /^# TYPE rewound_runs gauge$/m);
      assert.match(text, /^rewound_runs\{status="success"\} 1$/m);
      for (const line of text.trimEnd().split('\n'))
        assert.match(
          line,
          /^# (HELP|TYPE) [a-z_]+ .+$|^[a-z_]+(\{[a-z]+="[^"]+"(,[a-z]+="[^"]+")*\})? [\d.e+-]+$/,
        );
      assert.equal((await s.request('GET', '/metrics?format=xml')).status, 422);
    }),
  ));

test('given the switch of development, when everything is truncated, then only what graphs have of their own is left', () =>
  withServer({ env: { PLATFORM_ALLOW_TRUNCATE: 'true' } }, async (s) => {
    const truncate = (body: object, headers?: Record<string, string>) =>
      s.request('POST', '/internal/truncate', body, headers);
    const count = async (path: string, body: object = {}): Promise<number> => {
      const { json } = await s.request('POST', path, body);
      return (json.items ?? json).length as number;
    };
    const counts = async () => [
      await count('/threads/search'),
      await count('/assistants/search', { limit: 100 }),
      await count('/store/items/search', { namespace_prefix: [] }),
    ];
    const [, own] = await counts();
    const ids = [await newThread(s), await newThread(s)];
    await startGated(s, ids[0]!);
    await s.request('POST', '/runs', { assistant_id: 'echo', after_seconds: 3600 });
    await s.request('POST', '/assistants', { graph_id: 'echo', name: 'mine' });
    await s.request('PUT', '/store/items', { namespace: ['a'], key: 'k', value: { v: 1 } });
    const full = await counts();
    assert.deepEqual(full, [3, own! + 1, 1]);
    for (const refused of [await truncate({ runs: true }), await truncate({ threads: 'yes' })])
      assert.equal(refused.status, 422);
    for (const headers of [{ 'x-forwarded-for': '10.0.0.1' }, { origin: 'https://page.example' }])
      assert.equal((await truncate({ threads: true }, headers as Record<string, string>)).status, 404);
    assert.deepEqual((await truncate({ checkpoint: true })).json, { ok: true });
    assert.deepEqual(await counts(), full);
    const all = { runs: true, threads: true, assistants: true, checkpointer: true, store: true };
    assert.deepEqual((await truncate(all)).json, { ok: true });
    assert.deepEqual(await counts(), [0, own, 0]);
    const { json } = await s.request('GET', '/metrics?format=json');
    assert.ok(Object.values(json.rewound_runs).every((n) => n === 0));
    assert.equal((await s.request('GET', `/threads/${ids[0]}`)).status, 404);
  }));

test('given no switch, when somebody wants to truncate, then there is no such route', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const { status, json } = await s.request('POST', '/internal/truncate', { threads: true });
    assert.deepEqual([status, json], [404, { detail: 'Not found' }]);
    assert.equal((await s.request('GET', `/threads/${threadId}`)).status, 200);
  }));

test('given the page of the description, when it is read, then it needs nothing else, allows nothing else, and shows every operation', () =>
  withServer({}, async (s) => {
    const { text, headers } = await s.request('GET', '/docs');
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(policy, /^default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'/);
    const [, style = ''] = /<style>([^]*?)<\/style>/.exec(text) ?? [];
    assert.ok(policy.includes(createHash('sha256').update(style).digest('base64')));
    assert.doesNotMatch(text, /<script|\son\w+=|style=|https?:\/\/|\bsrc=/);
    const links = [...text.matchAll(/href="([^"]*)"/g)].map(([, link = '']) => link);
    const ids = new Set([...text.matchAll(/id="([^"]*)"/g)].map(([, id]) => `#${id}`));
    for (const link of links) assert.ok(link === 'openapi.json' || ids.has(link), link);
    for (const { method, path, summary } of ENDPOINTS) {
      assert.ok(text.includes(`<span class="m ${method}">${method}</span> <code>${path}</code>`), path);
      assert.ok(text.includes(summary), summary);
    }
  }));

test('given a page of another origin, when its browser asks first and then calls, then it may read every answer', () =>
  withServer({ config: config('platform.auth.json') }, async (s) => {
    const origin = { origin: 'https://app.example' };
    const preflight = await s.request('OPTIONS', `/threads/${MISSING}/runs/stream`, undefined, {
      ...origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,last-event-id,x-api-key',
    });
    assert.deepEqual([preflight.status, preflight.text], [204, '']);
    assert.match(preflight.headers.get('access-control-allow-methods') ?? '', /POST/);
    const allowed = preflight.headers.get('access-control-allow-headers') ?? '';
    for (const name of ['authorization', 'content-type', 'last-event-id', 'x-api-key'])
      assert.ok(allowed.includes(name), allowed);

    const as = { ...origin, authorization: 'Bearer alice-token' };
    for (const [status, method, path, body, headers] of [
      [200, 'GET', '/threads', undefined, as],
      [200, 'POST', '/runs/stream', { assistant_id: 'echo', input: say('hi') }, as],
      [200, 'POST', '/runs/wait', { assistant_id: 'echo', input: say('hi') }, as],
      [401, 'GET', '/threads', undefined, origin],
      [404, 'GET', `/threads/${MISSING}`, undefined, as],
      [404, 'GET', '/nothing', undefined, as],
      [422, 'POST', '/runs', {}, as],
    ] as const) {
      const answer = await s.request(method, path, body, headers);
      assert.equal(answer.status, status, path);
      assert.equal(answer.headers.get('access-control-allow-origin'), '*', path);
      // Anybody's page may call, so no page may use what the browser keeps of a login.
      assert.equal(answer.headers.get('access-control-allow-credentials'), null);
      const exposed = answer.headers.get('access-control-expose-headers') ?? '';
      for (const name of ['content-location', 'location', 'x-pagination-total', 'x-pagination-next'])
        assert.ok(exposed.includes(name), exposed);
      assert.equal(answer.headers.get('cache-control'), 'no-store', path);
    }
  }));

test('given long lists where one value is due, when they are sent, then they are refused or searched at once', () =>
  withServer({}, async (s) => {
    // Each of these would hold up the whole server for long if every item were looked at with care.
    const wrong = `[${'1,'.repeat(490_000)}1]`;
    const tags = await s.request('POST', '/runs', `{"assistant_id":"echo","config":{"tags":${wrong}}}`);
    assert.equal(tags.status, 422);
    assert.match(tags.json.detail, /^config\.tags: expected a list of strings, at most 1000$/);
    const numbers = Array.from({ length: 200_000 }, (_, index) => index);
    const { json } = await s.request('POST', '/threads', { metadata: { numbers } });
    for (const [wanted, found] of [
      [[...numbers].reverse(), 1],
      [[...numbers, -1], 0],
    ] as const) {
      const answer = await s.request('POST', '/threads/search', {
        metadata: { numbers: wanted },
        select: ['thread_id'],
      });
      assert.deepEqual(answer.json, Array(found).fill({ thread_id: json.thread_id }));
    }
  }));

test('metrics count requests by method, route and status (official 6)', () =>
  withServer({}, async (s) => {
    const thread = await newThread(s);
    await s.request('GET', `/threads/${thread}`);
    await s.request('GET', `/threads/${MISSING}`);
    await s.request('GET', '/nowhere');
    const { text } = await s.request('GET', '/metrics');
    for (const line of [
      'rewound_http_requests_total{method="POST",path="/threads",status="200"} 1',
      'rewound_http_requests_total{method="GET",path="/threads/:thread_id",status="200"} 1',
      'rewound_http_requests_total{method="GET",path="/threads/:thread_id",status="404"} 1',
      'rewound_http_requests_total{method="GET",path="other",status="404"} 1',
    ])
      assert.ok(text.includes(line), line);
    assert.match(
      text,
      /rewound_http_request_seconds_total\{method="POST",path="\/threads",status="200"\} 0\.\d+/,
    );
  }));

test.run();

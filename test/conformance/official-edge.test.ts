/** What every path has around it; the numbers name sections of the official server's behaviour. */
import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { MISSING, newThread } from './scene.ts';

const test = suite('conformance: methods, slashes, health');

test('a wrong method on a known path is a 405 that names the right ones (official 6)', () =>
  withServer({}, async (s) => {
    for (const [method, path, allow] of [
      ['PUT', '/threads', 'GET, HEAD, POST'],
      ['POST', '/info', 'GET, HEAD'],
      ['PATCH', `/threads/${MISSING}/runs`, 'GET, HEAD, POST'],
      ['DELETE', '/store/items/search', 'POST'],
      // The path with a parameter that matches as well is another one.
      ['PUT', '/threads/search', 'POST'],
      ['PUT', '/assistants/count', 'POST'],
      ['PUT', '/runs/crons/search', 'POST'],
      ['PUT', `/threads/${MISSING}/runs/crons`, 'POST'],
      ['DELETE', `/threads/${MISSING}/state/checkpoint`, 'POST'],
      ['PUT', `/threads/${MISSING}`, 'DELETE, GET, HEAD, PATCH'],
    ] as const) {
      const { status, headers, json } = await s.request(method, path, {});
      assert.deepEqual([status, json], [405, { detail: 'Method Not Allowed' }], `${method} ${path}`);
      assert.equal(headers.get('allow'), allow, path);
    }
    assert.equal((await s.request('GET', '/nowhere')).status, 404);
  }));

test('a slash at the end of a known path leads to the path without it (official 6)', () =>
  withServer({}, async (s) => {
    await s.restart({ http: { ...s.config.http, mountPrefix: '/agents' } });
    const follow = (method: string, path: string, body?: string) =>
      fetch(`${s.url}${path}`, {
        ...{ method, redirect: 'manual', headers: { 'content-type': 'application/json' } },
        ...(body !== undefined && { body }),
      });
    const found = await follow('POST', '/threads/?a=1', '{}');
    assert.deepEqual([found.status, found.headers.get('location')], [307, '/agents/threads?a=1']);
    assert.equal((await follow('POST', '/nowhere/', '{}')).status, 404);
    const health = await fetch(new URL('/ok', s.url));
    assert.deepEqual([health.status, await health.json()], [200, { ok: true, services: {} }]);
    assert.equal((await fetch(new URL('/threads', s.url))).status, 404);
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

test('/info names its host and what it does not trace (official 6)', () =>
  withServer({}, async (s) => {
    const { json } = await s.request('GET', '/info');
    assert.deepEqual(Object.keys(json.host), [
      'kind',
      'project_id',
      'host_revision_id',
      'revision_id',
      'tenant_id',
    ]);
    assert.equal(json.flags.langsmith_tracing_replicas, false);
    assert.equal(json.flags.langsmith_tracing_session_on_runs, false);
  }));

test.run();

import * as assert from 'node:assert/strict';
import { Client } from '@langchain/langgraph-sdk';
import { PUBLIC_ROUTES } from '../../src/http/access.ts';
import { suite } from '../support/suite.ts';
import { PROJECT, withServer, type TestServer, type TestServerOptions } from '../support/with-server.ts';
import { config, hastyClock, MISSING, say, textsOf } from './scene.ts';

const test = suite('conformance: authentication');

const AUTH = { config: config('platform.auth.json') };
const CANARY = /canary/;
/** The same project with another handler. */
const withHandler = (exportName: string): TestServerOptions => ({
  config: config('platform.auth.json'),
  overrides: { auth: { file: `${PROJECT}auth-variants.ts`, exportName } },
});

/** Every route of the router, as a request that would reach it. */
function requestsOf(s: TestServer): { method: string; path: string; route: string }[] {
  const routes = new Map(
    s.server.app.routes
      .filter(({ method, path }) => method !== 'ALL' && !path.endsWith('*'))
      .map(({ method, path }) => [`${method} ${path}`, { method, path }]),
  );
  return [...routes].map(([route, { method, path }]) => ({
    method,
    path: path
      .replace(':id', 'echo')
      .replace(/:\w+/g, MISSING)
      .replace(/^\/store\/items$/, '$&?namespace=n&key=k'),
    route,
  }));
}

const send = (s: TestServer, { method, path }: { method: string; path: string }, headers = {}) =>
  s.request(
    method,
    path,
    method === 'GET' || method === 'DELETE'
      ? undefined
      : { assistant_id: 'echo', thread_ids: [], namespace: ['n'], key: 'k', value: { owner: 'alice' } },
    headers,
  );

test('given every route of the router, when it is called without good credentials, then 401 unless it is public (A1)', () =>
  withServer(AUTH, async (s) => {
    const requests = requestsOf(s);
    assert.ok(requests.length >= 24, `${requests.length}`);
    const PUBLIC = ['/', '/ok', '/info', '/metrics', '/docs', '/openapi.json'].map((path) => `GET ${path}`);
    assert.deepEqual([...PUBLIC_ROUTES], PUBLIC);
    const before = await s.events();
    for (const request of [
      ...requests,
      { method: 'GET', path: '/no/such/route', route: '' },
      { method: 'PUT', path: '/threads', route: '' },
      { method: 'POST', path: '/ok', route: '' },
      { method: 'GET', path: '/ok/', route: '' },
      { method: 'GET', path: `/thread/${MISSING}`, route: '' },
    ])
      for (const headers of [
        {},
        { authorization: 'Bearer nobody-token' },
        { authorization: 'alice-token' },
        { 'x-api-key': 'alice-token' },
        { 'x-auth-scheme': 'langsmith', 'x-api-key': 'any' },
        { 'x-forwarded-user': 'alice', cookie: 'authorization=Bearer alice-token' },
      ]) {
        const answer = await send(s, request, headers);
        if (PUBLIC_ROUTES.has(request.route)) assert.equal(answer.status, 200);
        else
          assert.deepEqual([answer.status, answer.json], [401, { detail: 'Invalid token' }], request.route);
      }
    assert.deepEqual(await s.events(), before);
  }));

test('given a handler that refuses with headers, when it is asked, then status, detail and headers are its own', () =>
  withServer(withHandler('steered'), async (s) => {
    const refused = await s.request('GET', '/threads', undefined, { 'x-authenticate': 'refuses' });
    assert.deepEqual([refused.status, refused.json], [401, { detail: 'Token expired' }]);
    assert.equal(refused.headers.get('www-authenticate'), 'Bearer error="expired"');
    const plain = await s.request('GET', '/threads', undefined, { 'x-authenticate': 'plain' });
    assert.deepEqual([plain.status, plain.json], [403, { detail: 'Forbidden' }]);
    const unknown = await s.request('GET', '/threads', undefined, { 'x-authenticate': 'unknown' });
    assert.deepEqual([unknown.status, unknown.json], [401, { detail: 'Unauthorized' }]);
  }));

test('given a handler that throws, hangs or answers junk, when it is asked, then it denies and tells no value (A2, A4)', () =>
  withServer({ ...withHandler('steered'), clock: hastyClock(), allowFaults: true }, async (s) => {
    const before = await s.events();
    const nameless = ['nobody', 'blank', 'nothing', 'number', 'list'];
    const faulty = ['throws', 'rejects', 'hangs', 'odd', 'impossible'];
    for (const [index, way] of [...nameless, ...faulty].entries()) {
      const answer = await s.request('POST', '/threads', {}, { 'x-authenticate': way });
      const told = nameless.includes(way)
        ? [400, { detail: 'the auth user: identity must be a non-empty string' }]
        : [500, { detail: 'Internal server error' }];
      assert.deepEqual([answer.status, answer.json], told, way);
      assert.doesNotMatch(JSON.stringify([...answer.headers]), CANARY);
      assert.equal(s.faults.length, index + 1, way);
    }
    assert.deepEqual(await s.events(), before);
    const text = await s.request('POST', '/threads', {}, { 'x-authenticate': 'text' });
    assert.equal(text.status, 200);
  }));

test('given a handler that reads the body, when a run is created, then the server still has all of it', () =>
  withServer(withHandler('steered'), async (s) => {
    const body = { assistant_id: 'sees', input: say('x'.repeat(100_000)) };
    const { json } = await s.request('POST', '/runs/wait', body, { 'x-authenticate': 'reads' });
    assert.equal(json.identity, `read ${JSON.stringify(body).length}`);
    assert.equal(String(textsOf(json)[0]).length, 100_000);
  }));

test('given each operation, when its handler is asked, then it is the one of the table with its payload', () =>
  withServer(withHandler('steered'), async (s) => {
    const thread = (await s.request('POST', '/threads', {})).json.thread_id;
    const { run_id: run } = (await s.request('POST', `/threads/${thread}/runs`, { assistant_id: 'echo' }))
      .json;
    const created =
      'threads:create_run after_seconds,assistant_id,if_not_exists,kwargs,metadata,' +
      'multitask_strategy,prevent_insert_if_inflight,run_id,status,thread_id';
    for (const [method, path, told] of [
      ['POST', '/threads', 'threads:create if_exists,metadata,thread_id'],
      ['GET', `/threads/${thread}`, 'threads:read thread_id'],
      ['PATCH', `/threads/${thread}`, 'threads:update metadata,thread_id'],
      ['DELETE', `/threads/${thread}`, 'threads:delete thread_id'],
      ['GET', `/threads/${thread}/state`, 'threads:read thread_id'],
      ['GET', `/threads/${thread}/state/${MISSING}`, 'threads:read thread_id'],
      ['POST', `/threads/${thread}/state/checkpoint`, 'threads:read thread_id'],
      ['POST', `/threads/${thread}/state`, 'threads:read thread_id'],
      ['PATCH', `/threads/${thread}/state`, 'threads:update metadata,thread_id'],
      ['GET', `/threads/${thread}/history`, 'threads:read thread_id'],
      ['POST', `/threads/${thread}/history`, 'threads:read thread_id'],
      ['GET', '/threads', 'threads:search limit,metadata,offset,status,values'],
      ['POST', '/threads/search', 'threads:search limit,metadata,offset,status,values'],
      ['GET', `/threads/${thread}/runs`, 'threads:read thread_id'],
      ['GET', `/threads/${thread}/runs/${run}`, 'threads:read thread_id'],
      ['GET', `/threads/${thread}/runs/${run}/join`, 'threads:read thread_id'],
      ['GET', `/threads/${thread}/runs/${run}/stream`, 'threads:read thread_id'],
      ['GET', `/runs/${run}/join`, 'threads:read '],
      ['GET', `/runs/${run}/stream`, 'threads:read '],
      ['POST', `/threads/${thread}/runs/${run}/cancel`, 'threads:update action,metadata,thread_id'],
      ['POST', `/threads/${thread}/runs`, created],
      ['POST', `/threads/${thread}/runs/stream`, created],
      ['POST', `/threads/${thread}/runs/wait`, created],
      ['POST', '/runs', created],
      ['POST', '/runs/stream', created],
      ['POST', '/runs/wait', created],
      ['POST', '/assistants/search', 'assistants:search graph_id,limit,metadata,offset'],
      ['GET', '/assistants/echo', 'assistants:read assistant_id'],
      ['POST', '/assistants/count', 'assistants:search graph_id,limit,metadata,offset'],
      ['POST', '/assistants/echo/versions', 'assistants:read assistant_id,metadata'],
      [
        'POST',
        '/assistants',
        'assistants:create assistant_id,config,context,description,graph_id,if_exists,metadata,name',
      ],
      ['PATCH', '/assistants/echo', 'assistants:update assistant_id,metadata'],
      ['POST', '/assistants/echo/latest', 'assistants:update assistant_id,version'],
      ['DELETE', '/assistants/echo', 'assistants:delete assistant_id'],
      ['GET', '/assistants/echo/graph', 'assistants:read assistant_id'],
      ['GET', '/assistants/echo/schemas', 'assistants:read assistant_id'],
      ['GET', '/assistants/echo/subgraphs', 'assistants:read assistant_id'],
      ['GET', '/assistants/echo/subgraphs/a', 'assistants:read assistant_id'],
    ] as const) {
      const id = path === '/assistants' ? MISSING : 'echo';
      const body = method === 'POST' ? { assistant_id: id, graph_id: 'echo', version: 1 } : undefined;
      const answer = await s.request(method, path, body, { 'x-verdict': 'tells' });
      assert.deepEqual([answer.status, answer.json], [403, { detail: told }], `${method} ${path}`);
    }
  }));

test('given the official Auth class as handler, when two users call, then it authenticates and filters alike', () =>
  withServer(withHandler('official'), async (s) => {
    const as = (name: string) =>
      new Client({
        apiUrl: s.url,
        defaultHeaders: { authorization: `Bearer ${name}-token` },
        callerOptions: { maxRetries: 0 },
      });
    const refused = await s.request('GET', '/threads');
    assert.deepEqual([refused.status, refused.json], [401, { detail: 'Who are you?' }]);
    const thread = await as('alice').threads.create({ metadata: { owner: 'bob', mine: 1 } });
    assert.deepEqual(thread.metadata, { owner: 'alice', mine: 1 });
    await assert.rejects(as('bob').threads.get(thread.thread_id), /HTTP 404/);
    assert.deepEqual(await as('bob').threads.search({}), []);
    assert.equal((await as('alice').threads.search({})).length, 1);
  }));

test('given PLATFORM_API_KEY and no handler, when it is sent in x-api-key or not, then only the key opens', () =>
  withServer({ env: { PLATFORM_API_KEY: 'the-key' } }, async (s) => {
    for (const request of requestsOf(s).filter(({ route }) => !PUBLIC_ROUTES.has(route)))
      for (const key of [undefined, '', 'the-ke', 'the-key2', 'THE-KEY']) {
        const answer = await send(
          s,
          request,
          key === undefined ? { authorization: 'Bearer the-key' } : { 'x-api-key': key },
        );
        assert.deepEqual(
          [answer.status, answer.json],
          [401, { detail: 'Invalid or missing API key' }],
          request.route,
        );
      }
    assert.equal((await s.request('GET', '/ok')).status, 200);
    const client = new Client({ apiUrl: s.url, apiKey: 'the-key', callerOptions: { maxRetries: 0 } });
    const values = await client.runs.wait((await client.threads.create()).thread_id, 'sees', { input: {} });
    assert.deepEqual((values as { identity: unknown }).identity, null);
  }));

test('given a handler and input of 128 levels, when a run is created with it, then it is as welcome as without one', () =>
  withServer(AUTH, async (s) => {
    const deep = `${'['.repeat(126)}${']'.repeat(126)}`;
    for (const body of [
      `{"assistant_id":"echo","input":{"a":${deep}}}`,
      `{"assistant_id":"echo","metadata":{"a":${deep}}}`,
      `{"assistant_id":"echo","config":{"configurable":${deep.replace(/^\[/, '{"a":').replace(/\]$/, '}')}}}`,
    ]) {
      const { status, text } = await s.request('POST', '/runs/wait', body, {
        authorization: 'Bearer alice-token',
      });
      assert.equal(status, 200, text);
    }
  }));

test.run();

import * as assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import type { Config } from '../../src/config/config.ts';
import { suite } from '../support/suite.ts';
import { PROJECT, withServer, type TestServer } from '../support/with-server.ts';
import { config, MISSING, newThread, say, textsOf } from './scene.ts';

const test = suite('conformance: the custom app');

const APP = { config: config('platform.app.json') };
const AUTH = { config: config('platform.app-auth.json') };
const ALICE = { authorization: 'Bearer alice-token' };
const http = (s: TestServer, changes: Partial<Config['http']>): Partial<Config> => ({
  http: { ...s.config.http, ...changes },
});
const app = (exportName: string) => ({ app: { file: join(PROJECT, 'http-app.ts'), exportName } });

test('given a Hono app, when its routes and ours are asked for, then its come first and ours are wrapped', () =>
  withServer(APP, async (s) => {
    const hello = await s.request('GET', '/custom/hello/bob');
    assert.deepEqual(hello.json, { hello: 'bob', path: '/custom/hello/bob' });
    assert.deepEqual((await s.request('GET', '/runs/afakeroute')).json, { fake: true });
    const info = await s.request('GET', '/info');
    assert.equal(info.headers.get('x-custom-middleware'), 'was here');
    assert.equal(typeof info.json.version, 'string');
    const caught = await s.request('GET', '/info?interrupt');
    assert.deepEqual([caught.status, caught.json], [418, { intercepted: true, by: null }]);
    for (const path of ['/nothing', '/custom', '/custom/pass', `/thread/${MISSING}`]) {
      const { status, json, headers } = await s.request('GET', path);
      assert.deepEqual([status, typeof json.detail], [404, 'string'], path);
      // Denials of the built-in routes are replies, which the middleware sees like any other.
      assert.equal(headers.get('x-custom-middleware'), 'was here', path);
    }
    // One copy of each header, also where both sides have a say.
    assert.equal(info.headers.get('access-control-allow-origin'), '*');
    assert.equal(info.headers.get('cache-control'), 'no-store');
    assert.equal((await s.request('GET', '/custom/cached')).headers.get('cache-control'), 'max-age=60');
  }));

test('given a middleware that replaces the body, when a run is created, then the run is of the new body', () =>
  withServer(APP, async (s) => {
    const marks = join(s.dir, 'marks');
    const body = { assistant_id: 'steps', input: say('hi') };
    const headers = { 'x-configurable-header': marks };
    const streamed = await s.request('POST', '/runs/stream', body, headers);
    assert.equal(streamed.status, 200);
    assert.match(streamed.text, /event: values/);
    assert.ok(existsSync(marks));
    // Consumed and left alone, consumed and changed in the parsed form, and not touched at all.
    const threadId = await newThread(s);
    for (const [more, metadata] of [
      [{ 'x-look': '1' }, { by: 'client' }],
      [{ 'x-parsed': '1' }, { by: 'middleware' }],
      [{}, { by: 'client' }],
    ] as const) {
      const { json } = await s.request('PATCH', `/threads/${threadId}`, { metadata: { by: 'client' } }, more);
      assert.deepEqual(json.metadata, metadata);
    }
    assert.equal((await s.request('POST', '/custom/echo', 'any text')).text, 'any text');
  }));

test('a change that a middleware makes in the parsed body reaches the route', () =>
  withServer(APP, async (s) => {
    const threadId = await newThread(s);
    const body = { metadata: { by: 'client', more: 1 } };
    for (const more of [{ 'x-in-place': '1' }, { 'x-in-place': '1', 'x-look': '1' }]) {
      const { json } = await s.request('PATCH', `/threads/${threadId}`, body, more);
      assert.deepEqual(json.metadata, { by: 'a change in place', more: 1 });
    }
    const broken = await s.request('PATCH', `/threads/${threadId}`, '{', { 'x-in-place': '1' });
    assert.equal(broken.status, 422);
    assert.match(broken.json.detail, /^body: expected JSON/);
  }));

test('given a middleware that changes, replaces or copies a reply that streams, when a run streams or is waited for, then its reply is sent', () =>
  withServer(APP, async (s) => {
    const body = { assistant_id: 'steps', input: say('hi'), stream_mode: ['values'] };
    for (const path of ['/runs/stream', '/runs/wait']) {
      const ask = (how: string) => s.request('POST', path, body, { 'x-change': how });
      const plain = await ask('none');
      const shouted = await ask('shout');
      assert.deepEqual([plain.status, shouted.status], [200, 200]);
      assert.match(plain.text, /"messages"/);
      assert.match(shouted.text, /"MESSAGES"/);
      assert.ok(!shouted.text.includes('messages'));
      assert.equal(shouted.headers.get('content-type'), plain.headers.get('content-type'));
      const replaced = await ask('replace');
      assert.deepEqual([replaced.status, replaced.text], [203, 'something else']);
      const copied = await ask('copy');
      assert.deepEqual([copied.status, copied.headers.get('x-copied')], [200, 'yes']);
      assert.match(copied.text, /"messages"/);
    }
    await s.until(({ type }) => type === 'RunCompleted');
  }));

test('given a body beyond the limit, when it is for the custom app, then it is refused there too', () =>
  withServer({ ...APP, overrides: { maxBodyBytes: 2048 } }, async (s) => {
    const { status, json } = await s.request('POST', '/custom/echo', 'x'.repeat(4096));
    assert.deepEqual([status, json], [413, { detail: 'body: expected at most 2048 bytes' }]);
  }));

test('given an app that throws, when it is asked, then its own error handler answers', () =>
  withServer(APP, async (s) => {
    const error = await s.request('GET', '/custom/error');
    assert.deepEqual([error.status, error.text], [400, 'so it is']);
    const said: unknown[] = [];
    const { error: print } = console;
    // The library's default handler prints what it does not know.
    console.error = (...line) => void said.push(line);
    try {
      const fault = await s.request('GET', '/custom/fault');
      assert.deepEqual([fault.status, fault.text], [500, 'Internal Server Error']);
    } finally {
      console.error = print;
    }
    assert.equal(said.length, 1);
    await s.restart(http(s, app('handled')));
    const mine = await s.request('GET', '/custom/error');
    assert.deepEqual([mine.status, mine.json], [499, { mine: 'broken' }]);
    assert.deepEqual((await s.request('GET', '/nothing')).json, { detail: 'Not found' });
  }));

test('given a reply that streams, when it comes from the app or through its middlewares, then part by part', () =>
  withServer(APP, async (s) => {
    const response = await fetch(`${s.url}/custom/stream`);
    const parts: string[] = [];
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) parts.push(part);
    assert.deepEqual(parts, ['part 1\n', 'part 2\n', 'part 3\n', 'part 4\n']);
    const gate = join(s.dir, 'gate');
    const body = {
      assistant_id: 'steps',
      config: { configurable: { gate, count: 1 } },
      stream_mode: 'custom',
    };
    const run = await fetch(`${s.url}/runs/stream`, { method: 'POST', body: JSON.stringify(body) });
    assert.equal(run.headers.get('x-custom-middleware'), 'was here');
    const reader = run.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('event: metadata')) text += (await reader.read()).value ?? '';
    assert.ok(!text.includes('event: custom'));
    await reader.cancel();
  }));

test('client.runs.wait: given a route of the app that makes a client without an address, when called, then it is this server', () =>
  withServer(APP, async (s) => {
    const { status, json } = await s.request('GET', '/custom/client');
    assert.equal(status, 200);
    assert.deepEqual(textsOf(json), ['from inside', 'echo: from inside']);
  }));

test('given auth for custom routes, when they are called without credentials, then only middlewares answer (A1)', () =>
  withServer(AUTH, async (s) => {
    for (const path of [
      '/custom/hello/bob',
      '/runs/afakeroute',
      '/custom/whoami',
      '/custom/error',
      '/threads',
    ])
      assert.equal((await s.request('GET', path)).status, 401, path);
    assert.equal((await s.request('POST', '/custom/echo', 'x')).status, 401);
    assert.equal((await s.request('GET', '/info')).status, 200);
    // The middleware comes first, so it may answer before anybody asks who calls.
    assert.deepEqual((await s.request('GET', '/info?interrupt')).status, 418);
    const { json } = await s.request('GET', '/custom/whoami', undefined, ALICE);
    assert.deepEqual([json.user.identity, json.scopes], ['alice', ['alice:all']]);
    const inside = await s.request('GET', '/custom/client', undefined, ALICE);
    assert.deepEqual(textsOf(inside.json), ['from inside', 'echo: from inside']);
    const faults = await s.request('GET', '/custom/client', undefined, { authorization: 'Bearer nobody' });
    assert.equal(faults.status, 401);
  }));

test('given custom routes without auth, when they are called, then anybody may, and built-in routes ask (A1)', () =>
  withServer(AUTH, async (s) => {
    for (const order of ['middleware_first', 'auth_first'] as const) {
      await s.restart(http(s, { customRouteAuth: false, order }));
      assert.equal((await s.request('GET', '/custom/hello/bob')).status, 200, order);
      assert.equal((await s.request('GET', '/custom/whoami')).json, null, order);
      assert.equal((await s.request('GET', '/custom/pass')).status, 401, order);
      assert.equal((await s.request('GET', '/threads')).status, 401, order);
      assert.equal((await s.request('GET', '/threads', undefined, ALICE)).status, 200, order);
      assert.equal((await s.request('POST', '/runs/wait', { assistant_id: 'echo' })).status, 401, order);
    }
  }));

test('given auth_first, when a middleware would answer, then the caller is asked for before it', () =>
  withServer(AUTH, async (s) => {
    const ask = (headers?: Record<string, string>) => s.request('GET', '/threads/x', undefined, headers);
    assert.equal((await ask()).headers.get('x-custom-middleware'), 'was here');
    await s.restart(http(s, { order: 'auth_first' }));
    const denied = await ask();
    assert.equal(denied.status, 401);
    assert.equal(denied.headers.get('x-custom-middleware'), null);
    const body = { metadata: { a: 1 } };
    const { status, json } = await s.request('POST', '/threads', body, { ...ALICE, 'x-parsed': '1' });
    assert.deepEqual([status, json.metadata], [200, { by: 'middleware', owner: 'alice' }]);
    assert.equal((await s.request('GET', '/info')).status, 200);
    assert.equal((await s.request('GET', '/custom/whoami')).status, 401);
  }));

test('given an app of middlewares alone, when requests come in either order, then each is wrapped and asked who calls', () =>
  withServer(AUTH, async (s) => {
    for (const [order, wrapped] of [
      ['middleware_first', 'before auth'],
      ['auth_first', 'after auth'],
    ] as const) {
      await s.restart(http(s, { ...app('wrapping'), order }));
      const { status, headers } = await s.request('GET', '/threads', undefined, ALICE);
      assert.deepEqual([status, headers.get('x-wrapped')], [200, wrapped]);
      assert.equal((await s.request('GET', '/threads')).status, 401);
      assert.equal((await s.request('GET', '/ok')).status, 200);
    }
  }));

test('given a plain object with fetch, when it does not handle a request, then ours answers, and its 404 is its own', () =>
  withServer(APP, async (s) => {
    await s.restart(http(s, { ...app('plain'), mountPrefix: '/under' }));
    const echo = await s.request('POST', '/plain/echo', 'text');
    assert.deepEqual([echo.status, echo.text], [201, 'text']);
    const missing = await s.request('GET', '/plain/missing');
    assert.deepEqual([missing.status, missing.text], [404, 'mine, and missing']);
    const nothing = await s.request('GET', '/plain/other');
    assert.deepEqual([nothing.status, nothing.json], [404, { detail: 'Not found' }]);
    assert.equal(nothing.headers.get('x-not-handled'), null);
    const { json } = await s.request('POST', '/runs/wait', { assistant_id: 'echo', input: say('hi') });
    assert.deepEqual(textsOf(json), ['hi', 'echo: hi']);
  }));

test('given a plain object with fetch and auth, when it is asked, then it hears of callers that are known (A1)', () =>
  withServer(AUTH, async (s) => {
    await s.restart(http(s, app('plain')));
    assert.equal((await s.request('POST', '/plain/echo', 'text')).status, 401);
    assert.equal((await s.request('POST', '/plain/echo', 'text', ALICE)).status, 201);
    await s.restart(http(s, { ...app('plain'), customRouteAuth: false }));
    assert.equal((await s.request('POST', '/plain/echo', 'text')).status, 201);
    assert.equal((await s.request('GET', '/threads')).status, 401);
  }));

test('own and passed-on replies of a custom app are sent, with our headers where it has none', () =>
  withServer(APP, async (s) => {
    await s.restart(http(s, app('plain')));
    const headersOf = async (path: string, text: string): Promise<(string | null)[]> => {
      const reply = await s.request('GET', path);
      assert.deepEqual([reply.status, reply.text], [200, text]);
      return ['cache-control', 'access-control-allow-origin'].map((name) => reply.headers.get(name));
    };
    assert.deepEqual(await headersOf('/plain/passed-on', 'from elsewhere'), ['no-store', '*']);
    assert.deepEqual(await headersOf('/plain/for-one', 'for one'), ['no-store', 'https://one.example']);
  }));

test('given a plain object whose fetch throws, when it is asked, then 500 without its words', () =>
  withServer({ ...APP, allowFaults: true }, async (s) => {
    await s.restart(http(s, app('plain')));
    const { status, json } = await s.request('GET', '/plain/broken');
    assert.deepEqual([status, json], [500, { detail: 'Internal server error' }]);
    assert.match(String(s.faults[0]), /not for clients/);
  }));

test('given an app that describes itself, when the description is read, then it holds both, and the page shows it escaped', () =>
  withServer(APP, async (s) => {
    await s.restart(http(s, app('described')));
    const { json } = await s.request('GET', '/openapi.json');
    assert.equal(json.paths['/custom/plain'].get.summary, 'A <b>plain</b> route');
    assert.ok(json.paths['/threads'] && json.components.schemas.Thread && json.components.schemas.Extra);
    const { text } = await s.request('GET', '/docs');
    assert.ok(text.includes('A &lt;b&gt;plain&lt;/b&gt; route') && !text.includes('<b>plain'));
  }));

test('given an export that is no app, when the server starts, then it says so and does not', () =>
  withServer(APP, async (s) => {
    const bad = http(s, app('nothing'));
    await assert.rejects(
      s.restart(bad),
      /http\.app \(.*http-app\.ts\): its export "nothing" is no object with fetch/,
    );
    await s.restart();
    await assert.rejects(s.restart(http(s, app('lost'))), /http\.app .*does not export "lost"/);
    await s.restart();
    const client = new Client({ apiUrl: s.url });
    assert.ok((await client.assistants.search()).length > 0);
  }));

test.run();

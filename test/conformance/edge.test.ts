import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { Config } from '../../src/config/config.ts';
import { GROUPS } from '../../src/config/http.ts';
import { ENDPOINTS } from '../../src/http/endpoints.ts';
import { suite } from '../support/suite.ts';
import { withTempDir } from '../support/temp-dir.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, MISSING, say } from './scene.ts';
import { withTcpProxy } from '../support/tcp-proxy.ts';

const test = suite('conformance: the http block of the configuration');

const EDGE = { config: config('platform.edge.json') };
const ALICE = { authorization: 'Bearer alice-token' };
const http = (s: TestServer, changes: Partial<Config['http']>): Partial<Config> => ({
  http: { ...s.config.http, ...changes },
});

test('given origins that may call, when pages ask, then these are told so, with credentials, and others are not', () =>
  withServer(EDGE, async (s) => {
    for (const [origin, allowed] of [
      ['https://app.example', 'https://app.example'],
      ['https://other.example', 'https://other.example'],
      ['https://app.example.evil', null],
      ['http://app.example', null],
      ['null', null],
    ] as const)
      for (const method of ['GET', 'OPTIONS']) {
        const { status, headers } = await s.request(method, '/info', undefined, { origin });
        assert.equal(status, method === 'GET' ? 200 : 204);
        assert.equal(headers.get('access-control-allow-origin'), allowed, origin);
        assert.equal(headers.get('access-control-allow-credentials'), allowed && 'true', origin);
        assert.match(headers.get('vary') ?? '', /Origin/);
      }
    const { headers } = await s.request('OPTIONS', '/threads', undefined, {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-two',
    });
    assert.equal(headers.get('access-control-allow-methods'), 'GET,POST');
    assert.equal(headers.get('access-control-allow-headers'), 'x-one,content-type');
    assert.equal(headers.get('access-control-max-age'), '30');
    const exposed = 'x-mine,content-location,location,x-pagination-total,x-pagination-next';
    assert.equal(headers.get('access-control-expose-headers'), exposed);
  }));

test('given a pattern of origins, when pages ask, then it has to match the whole origin, and the list counts for nothing', () =>
  withServer(EDGE, async (s) => {
    const { cors } = s.config.http;
    await s.restart(http(s, { cors: { ...cors, originRegex: 'https://[a-z]+\\.pages\\.example' } }));
    for (const [origin, allowed] of [
      ['https://one.pages.example', 'https://one.pages.example'],
      ['https://one.pages.example.evil', null],
      ['https://app.example', null],
    ] as const) {
      const { headers } = await s.request('GET', '/info', undefined, { origin });
      assert.equal(headers.get('access-control-allow-origin'), allowed, origin);
    }
  }));

test('given CORS_ALLOW_ORIGINS with a star, when credentials were asked for, then they are never allowed with it', () =>
  withServer({ ...EDGE, env: { CORS_ALLOW_ORIGINS: '*', MOUNT_PREFIX: '' } }, async (s) => {
    assert.ok(s.config.warnings.some((warning) => warning.includes('allow_credentials')));
    const { headers } = await s.request('GET', '/info', undefined, { origin: 'https://any.example' });
    assert.equal(headers.get('access-control-allow-origin'), '*');
    assert.equal(headers.get('access-control-allow-credentials'), null);
  }));

test('a mount prefix has the whole interface below it, and beside it only /ok (official 6)', () =>
  withServer(EDGE, async (s) => {
    assert.match(s.url, /:\d+\/agents\/v1$/);
    const root = new URL(s.url).origin;
    for (const path of ['/info', '/threads', '/agents', '/agents/v1x/ok', '/agents/v12/ok'])
      assert.equal((await fetch(`${root}${path}`)).status, 404, path);
    for (const path of ['/ok', '/', '', '/docs'])
      assert.equal((await fetch(`${s.url}${path}`)).status, 200, path);
    assert.equal((await s.request('GET', '/threads')).status, 401);
    assert.equal(
      (await s.request('GET', `/thread/${MISSING}`, undefined, ALICE)).json.detail.slice(0, 6),
      'Thread',
    );
    const { json } = await s.request('GET', '/openapi.json');
    assert.deepEqual(json.servers, [{ url: '/agents/v1' }]);
    assert.deepEqual(json.components.securitySchemes, { bearer: { type: 'http', scheme: 'bearer' } });
    assert.deepEqual(json.security, [{ bearer: [] }]);
    assert.deepEqual(await new Validator().validate(json), { valid: true });

    const body = { assistant_id: 'echo', input: say('hi') };
    const run = await s.request('POST', '/runs/stream', body, ALICE);
    const location = run.headers.get('location') ?? '';
    assert.match(location, /^\/agents\/v1\/runs\/[\w-]+\/stream$/);
    assert.match(run.headers.get('content-location') ?? '', /^\/agents\/v1\/runs\/[\w-]+$/);
    // As a browser takes it, and as clients do that put it behind their base address.
    for (const base of [root, s.url]) {
      const again = await fetch(`${base}${location}`, { headers: ALICE });
      assert.equal(again.status, 200, base);
      assert.equal(
        (await again.text()).replace(/^: heartbeat\r\n\r\n/gm, ''),
        run.text.replace(/^: heartbeat\r\n\r\n/gm, ''),
      );
    }
    assert.equal((await fetch(`${s.url}/agents/v1/threads`, { headers: ALICE })).status, 404);
  }));

test('client.runs.stream: given a mount prefix and a connection that breaks, when the client reconnects, then nothing is lost', () =>
  withServer(EDGE, (s) =>
    withTcpProxy(s.url, async (proxy) => {
      const apiUrl = `${proxy.url}${new URL(s.url).pathname}`;
      const { json } = await s.request('POST', '/threads', {}, ALICE);
      const client = new Client({ apiUrl, defaultHeaders: ALICE });
      const seen: string[] = [];
      proxy.dieAfter(2000);
      const input = say('long '.repeat(500));
      for await (const { event } of client.runs.stream(json.thread_id, 'echo', { input })) seen.push(event);
      // The client opens a third connection to ask for the status of the run.
      assert.equal(proxy.connections, 3);
      assert.deepEqual(seen, ['metadata', 'values', 'values']);
    }),
  ));

test('given groups that are switched off, when any of their routes is asked for, then 404 for everybody, and /ok stays', () =>
  withServer(EDGE, async (s) => {
    const groups: [string, RegExp][] = [
      ['assistants', /^\/assistants/],
      [
        'threads',
        /^\/threads(\/(search|count|prune))?$|^\/threads\/\{thread_id\}(?!\/(runs|stream|commands))/,
      ],
      ['runs', /^\/runs(?!\/crons)|^\/threads\/\{thread_id\}\/(runs(?!\/crons)|stream|commands)/],
      ['crons', /\/runs\/crons/],
      ['store', /^\/store/],
      ['mcp', /^\/mcp/],
      ['a2a', /^\/a2a|^\/\.well-known/],
      ['ui', /^\/ui/],
      ['studio', /^\/studio|^\/opened/],
      ['meta', /^\/(info|metrics|docs|openapi\.json)?$/],
    ];
    assert.deepEqual(
      groups.map(([group]) => group),
      [...GROUPS],
    );
    for (const [group, ours] of groups) {
      await s.restart(http(s, { disabled: new Set([group] as never) }));
      const gone = ENDPOINTS.filter(({ path }) => ours.test(path));
      for (const { method, path } of gone) {
        const at = path.replace(/\{\w+\}/g, MISSING);
        const write = method === 'get' ? undefined : {};
        for (const headers of [ALICE, {}]) {
          const { status, json } = await s.request(method.toUpperCase(), at, write, headers);
          assert.deepEqual([status, json], [404, { detail: 'Not found' }], `${group}: ${method} ${path}`);
        }
      }
      assert.equal((await s.request('GET', '/ok?check_db=1')).json.ok, true);
      if (group === 'meta') continue;
      const { json } = await s.request('GET', '/openapi.json');
      assert.ok(
        Object.keys(json.paths).every((path) => !ours.test(path)),
        group,
      );
      assert.equal((await s.request('GET', '/info')).json.flags.assistants, group !== 'assistants');
      if (group !== 'threads')
        assert.equal((await s.request('GET', '/threads', undefined, ALICE)).status, 200);
    }
    await s.restart();
    const { status } = await s.request('POST', '/store/items/search', {}, ALICE);
    assert.equal(status, 404);
  }));

test('client.threads.search: given a page size, when the client searches through a prefix, then it gets its threads', () =>
  withServer(EDGE, async (s) => {
    const client = new Client({ apiUrl: s.url, defaultHeaders: ALICE });
    await client.threads.create({ metadata: { kind: 'a' } });
    const found = await client.threads.search({ metadata: { kind: 'a' } });
    assert.equal(found.length, 1);
  }));

test('given an app of the project whose openapi is no JSON, when the server starts, then it is refused, and what can be said is said as it was then', () =>
  withTempDir(async (dir) => {
    const described = async <T>(
      name: string,
      code: string,
      use: (s: TestServer) => Promise<T>,
    ): Promise<T> => {
      const file = join(dir, `${name}.mjs`);
      const pass = "fetch: () => new Response(null, { status: 404, headers: { 'x-not-handled': '1' } })";
      writeFileSync(file, `${code}\nexport const app = { openapi, ${pass} };\n`);
      return withServer({}, async (s) => {
        await s.restart(http(s, { app: { file, exportName: 'app' } }));
        return use(s);
      });
    };
    for (const [name, code] of Object.entries({
      circular:
        "const self = { type: 'object' }; self.self = self; const openapi = { components: { schemas: { self } } };",
      bigint: 'const openapi = { info: { most: 10n } };',
      throwing: "const openapi = { get info() { throw new Error('not now'); } };",
    }))
      await assert.rejects(
        described(name, code, async () => undefined),
        new RegExp(`http\\.app .*${name}\\.mjs\\): its openapi is no JSON: `),
        name,
      );
    const changing =
      "const openapi = { info: { title: 'first' } }; setImmediate(() => (openapi.info.title = 'later'));";
    await described('changing', changing, async (s) => {
      assert.equal((await s.request('GET', '/openapi.json')).json.info.title, 'first');
      assert.match((await s.request('GET', '/docs')).text, /first/);
    });
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
    assert.equal(health.status, 200);
    assert.equal(((await health.json()) as { ok: boolean }).ok, true);
    assert.equal((await fetch(new URL('/threads', s.url))).status, 404);
  }));

test.run();

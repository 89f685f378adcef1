/** Classes of faults that servers of this kind had, one test for each; the numbers are those of their advisories. */
import * as assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { isPublic } from '../../src/http/access.ts';
import { createRandom, seedFromEnv } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, say } from './scene.ts';

const test = suite('conformance: classes of faults');

const AUTH = { config: config('platform.auth.json') };
const as = (name: string) => ({ authorization: `Bearer ${name}-token` });
const digest = (name: string): string =>
  createHash('sha256')
    .update(JSON.stringify(`canary-secret-of-${name}`))
    .digest('hex');

const KEYS = Number(process.env['FILTER_KEYS'] ?? 100);
const PARTS = [
  ...["'", '"', '\\', '$', '.', '[', ']', '(', ')', '--', ';', '/*', '%', '_', '?', ':', '@', '#', ' '],
  ...["') OR 1=1 --", '$.a', '$[0]', 'a', 'owner', '__proto', 'construct', '\u00e9', '\ud83d\ude00', '\n'],
  ...["' UNION SELECT data FROM events --", 'NULL', '{"', '"}', '||', 'json_extract', '\u2028', '0'],
];

test('given metadata keys that look like SQL or paths, when threads are searched by them, then the answers are those of an oracle (CVE-2025-67644)', () =>
  withServer(AUTH, async (s) => {
    const random = createRandom(seedFromEnv());
    const keyOf = (): string => Array.from({ length: random.int(1, 4) }, () => random.pick(PARTS)).join('');
    const made: Record<string, unknown>[] = [];
    for (let i = 0; i < 10; i++) {
      const metadata = Object.fromEntries(
        Array.from({ length: 5 }, () => [keyOf(), random.pick(['x', 1, true, null])]),
      );
      const { status } = await s.request('POST', '/threads', { metadata }, as(i < 8 ? 'alice' : 'bob'));
      assert.equal(status, 200);
      if (i < 8) made.push({ ...metadata, owner: 'alice' });
    }
    const known = made.flatMap((metadata) => Object.keys(metadata)).filter((key) => key !== 'owner');
    for (let i = 0; i < KEYS; i++) {
      const key = random.chance(0.4) ? random.pick(known) : keyOf();
      if (key === 'owner') continue;
      const value = random.pick(['x', 1, true, null]);
      const wanted = made.filter(
        (metadata) => Object.hasOwn(metadata, key) && metadata[key] === value,
      ).length;
      const body = { metadata: Object.fromEntries([[key, value]]) };
      for (const path of ['/threads/count', '/threads/search']) {
        const { status, json, text } = await s.request('POST', path, body, as('alice'));
        assert.equal(status, 200, `${path} ${JSON.stringify(body)}: ${text}`);
        const found = path.endsWith('count') ? json : json.length;
        assert.equal(found, wanted, `${path} ${JSON.stringify(body)}`);
      }
    }
  }));

test('serialised objects stay data (CVE-2025-68664, CVE-2025-68665, CVE-2025-64439)', () =>
  withServer({ env: { CANARY_OF_ENV: 'canary-env' } }, async (s) => {
    const forms: object[] = [
      { lc: 1, type: 'secret', id: ['CANARY_OF_ENV'] },
      { lc: 1, type: 'constructor', id: ['langchain', 'schema', 'messages', 'HumanMessage'], kwargs: {} },
      { lc: 2, type: 'constructor', id: ['builtins', 'Set'], args: [['a']] },
      { __type: 'Date', value: 0 },
      { json: { a: 1 }, meta: { values: { a: ['Date'] } } },
      { $type: 'Buffer', data: [1] },
    ];
    for (const form of forms) {
      const thread = (await s.request('POST', '/threads', { metadata: { form } })).json;
      assert.deepEqual(thread.metadata, { form });
      const body = { assistant_id: 'echo', input: { form }, metadata: { form } };
      const { json } = await s.request('POST', `/threads/${thread.thread_id}/runs/wait`, body);
      assert.deepEqual(json.form, form);
      await s.request('PUT', '/store/items', { namespace: ['a'], key: 'k', value: { form } });
      const item = await s.request('GET', '/store/items?namespace=a&key=k');
      assert.deepEqual(item.json.value, { form });
      const state = await s.request('GET', `/threads/${thread.thread_id}/state`);
      assert.deepEqual(state.json.values.form, form);
      assert.ok(!(item.text + state.text).includes('canary-env'));
    }
    const polluting = '{"metadata":{"constructor":{"prototype":{"polluted":true}}}}';
    const { json } = await s.request('POST', '/threads', polluting);
    assert.deepEqual(json.metadata, JSON.parse(polluting).metadata);
    const refused = '{"metadata":{"__proto__":{"polluted":true}}}';
    assert.equal((await s.request('POST', '/threads', refused)).status, 422);
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  }));

const KINDS = [
  'platform_auth_user',
  'langgraph_auth_user',
  'platform_auth_user_id',
  'langgraph_auth_permissions',
];
const SPELLINGS: ((key: string) => string)[] = [
  (key) => key,
  (key) => `${key}\\u0000`,
  (key) => `\\u0000${key}`,
  (key) => key.toUpperCase(),
  (key) => key.replace('_', '\\u005f'),
  (key) => key.replace('auth', '\\uff41uth'),
  (key) => `${key} `,
  (key) => key.replaceAll('_', '-'),
  (key) => `__${key}`,
  (key) => key.replace('user', '\\u200buser'),
];
const SPOOF = '{"identity":"root","third_party_token":"spoofed","permissions":["all"]}';
/** Where a body takes keys of the client's own. */
const PLACES: ((pair: string) => string)[] = [
  (pair) => `"config":{"configurable":{${pair}}}`,
  (pair) => `"config":{"configurable":{${pair},${pair}}}`,
  (pair) => `"config":{"configurable":{"configurable":{${pair}}}}`,
  (pair) => `"context":{${pair}}`,
  (pair) => `"metadata":{${pair}}`,
];

test('given 200 ways to smuggle a user into a run, when the graph looks, then it sees who was authenticated', () =>
  withServer(AUTH, async (s) => {
    let tried = 0;
    for (const kind of KINDS)
      for (const spell of SPELLINGS) {
        const answers = await Promise.all(
          PLACES.map((place) => {
            const more = place(`"${spell(kind)}":${SPOOF}`);
            const body = `{"assistant_id":"sees","input":{},${more}}`;
            return s.request('POST', '/runs/wait', body, {
              ...as('alice'),
              ...{ 'x-user': 'root', 'x-forwarded-user': 'root', 'x-auth-scheme': 'langsmith' },
              [kind.replaceAll('_', '-')]: 'root',
            });
          }),
        );
        for (const [index, { status, json, text }] of answers.entries()) {
          tried += 1;
          const what = `${PLACES[index]!(spell(kind))}: ${text}`;
          if (status === 422) continue;
          assert.equal(status, 200, what);
          const { identity, secret, user_id, permissions } = json;
          assert.deepEqual(
            { identity, secret, user_id, permissions },
            { identity: 'alice', secret: digest('alice'), user_id: 'alice', permissions: ['alice:all'] },
            what,
          );
        }
      }
    assert.equal(tried, 200);
  }));

/** One request as it is written, which no client would clean up. */
function raw(s: TestServer, head: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(s.url);
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => (text += chunk));
    socket.on('close', () => resolve(text));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' || error.code === 'EPIPE' ? resolve(text) : reject(error),
    );
    socket.write(head);
  });
}

test('no encoded or doubled path slips past authentication (CVE-2026-48776, CVE-2026-29087)', () =>
  withServer(AUTH, async (s) => {
    const { thread_id: id } = (await s.request('POST', '/threads', {}, as('alice'))).json;
    for (const target of [
      ...[`//threads/${id}`, `/threads//${id}`, `/ok/../threads/${id}`, `/ok/%2e%2e/threads/${id}`],
      ...[`/ok%2f..%2fthreads%2f${id}`, `/%74hreads/${id}`, `/threads%2F${id}`, `/threads/${id}%2Fstate`],
      ...[`/ok;/threads/${id}`, `/ok?/../threads/${id}`, `/threads/${id}/`, `/./threads/${id}`],
      ...[`/threads/%252e%252e/${id}`, `/info/..;/threads/${id}`, `/docs/..%5cthreads/${id}`],
      ...[`/threads/${id}#/ok`, `http://other.example/threads/${id}`, `/OK/../THREADS/${id}`],
      ...['/internal/truncate', '/%69nternal/truncate', '/ok/../internal/truncate', `/thread/${id}`],
    ]) {
      const reply = await raw(s, `GET ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(reply)?.[1]);
      const path = new URL(target, 'http://localhost').pathname;
      const expected = isPublic('GET', path) ? [200] : [400, 401, 404];
      assert.ok(expected.includes(status), `${target}: ${reply}`);
      assert.ok(!reply.includes('"owner"'), `${target}: ${reply}`);
    }
  }));

test('patterns and operators in place of ids mean nothing (CVE-2026-27022, CVE-2026-48121)', () =>
  withServer(AUTH, async (s) => {
    await s.request('POST', '/threads', {}, as('alice'));
    const before = await s.events();
    const words = ['*', '?', '[a]', '__proto__', 'constructor', 'null', 'undefined', '$ne', '%', "' OR 1=1"];
    for (const word of words)
      for (const path of [
        '/threads/ID',
        '/threads/ID/state',
        '/runs/ID/join',
        '/runs/crons/ID',
        '/webhooks/ID',
      ]) {
        const target = path.replace('ID', encodeURIComponent(word));
        const { status, text } = await s.request('GET', target, undefined, as('alice'));
        assert.ok([404, 422].includes(status), `${target}: ${status} ${text}`);
      }
    for (const value of [{ $ne: null }, [], 1, true, { $gt: '' }, [[]]])
      for (const [path, body] of [
        ['/threads', { thread_id: value }],
        ['/assistants', { graph_id: 'echo', assistant_id: value }],
        ['/runs', { assistant_id: value }],
        ['/threads/search', { ids: [value] }],
        ['/runs/cancel', { thread_id: value, run_ids: [value] }],
        ['/runs/crons', { assistant_id: value, schedule: '* * * * *' }],
        ['/store/items/search', { namespace_prefix: [value] }],
      ] as const) {
        const { status, text } = await s.request('POST', path, body, as('alice'));
        assert.equal(status, 422, `${path} ${JSON.stringify(body)}: ${text}`);
      }
    assert.deepEqual(await s.events(), before);
  }));

test('given a request to upgrade with 3,000 headers, when it arrives, then it is refused and the server lives (CVE-2024-37890)', () =>
  withServer(AUTH, async (s) => {
    const many = Array.from({ length: 3000 }, (_, i) => `x-${i}: 1\r\n`).join('');
    const head = `GET /threads/${crypto.randomUUID()}/stream/events HTTP/1.1\r\nhost: localhost\r\n`;
    const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n';
    const reply = await raw(s, `${head}${many}${upgrade}sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`);
    assert.match(reply, /^HTTP\/1\.1 4\d\d /);
    assert.equal((await s.request('GET', '/ok')).status, 200);
  }));

test("given any scheme but the handler's, when a good token comes with it, then 401, and no reply may be kept by caches (CVE-2026-44457)", () =>
  withServer(AUTH, async (s) => {
    for (const scheme of ['Basic', 'bearer', 'Token', 'Bearer  ', 'Digest']) {
      const headers = { authorization: `${scheme} alice-token` };
      assert.equal((await s.request('GET', '/threads', undefined, headers)).status, 401, scheme);
    }
    const { thread_id: id } = (await s.request('POST', '/threads', {}, as('alice'))).json;
    const body = { assistant_id: 'echo', input: say('x') };
    for (const [method, path, sent] of [
      ['GET', '/threads'],
      ['GET', `/threads/${id}`],
      ['GET', '/no/such/route'],
      ['GET', '/ok'],
      ['POST', `/threads/${id}/runs/stream`, body],
      ['POST', `/threads/${id}/runs/wait`, body],
      ['POST', '/threads', '{'],
      ['DELETE', `/threads/${id}`],
    ] as const) {
      const { headers } = await s.request(method, path, sent, as('alice'));
      assert.equal(headers.get('cache-control'), 'no-store', `${method} ${path}`);
    }
  }));

test.run();

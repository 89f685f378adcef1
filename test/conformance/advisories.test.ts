/** Classes of faults that servers of this kind had, one test for each; the numbers are those of their advisories. */
import * as assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { isPublic } from '../../src/http/access.ts';
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

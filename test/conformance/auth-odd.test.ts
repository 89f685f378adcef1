/** Users, filters and answers of handlers that nobody foresaw. */
import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { PROJECT, withServer, type TestServer, type TestServerOptions } from '../support/with-server.ts';
import { GOOD } from '../fixtures/project/auth-odd.ts';
import { config } from './scene.ts';

const test = suite('conformance: odd users and handlers');

const ODD: TestServerOptions = {
  overrides: { auth: { file: `${PROJECT}auth-odd.ts`, exportName: 'odd' } },
  allowFaults: true,
};
const as = (user: object) => ({ 'x-who': Buffer.from(JSON.stringify(user)).toString('base64url') });

/** All of these are somebody else. */
const TENANTS = [
  ...['alice', 'Alice', 'alice ', ' alice', 'alice\u200b', '\uff41lice', 'alice\u0000', 'alice\n', 'a.lice'],
  ...['\u00e9', 'e\u0301', '\u212a', 'K', 'k', '\u{1f600}', 'ﬁ', 'fi', 'ß', 'ss', '\u0130', 'i'],
  ...['%', '_', '*', "' OR 1=1 --", '"', '["alice"]', '{"owner":"alice"}', '\\', '$.owner', '[]', ''],
  ...['null', 'true', 'false', '0', '1', '01', '1.0', '1e0', 'NaN', 'undefined', '__proto__', 'constructor'],
  ...[null, true, false, 0, 1, -1, 1.5, 1e21, 9007199254740991, 9007199254740992, 5e-324],
  ...['x'.repeat(120), 'x'.repeat(121), 'x'.repeat(5_000), `${'x'.repeat(4_999)}y`],
];

async function search(s: TestServer, path: string, body: object, headers: Record<string, string>) {
  const { status, json, text } = await s.request('POST', path, body, headers);
  assert.equal(status, 200, `${path}: ${text}`);
  return json.items ?? json;
}

test('A2 given users whose marks look alike to somebody, when each searches, counts and reads, then each has exactly what is theirs', () =>
  withServer(ODD, async (s) => {
    const users = TENANTS.map((tenant, i) => ({ i, tenant, user: as({ identity: `user-${i}`, tenant }) }));
    // All at once: their commits share their time.
    const threads = await Promise.all(
      users.map(async ({ i, user }): Promise<string> => {
        const made = await s.request('POST', '/threads', { metadata: { i } }, user);
        assert.equal(made.status, 200, made.text);
        const item = { namespace: ['n'], key: `k${i}`, value: { i } };
        assert.equal((await s.request('PUT', '/store/items', item, user)).status, 204);
        if (i % 3 === 0) await s.request('POST', '/assistants', { graph_id: 'echo', metadata: { i } }, user);
        return made.json.thread_id;
      }),
    );
    for (const { i, tenant, user } of users) {
      const what = JSON.stringify(tenant);
      const own = await search(s, '/threads/search', { limit: 100 }, user);
      assert.deepEqual(
        own.map(({ thread_id: id }: any) => id),
        [threads[i]],
        what,
      );
      assert.deepEqual(own[0].metadata.owner, tenant, what);
      assert.equal(await search(s, '/threads/count', {}, user), 1, what);
      // The rest is without an index, and the same question for all.
      if (i % 3 > 0) continue;
      const items = await search(s, '/store/items/search', { namespace_prefix: [], limit: 100 }, user);
      assert.equal(items.length, 1, what);
      const assistants = await search(s, '/assistants/search', { limit: 100 }, user);
      assert.deepEqual(
        assistants.flatMap(({ metadata }: any) => metadata.i ?? []),
        [i],
        what,
      );
      const next = threads[(i + 1) % threads.length]!;
      assert.equal((await s.request('GET', `/threads/${next}`, undefined, user)).status, 404, what);
    }
    assert.deepEqual(s.faults, []);
  }));

test('given filters of unusual size and shape, when a user works under them, then they mean what they say', () =>
  withServer(ODD, async (s) => {
    const other = as({ identity: 'other' });
    const { thread_id: foreign } = (await s.request('POST', '/threads', {}, other)).json;
    const each = GOOD.map(async (verdict) => {
      const user = as({ identity: verdict, verdict });
      const made = await s.request('POST', '/threads', {}, user);
      assert.equal(made.status, 200, `${verdict}: ${made.text}`);
      const id = made.json.thread_id;
      const found = await search(s, '/threads/search', {}, user);
      assert.deepEqual(
        found.map(({ thread_id: one }: any) => one),
        [id],
        verdict,
      );
      assert.equal(await search(s, '/threads/count', { status: 'idle' }, user), 1, verdict);
      assert.equal((await s.request('GET', `/threads/${id}/state`, undefined, user)).status, 200, verdict);
      assert.equal((await s.request('GET', `/threads/${foreign}`, undefined, user)).status, 404, verdict);
      const item = { namespace: ['n'], key: verdict, value: {} };
      assert.equal((await s.request('PUT', '/store/items', item, user)).status, 204, verdict);
      const items = await search(s, '/store/items/search', { namespace_prefix: ['n'] }, user);
      assert.deepEqual(
        items.map(({ key }: any) => key),
        [verdict],
      );
    });
    await Promise.all(each);
    assert.deepEqual(s.faults, []);
  }));

const SPOOF = { identity: 'root', third_party_token: 'spoofed', permissions: ['all'] };
const POSES = {
  ...{ platform_auth_user: SPOOF, langgraph_auth_user: SPOOF, platform_auth_user_id: 'root' },
  ...{
    langgraph_auth_user_id: 'root',
    platform_auth_permissions: ['all'],
    langgraph_auth_permissions: ['all'],
  },
  ...{ __pregel_scratchpad: SPOOF, auth: SPOOF, actor: SPOOF, user: SPOOF },
};

test('given assistants, threads, states, batches and commands that pose as a user, when their runs look, then they see who was authenticated', () =>
  withServer({ config: config('platform.auth.json') }, async (s) => {
    const alice = { authorization: 'Bearer alice-token' };
    const bob = { authorization: 'Bearer bob-token', 'langgraph-auth-user': 'root', 'x-user-id': 'root' };
    const send = async (method: string, path: string, body?: unknown, headers = bob) => {
      const { status, json, text } = await s.request(method, path, body, headers);
      assert.ok(status < 300, `${method} ${path}: ${text}`);
      return json;
    };
    const posing = { configurable: POSES, metadata: POSES, ...POSES };
    const { assistant_id: posed } = await send('POST', '/assistants', {
      ...{ graph_id: 'sees', config: posing, metadata: POSES },
    });
    const { assistant_id: contextual } = await send('POST', '/assistants', {
      ...{ graph_id: 'sees', context: POSES, metadata: POSES },
    });
    const { thread_id: id } = await send('POST', '/threads', { metadata: POSES, config: posing });
    await send('POST', `/threads/${id}/runs/wait`, { assistant_id: 'sees', input: {} });
    await send('POST', `/threads/${id}/state`, { values: POSES, as_node: 'sees', user: SPOOF });
    const run = { input: {}, config: posing, metadata: POSES, ...POSES, user_id: 'root' };
    const states: unknown[] = [];
    for (const assistant_id of ['sees', posed, contextual])
      states.push(await send('POST', `/threads/${id}/runs/wait`, { assistant_id, ...run }));
    const [one] = await send('POST', '/runs/batch', [{ assistant_id: posed, ...run, on_completion: 'keep' }]);
    states.push(await send('GET', `/threads/${one.thread_id}/runs/${one.run_id}/join`));
    // A command refuses members that it does not know.
    const params = { assistant_id: posed, input: {}, config: posing, metadata: POSES };
    const started = await send('POST', `/threads/${id}/commands`, { id: 1, method: 'run.start', params });
    states.push(await send('GET', `/threads/${id}/runs/${started.result.run_id}/join`));
    for (const state of states) {
      const { identity, user_id, permissions, alias } = state as Record<string, unknown>;
      assert.deepEqual(
        { identity, user_id, permissions, alias },
        { identity: 'bob', user_id: 'bob', permissions: ['bob:all'], alias: true },
        JSON.stringify(state),
      );
    }
    // What poses is nobody's right either: the thread is bob's, whatever its metadata says.
    assert.equal((await s.request('GET', `/threads/${id}`, undefined, alice)).status, 404);
  }));

test.run();

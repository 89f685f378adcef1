import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import {
  PROJECT,
  withServer,
  type Answer,
  type TestServer,
  type TestServerOptions,
} from '../support/with-server.ts';

const test = suite('conformance: who sees what in the store');

const withAuth = (exportName: string): TestServerOptions => ({
  overrides: { auth: { file: `${PROJECT}auth-store.ts`, exportName } },
});
const as = (name: string) => ({ authorization: `Bearer ${name}` });
const put = (s: TestServer, name: string, path: string, key: string, value: Record<string, unknown> = {}) =>
  s.request('PUT', '/store/items', { namespace: path.split('.'), key, value }, as(name));
const get = (s: TestServer, name: string, path: string, key: string) =>
  s.request('GET', `/store/items?namespace=${path}&key=${key}`, undefined, as(name));
const remove = (s: TestServer, name: string, path: string, key: string) =>
  s.request('DELETE', '/store/items', { namespace: path.split('.'), key }, as(name));
const search = async (s: TestServer, name: string, body: object = {}): Promise<string[]> => {
  const { status, json, text } = await s.request(
    'POST',
    '/store/items/search',
    { limit: 100, ...body },
    as(name),
  );
  assert.equal(status, 200, text);
  return json.items.map((item: any) => [...item.namespace, item.key].join('.')).sort();
};
const namespaces = async (s: TestServer, name: string, body: object = {}): Promise<string[]> => {
  const { status, json, text } = await s.request('POST', '/store/namespaces', body, as(name));
  assert.equal(status, 200, text);
  return json.namespaces.map((namespace: string[]) => namespace.join('.'));
};
const shown = ({ status, json }: Answer) => [status, json];
const NONE = [404, { detail: 'Item not found' }];
const DENIED = [403, { detail: 'Not authorized' }];

test('given items with owners in their values, when others reach for them, then those look missing and stay as they are (A2, A3)', () =>
  withServer(withAuth('owners'), async (s) => {
    assert.equal((await put(s, 'ann', 'notes', 'a', { n: 1 })).status, 204);
    assert.deepEqual((await get(s, 'ann', 'notes', 'a')).json.value, { n: 1, owner: 'ann' });
    const before = await s.events();
    assert.deepEqual(shown(await get(s, 'bob', 'notes', 'a')), NONE);
    assert.deepEqual(shown(await get(s, 'bob', 'notes', 'missing')), NONE);
    assert.deepEqual(shown(await put(s, 'bob', 'notes', 'a', { n: 2 })), NONE);
    for (const key of ['new', 'a']) {
      const posed = await put(s, 'bob', 'notes', key, { owner: 'ann' });
      assert.deepEqual(shown(posed), DENIED, 'the new item does not pass, whatever is there');
    }
    assert.deepEqual(shown(await remove(s, 'bob', 'notes', 'a')), NONE);
    assert.deepEqual(shown(await remove(s, 'bob', 'notes', 'missing')), NONE);
    assert.deepEqual(await search(s, 'bob'), []);
    assert.deepEqual(await search(s, 'bob', { namespace_prefix: ['notes'], filter: { n: 1 } }), []);
    assert.deepEqual(await namespaces(s, 'bob'), []);
    assert.deepEqual(await s.events(), before);
    await put(s, 'bob', 'notes', 'b');
    assert.deepEqual(await search(s, 'bob'), ['notes.b']);
    assert.deepEqual(await search(s, 'ann'), ['notes.a']);
    assert.deepEqual(await namespaces(s, 'ann'), ['notes']);
    assert.equal((await remove(s, 'ann', 'notes', 'a')).status, 204);
    assert.deepEqual(shown(await get(s, 'ann', 'notes', 'a')), NONE);
    assert.equal((await put(s, 'bob', 'notes', 'a')).status, 204);
  }));

test('given owners in the namespace, when searches and listings name none, then each gets only what is his', () =>
  withServer(withAuth('contains'), async (s) => {
    await put(s, 'ann', 'users.ann', 'a', { n: 1 });
    await put(s, 'bob', 'users.bob.deep', 'b', { n: 1 });
    assert.deepEqual(await search(s, 'ann'), ['users.ann.a']);
    assert.deepEqual(await search(s, 'bob', { filter: { n: 1 } }), ['users.bob.deep.b']);
    assert.deepEqual(await search(s, 'ann', { namespace_prefix: ['users', 'bob'] }), []);
    assert.deepEqual(await namespaces(s, 'ann'), ['users.ann']);
    assert.deepEqual(await namespaces(s, 'bob', { max_depth: 1 }), ['users']);
    assert.deepEqual(await namespaces(s, 'eve', { max_depth: 1 }), []);
    assert.equal((await get(s, 'ann', 'users.ann', 'missing')).text, 'null');
    assert.equal((await remove(s, 'ann', 'users.ann', 'missing')).status, 204);
    for (const key of ['b', 'missing']) {
      assert.deepEqual(shown(await get(s, 'ann', 'users.bob.deep', key)), NONE);
      assert.deepEqual(shown(await remove(s, 'ann', 'users.bob.deep', key)), NONE);
      assert.deepEqual(shown(await put(s, 'ann', 'users.bob.deep', key)), DENIED);
    }
    assert.equal((await put(s, 'ann', 'shared.ann.bob', 'c')).status, 204);
    assert.deepEqual(await search(s, 'bob', { namespace_prefix: ['shared'] }), ['shared.ann.bob.c']);
  }));

test('given a handler that changes namespace, key and value, when items are written, read, searched and deleted, then its words count', () =>
  withServer(withAuth('spaces'), async (s) => {
    await put(s, 'ann', 'notes', 'a', { n: 1 });
    const item = (await get(s, 'ann', 'notes', 'a')).json;
    assert.deepEqual([item.namespace, item.value], [['ann', 'notes'], { n: 1, stamped: true }]);
    assert.equal((await get(s, 'bob', 'notes', 'a')).text, 'null');
    assert.deepEqual(await search(s, 'ann', { namespace_prefix: [] }), ['ann.notes.a']);
    assert.deepEqual(await search(s, 'bob'), []);
    await put(s, 'ann', 'notes', 'b-of-theirs');
    const deleted = { namespace: ['ann', 'notes'], key: 'b' };
    assert.equal((await s.request('DELETE', '/store/items', deleted, as('ann'))).status, 204);
    assert.deepEqual(await search(s, 'ann'), ['ann.notes.a']);
    assert.deepEqual(shown(await s.request('POST', '/store/namespaces', {}, as('ann'))), DENIED);
  }));

test('given a handler that breaks the namespace, when anything is asked of the store, then 422 or 400 says so and nothing happens', () =>
  withServer(withAuth('odd'), async (s) => {
    const before = await s.events();
    for (const name of ['dots', 'empty', 'text', 'number'])
      for (const answer of [
        await put(s, name, 'a', 'k'),
        await get(s, name, 'a', 'k'),
        await remove(s, name, 'a', 'k'),
        await s.request('POST', '/store/items/search', {}, as(name)),
        await s.request('POST', '/store/namespaces', {}, as(name)),
      ])
        assert.equal(answer.status, 422, `${name}: ${answer.text}`);
    assert.equal((await put(s, 'none', 'a', 'k')).status, 400);
    assert.deepEqual(await s.events(), before);
  }));

test(
  'given more than 10,000 candidates and a filter, when the page cannot be filled before, then 400 asks for less',
  () =>
    withServer(withAuth('owners'), async (s) => {
      const write = async (count: number, path: string[], owner: string) => {
        const all = Array.from({ length: count }, (_, i) => ({
          kind: 'put' as const,
          namespace: path,
          key: `k${i}`,
          value: JSON.stringify({ owner, i }),
          ttl: null,
          vectors: [],
        }));
        for (let first = 0; first < count; first += 500)
          await s.server.items.write(all.slice(first, first + 500));
      };
      await write(5, ['a', 'old'], 'ann');
      await write(10_100, ['a', 'many'], 'bob');
      await write(5, ['a', 'z'], 'ann');
      const limit = 'Authenticated store query exceeded maximum scan limit. Narrow the namespace or filters.';
      const ask = (path: string, body: object) => s.request('POST', `/store/${path}`, body, as('ann'));
      assert.equal((await ask('items/search', { limit: 5 })).json.items.length, 5);
      assert.deepEqual(shown(await ask('items/search', { limit: 6 })), [400, { detail: limit }]);
      assert.equal((await ask('items/search', { namespace_prefix: ['a', 'old'] })).json.items.length, 5);
      assert.equal((await ask('items/search', { limit: 6, filter: { i: { $lt: 5 } } })).json.items.length, 6);
      assert.deepEqual(shown(await ask('namespaces', {})), [400, { detail: limit }]);
      assert.equal((await ask('namespaces', { prefix: ['a', 'z'] })).json.namespaces.length, 1);
      const all = await s.request('POST', '/store/items/search', { limit: 1000 }, as('bob'));
      assert.equal(all.json.items.length, 1000);
    }),
  120_000,
);

test.run();

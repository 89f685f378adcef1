import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { growingClock, TIMESTAMP } from './scene.ts';

const test = suite('conformance: store');

const put = (s: TestServer, path: string, key: string, value: any, more: object = {}) =>
  s.request('PUT', '/store/items', { namespace: path.split('.'), key, value, ...more });
const get = (s: TestServer, path: string, key: string) =>
  s.request('GET', `/store/items?namespace=${path}&key=${key}`);
const search = async (s: TestServer, body: object): Promise<any[]> => {
  const { status, json, text } = await s.request('POST', '/store/items/search', body);
  assert.equal(status, 200, text);
  return json.items;
};
const keysOf = async (s: TestServer, body: object): Promise<string[]> =>
  (await search(s, { limit: 100, ...body })).map(({ key }) => key);
const namespaces = async (s: TestServer, body: object): Promise<string[]> => {
  const { status, json, text } = await s.request('POST', '/store/namespaces', body);
  assert.equal(status, 200, text);
  return json.namespaces.map((namespace: string[]) => namespace.join('.'));
};

test('client.store.putItem: given an item, when it is written twice, then it is new, later and as old as before', () =>
  withServer({}, async (s) => {
    const { store } = s.client;
    const value = { text: 'ünï 😀', deep: { list: [1, null, { a: [] }] }, n: 1.5, $op: 'x' };
    assert.equal(await store.putItem(['users', 'ann'], 'prefs', value), undefined);
    const first = (await store.getItem(['users', 'ann'], 'prefs'))!;
    assert.deepEqual(first.value, value);
    assert.deepEqual([first.namespace, first.key], [['users', 'ann'], 'prefs']);
    for (const at of [first.createdAt, first.updatedAt]) assert.match(at, TIMESTAMP);
    assert.equal(first.createdAt, first.updatedAt);
    await store.putItem(['users', 'ann'], 'prefs', { other: true });
    const second = (await store.getItem(['users', 'ann'], 'prefs'))!;
    assert.deepEqual(second.value, { other: true });
    assert.equal(second.createdAt, first.createdAt);
    assert.ok(Date.parse(second.updatedAt) > Date.parse(first.updatedAt));
    await s.restart();
    assert.deepEqual(await s.client.store.getItem(['users', 'ann'], 'prefs'), second);
  }));

test('client.store.getItem: given no such item, when it is read, then it is null, whatever lies near it', () =>
  withServer({}, async (s) => {
    const { store } = s.client;
    assert.equal(await store.getItem(['a'], 'k'), null);
    await store.putItem(['a', 'b'], 'k', {});
    for (const [namespace, key] of [
      [['a'], 'k'],
      [['a', 'b', 'c'], 'k'],
      [['b', 'a'], 'k'],
      [['a', 'b'], 'K'],
      [['a', 'b'], 'k '],
    ] as const)
      assert.equal(await store.getItem([...namespace], key), null);
    assert.deepEqual((await store.getItem(['a', 'b'], 'k', { refreshTtl: true }))!.value, {});
  }));

test('client.store.deleteItem: given an item, when it is deleted, twice, then it is gone and may come anew', () =>
  withServer({ clock: growingClock() }, async (s) => {
    const { store } = s.client;
    await store.putItem(['a'], 'k', { n: 1 });
    const before = (await store.getItem(['a'], 'k'))!;
    await store.deleteItem(['a'], 'k');
    await store.deleteItem(['a'], 'k');
    assert.equal(await store.getItem(['a'], 'k'), null);
    assert.deepEqual((await store.searchItems([])).items, []);
    assert.deepEqual(await store.listNamespaces(), { namespaces: [] });
    await store.putItem(['a'], 'k', { n: 2 });
    const after = (await store.getItem(['a'], 'k'))!;
    assert.deepEqual(after.value, { n: 2 });
    assert.ok(after.createdAt > before.createdAt);
    assert.equal((await s.request('DELETE', '/store/items?namespace=a&key=k')).status, 204);
    assert.equal((await get(s, 'a', 'k')).text, 'null');
  }));

test('client.store.searchItems: given items, when they are searched, then the last updated comes first, page by page', () =>
  withServer({}, async (s) => {
    const { store } = s.client;
    for (const key of ['a', 'b', 'c', 'd']) await store.putItem(['x', key], key, { key });
    await store.putItem(['x', 'b'], 'b', { key: 'again' });
    const { items } = await store.searchItems(['x']);
    assert.deepEqual(
      items.map(({ key }) => key),
      ['b', 'd', 'c', 'a'],
    );
    assert.deepEqual(items[0]!.value, { key: 'again' });
    assert.equal(items[0]!.score, null);
    assert.match(items[0]!.updatedAt, TIMESTAMP);
    const page = await store.searchItems(['x'], { limit: 2, offset: 1 });
    assert.deepEqual(
      page.items.map(({ key }) => key),
      ['d', 'c'],
    );
    assert.deepEqual((await store.searchItems(['x', 'c'])).items.length, 1);
    assert.deepEqual((await store.searchItems(['x'], { filter: { key: 'd' } })).items.length, 1);
  }));

test('client.store.listNamespaces: given items, when namespaces are listed, then each comes once, cut and matched by label', () =>
  withServer({}, async (s) => {
    const { store } = s.client;
    const all = [
      ['a'],
      ['a', 'b'],
      ['a', 'b', 'c'],
      ['a', 'b', 'd'],
      ['ab'],
      ['ab', 'c'],
      ['a_'],
      ['a%', 'c'],
      ['z', 'b'],
    ];
    for (const namespace of [...all, ...all])
      for (const key of ['1', '2']) await store.putItem(namespace, key, {});
    const list = async (options: object) =>
      (await store.listNamespaces(options)).namespaces.map((namespace) => namespace.join('/')).sort();
    assert.deepEqual(await list({}), all.map((namespace) => namespace.join('/')).sort());
    assert.deepEqual(await list({ prefix: ['a'] }), ['a', 'a/b', 'a/b/c', 'a/b/d']);
    assert.deepEqual(await list({ prefix: ['a_'] }), ['a_']);
    assert.deepEqual(await list({ prefix: ['a%'] }), ['a%/c']);
    assert.deepEqual(await list({ suffix: ['b'] }), ['a/b', 'z/b']);
    assert.deepEqual(await list({ suffix: ['c'] }), ['a%/c', 'a/b/c', 'ab/c']);
    assert.deepEqual(await list({ prefix: ['a'], suffix: ['c'] }), ['a/b/c']);
    assert.deepEqual(await list({ maxDepth: 1 }), ['a', 'a%', 'a_', 'ab', 'z']);
    assert.deepEqual(await list({ prefix: ['a'], maxDepth: 2 }), ['a', 'a/b']);
    assert.deepEqual(await list({ prefix: ['*', 'b'] }), ['a/b', 'a/b/c', 'a/b/d', 'z/b']);
    assert.deepEqual(await list({ suffix: ['b', '*'] }), ['a/b/c', 'a/b/d']);
    assert.deepEqual(await list({ prefix: ['a', 'b', 'c', 'd'] }), []);
    const pages = [0, 4, 8].map((offset) => list({ limit: 4, offset }));
    assert.deepEqual((await Promise.all(pages)).flat().sort(), await list({}));
  }));

test('given prefixes of a search, when labels begin alike, then only whole labels count', () =>
  withServer({}, async (s) => {
    for (const path of ['a', 'ab', 'a.b', 'a_', 'a%', 'A']) await put(s, path, path, {});
    const under = async (...prefix: string[]) => (await keysOf(s, { namespace_prefix: prefix })).sort();
    assert.deepEqual(await under('a'), ['a', 'a.b']);
    assert.deepEqual(await under('a_'), ['a_']);
    assert.deepEqual(await under('a%'), ['a%']);
    assert.deepEqual(await under('_'), []);
    assert.deepEqual(await under('%'), []);
    assert.deepEqual(await under(), ['A', 'a', 'a%', 'a.b', 'a_', 'ab']);
    assert.equal((await keysOf(s, { namespace_prefix: null })).length, 6);
    assert.equal((await keysOf(s, {})).length, 6);
  }));

test('given values of all sorts, when a search has a filter, then each operator finds exactly its own', () =>
  withServer({}, async (s) => {
    const values = {
      one: { n: 1, s: 'b', flag: true, tags: ['x', 'y'], deep: { a: 1 } },
      two: { n: 2, s: 'a', flag: false, tags: ['x'], deep: { a: 2 } },
      ten: { n: 10, s: 'c', none: null },
      text: { n: '3', s: '2026-01-01' },
    };
    for (const [key, value] of Object.entries(values)) await put(s, 'v', key, value);
    const find = async (filter: object) => (await keysOf(s, { filter })).sort().join();
    assert.equal(await find({ n: 1 }), 'one');
    assert.equal(await find({ n: 1, s: 'a' }), '');
    assert.equal(await find({ n: { $eq: 2 } }), 'two');
    assert.equal(await find({ n: { $ne: 2 } }), 'one,ten,text');
    assert.equal(await find({ n: { $gt: 2 } }), 'ten,text');
    assert.equal(await find({ n: { $gte: 2, $lt: 10 } }), 'text,two');
    assert.equal(await find({ n: { $lte: 2 } }), 'one,two');
    assert.equal(await find({ s: { $gt: 'a' } }), 'one,ten');
    assert.equal(await find({ s: { $lt: '2026-02-01' } }), 'text');
    assert.equal(await find({ flag: true }), 'one');
    assert.equal(await find({ none: null }), 'ten');
    assert.equal(await find({ missing: null }), '');
    assert.equal(await find({ missing: { $gt: 0 } }), '');
    assert.equal(await find({ tags: ['x'] }), 'two');
    assert.equal(await find({ deep: { a: 1 } }), 'one');
    assert.equal(await find({ n: { $in: [1, 10] } }), 'one,ten');
    assert.equal(await find({ toString: { $ne: 1 } }), 'one,ten,text,two');
    const { status, json } = await s.request('POST', '/store/items/search', { filter: { n: { $near: 1 } } });
    assert.equal(status, 422);
    assert.match(json.detail, /^filter.n: expected one of \$eq, /);
  }));

test('given wrong requests, when they reach the store, then each is told what was expected and nothing is written', () =>
  withServer({}, async (s) => {
    await put(s, 'a', 'kept', { n: 1 });
    const before = await s.events();
    const labels = 'Namespace labels cannot be empty or contain periods. Received: ';
    const item = { namespace: ['a'], key: 'k', value: {} };
    const wrong: [number, string, object | undefined, string, string][] = [
      [400, 'PUT', { ...item, namespace: [] }, '', 'Namespace is required'],
      [422, 'PUT', { ...item, namespace: ['a', ''] }, '', `${labels}a.`],
      [422, 'PUT', { ...item, namespace: ['a.b'] }, '', `${labels}a.b`],
      [422, 'PUT', { ...item, namespace: 'a' }, '', 'namespace: expected a list of labels'],
      [422, 'PUT', { ...item, namespace: [1] }, '', 'namespace.0: expected a string'],
      [422, 'PUT', { ...item, key: '' }, '', 'key: expected at least 1 character'],
      [422, 'PUT', { ...item, value: [] }, '', 'value: expected an object'],
      [422, 'PUT', { ...item, value: null }, '', 'value: expected an object'],
      [422, 'PUT', { ...item, ttl: 0 }, '', 'ttl: expected minutes, more than 0'],
      [422, 'PUT', { ...item, ttl: 'x' }, '', 'ttl: expected minutes, or null for ever'],
      [422, 'PUT', { ...item, index: true }, '', 'index: expected false, or a list of at most 100 paths'],
      [
        422,
        'PUT',
        { ...item, namespace: Array(33).fill('a') },
        '',
        'namespace: expected a list of labels, at most 32',
      ],
      [
        422,
        'PUT',
        { ...item, namespace: ['a\u0000'] },
        '',
        'namespace: expected plain text, found a NUL character',
      ],
      [
        422,
        'PUT',
        undefined,
        '',
        'namespace: expected a list of labels; key: expected a string; value: expected an object',
      ],
      [400, 'GET', undefined, '?key=k', 'Namespace is required'],
      [422, 'GET', undefined, '?namespace=a', 'key: expected a string'],
      [422, 'GET', undefined, '?namespace=a..b&key=k', `${labels}a..b`],
      [400, 'DELETE', { namespace: [], key: 'k' }, '', 'Namespace is required'],
      [422, 'DELETE', { namespace: ['.'], key: 'k' }, '', `${labels}.`],
      [422, 'POST', { namespace_prefix: [''] }, '/search', labels],
      [
        400,
        'PUT',
        { namespace: ['langgraph', 'a'], key: 'k', value: {} },
        '',
        'Root label for namespace cannot be "langgraph". Got: langgraph.a',
      ],
      [422, 'POST', { limit: 0 }, '/search', 'limit: expected an integer of 1 or more'],
      [422, 'POST', { offset: -1 }, '/search', 'offset: expected an integer of 0 or more'],
    ];
    for (const [status, method, body, path, detail] of wrong) {
      const answer = await s.request(method, `/store/items${path}`, body);
      assert.deepEqual([answer.status, answer.json], [status, { detail }], JSON.stringify(body));
    }
    const listings: any[] = [{ prefix: ['a', ''] }, { suffix: ['a.b'] }, { max_depth: 0 }, { prefix: 'a' }];
    for (const body of listings)
      assert.equal((await s.request('POST', '/store/namespaces', body)).status, 422, JSON.stringify(body));
    assert.deepEqual(await s.events(), before);
  }));

test('given many writers of few items, when all have written, then each item is whole, and times are all different', () =>
  withServer({}, async (s) => {
    const answers = await Promise.all(
      Array.from({ length: 120 }, (_, i) => put(s, 'busy', `k${i % 3}`, { i, text: 'x'.repeat(100) })),
    );
    assert.ok(answers.every(({ status }) => status === 204));
    const items = await search(s, { namespace_prefix: ['busy'] });
    assert.equal(items.length, 3);
    assert.deepEqual(items.map(({ value }) => value.i % 3).sort(), [0, 1, 2]);
    assert.equal(new Set(items.map(({ updated_at }) => updated_at)).size, 3);
    assert.equal((await s.events()).filter(({ type }) => type === 'ItemPut').length, 3);
  }));

test('given more items than one look takes, when they are searched and listed, then none is missing or doubled', () =>
  withServer({}, async (s) => {
    const { items } = s.server;
    const writes = Array.from({ length: 2_300 }, (_, i) => ({
      kind: 'put' as const,
      namespace: i % 23 === 0 ? ['many', `few${i}`] : ['many', 'same'],
      key: `k${i}`,
      value: JSON.stringify({ i }),
      ttl: null,
      vectors: [],
    }));
    await items.write(writes);
    const found = [0, 1000, 2000].map((offset) =>
      search(s, { namespace_prefix: ['many'], limit: 1000, offset }),
    );
    const order = (await Promise.all(found)).flat().map(({ value }) => value.i);
    assert.deepEqual(
      order,
      writes.map((_, i) => 2_299 - i),
    );
    assert.equal((await namespaces(s, { prefix: ['many'], limit: 1000 })).length, 101);
    assert.deepEqual(await namespaces(s, { suffix: ['same'] }), ['many.same']);
    assert.deepEqual(await namespaces(s, { max_depth: 1 }), ['many']);
    const last = await search(s, { filter: { i: { $lt: 2 } } });
    assert.deepEqual(
      last.map(({ value }) => value.i),
      [1, 0],
    );
  }));

test('a query without an index finds items unranked (official 5.3)', () =>
  withServer({}, async (s) => {
    await s.request('PUT', '/store/items', { namespace: ['a'], key: 'k', value: { n: 1 } });
    const { status, json } = await s.request('POST', '/store/items/search', { query: 'n' });
    assert.equal(status, 200);
    assert.deepEqual(
      json.items.map(({ key, score }: { key: string; score: unknown }) => [key, score]),
      [['k', null]],
    );
  }));

test.run();

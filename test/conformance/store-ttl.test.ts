import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, leapingClock } from './scene.ts';
import { rowsOf } from '../support/stored.ts';

const test = suite('conformance: items that end');

const MINUTE = 60_000;
const FOREVER = { refreshOnRead: true, defaultTtl: null, sweepIntervalMinutes: null };

const put = (s: TestServer, key: string, more: object = {}) =>
  s.request('PUT', '/store/items', { namespace: ['t'], key, value: { key }, ...more });
const isThere = async (s: TestServer, key: string, refresh?: boolean): Promise<boolean> =>
  (await s.client.store.getItem(['t'], key, { ...(refresh !== undefined && { refreshTtl: refresh }) })) !==
  null;
const found = async (s: TestServer, more: object = {}): Promise<string[]> =>
  (await s.request('POST', '/store/items/search', { refresh_ttl: false, ...more })).json.items
    .map(({ key }: { key: string }) => key)
    .sort();

test('given items with a time to live, when it is over, then nobody sees them, though nothing was swept', async () => {
  const clock = leapingClock();
  await withServer({ clock, overrides: { store: FOREVER } }, async (s) => {
    await put(s, 'short', { ttl: 1 });
    await put(s, 'half', { ttl: 0.5 });
    await put(s, 'long', { ttl: 10 });
    await put(s, 'never');
    assert.deepEqual(await found(s), ['half', 'long', 'never', 'short']);
    clock.leap(MINUTE / 2);
    assert.deepEqual(await found(s), ['long', 'never', 'short']);
    clock.leap(MINUTE / 2);
    assert.deepEqual(await found(s), ['long', 'never']);
    assert.equal(await isThere(s, 'short', false), false);
    clock.leap(20 * MINUTE);
    assert.deepEqual(await found(s), ['never']);
    await s.client.store.deleteItem(['t'], 'never');
    assert.deepEqual(await s.client.store.listNamespaces(), { namespaces: [] });
    assert.equal((await s.events()).filter(({ type }) => type === 'ItemPut').length, 3);
    await put(s, 'short', { ttl: 1 });
    const again = (await s.client.store.getItem(['t'], 'short'))!;
    assert.equal(again.createdAt, again.updatedAt, 'what had ended begins anew');
  });
});

test('given reads, when they refresh or not, by request and by configuration, then exactly those that do prolong', async () => {
  const clock = leapingClock();
  await withServer({ clock, overrides: { store: FOREVER } }, async (s) => {
    for (const key of ['read', 'peeked', 'searched', 'left']) await put(s, key, { ttl: 2 });
    const before = (await s.client.store.getItem(['t'], 'read', { refreshTtl: false }))!;
    clock.leap(MINUTE);
    await isThere(s, 'read');
    await isThere(s, 'peeked', false);
    assert.deepEqual(await found(s, { filter: { key: 'searched' }, refresh_ttl: true }), ['searched']);
    clock.leap(1.5 * MINUTE);
    assert.deepEqual(await found(s), ['read', 'searched']);
    const after = (await s.client.store.getItem(['t'], 'read'))!;
    assert.deepEqual(after, before, 'a read is no update');
    await s.restart({ store: { ...FOREVER, refreshOnRead: false } });
    await isThere(s, 'read');
    await isThere(s, 'searched', true);
    clock.leap(1.9 * MINUTE);
    assert.deepEqual(await found(s), ['read', 'searched']);
    clock.leap(0.2 * MINUTE);
    assert.deepEqual(await found(s), []);
  });
});

test('given a default time to live, when items are written, then it holds unless the write says otherwise', async () => {
  const clock = leapingClock();
  await withServer({ clock, overrides: { store: { ...FOREVER, defaultTtl: 5 } } }, async (s) => {
    await put(s, 'default');
    await put(s, 'own', { ttl: 1 });
    await put(s, 'never', { ttl: null });
    clock.leap(2 * MINUTE);
    assert.deepEqual(await found(s), ['default', 'never']);
    clock.leap(4 * MINUTE);
    assert.deepEqual(await found(s), ['never']);
  });
});

test('L3 given a sweep interval, when items have ended, then they are deleted for good, and others stay', async () => {
  const clock = leapingClock();
  await withServer({ clock, overrides: { store: { ...FOREVER, sweepIntervalMinutes: 1 } } }, async (s) => {
    for (let i = 0; i < 130; i++) await put(s, `k${i}`, { ttl: 3 });
    await put(s, 'stays', { ttl: 300 });
    clock.leap(4 * MINUTE);
    const deleted = new Set<string>();
    await s.until(({ type, meta }) => type === 'ItemDeleted' && deleted.add(meta.stream).size === 130);
    assert.deepEqual(await found(s), ['stays']);
    assert.deepEqual(await rowsOf(s, 'SELECT count(*) AS n FROM item_values'), [{ n: 1 }]);
    assert.equal((await s.events()).filter(({ type }) => type === 'ItemPut').length, 1);
  });
});

test('given a graph that reads an item, when reads refresh, then it lives on', async () => {
  const clock = leapingClock();
  const store = { ...FOREVER, defaultTtl: 2 };
  await withServer({ clock, config: config('platform.store.json'), overrides: { store } }, async (s) => {
    await s.client.store.putItem(['counts'], 'calls', { calls: 7 });
    clock.leap(MINUTE);
    const operations = [{ namespace: ['counts'], key: 'kept' }];
    await s.client.store.putItem(['counts'], 'kept', { n: 1 });
    clock.leap(1.5 * MINUTE);
    const { json } = await s.request('POST', '/runs/wait', {
      assistant_id: 'counts',
      input: {},
      config: { configurable: { operations } },
    });
    assert.equal(json.calls, 1, 'what had ended is not read');
    assert.deepEqual(json.results[0].value, { n: 1 });
    clock.leap(1.5 * MINUTE);
    assert.notEqual(await s.client.store.getItem(['counts'], 'kept'), null);
  });
});

test.run();

import * as assert from 'node:assert/strict';
import { createItems, type ItemWrite } from '../../../src/actors/items.ts';
import { itemIdOf, itemStream } from '../../../src/item/events.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { grant } from '../../support/batches.ts';
import { suite } from '../../support/suite.ts';
import { withLog, type TestLog } from '../../support/with-log.ts';
import { valueOf } from '../../../src/store/port/views/items.ts';

const test = suite('actors/items');

const put = (key: string, n: number, ttl: number | null = null): ItemWrite => ({
  kind: 'put',
  namespace: ['a'],
  key,
  value: JSON.stringify({ n }),
  ttl,
  vectors: ['AACAPw=='],
});
const drop = (key: string): ItemWrite => ({ kind: 'delete', namespace: ['a'], key });
const open = ({ log, clock }: TestLog) => createItems({ log, clock, ids: randomIds(clock) });
const read = async ({ log, clock }: TestLog, key: string) =>
  (await log.views.items.get([itemIdOf(['a'], key)], clock.now()))[0];
const count = ({ rows }: TestLog, table: string): number | undefined =>
  rows.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)?.n;

test('X2 given a lease that is stale, when a write carries it, then it is refused and nothing changes', () =>
  withLog(async (given) => {
    const items = open(given);
    const lease = { runId: 'r', attempt: 1, leaseId: 'one' };
    await grant(given.log, lease);
    assert.deepEqual(await items.write([put('k', 1)], { lease }), { ok: true, changed: 1 });
    await grant(given.log, { runId: 'r', attempt: 2, leaseId: 'two' });
    for (const write of [put('k', 2), put('other', 2), drop('k')])
      assert.deepEqual(await items.write([write], { lease }), { ok: false, refusal: 'lease-stale' });
    assert.deepEqual(valueOf((await read(given, 'k'))!), { n: 1 });
    assert.equal(count(given, 'items'), 1);
  }));

test('L3 the stream of a rewritten and deleted item keeps one event and no payload', () =>
  withLog(async (given) => {
    const items = open(given);
    const stream = itemStream(itemIdOf(['a'], 'k'));
    const facts = async () =>
      (await given.log.readStream(stream, 1, 100)).map(({ type, meta }) => `${type} ${meta.version}`);
    for (const n of [1, 2, 3]) await items.write([put('k', n)]);
    assert.deepEqual(await facts(), ['ItemPut 3']);
    await items.write([drop('k')]);
    assert.deepEqual(await facts(), ['ItemDeleted 4']);
    assert.deepEqual([count(given, 'item_values'), count(given, 'item_vectors')], [0, 0]);
    assert.deepEqual(await items.write([drop('k')]), { ok: true, changed: 0 });
    await items.write([put('k', 5)]);
    assert.deepEqual(await facts(), ['ItemPut 5']);
    await given.reopen();
    assert.equal(await given.past((history) => history.firstDifference()), undefined);
  }));

test('L2 two writers of one item both succeed, one after the other', () =>
  withLog(async (given) => {
    const [one, two] = [open(given), open(given)];
    const results = await Promise.all([1, 2, 3, 4].map((n) => (n % 2 ? one : two).write([put('k', n)])));
    assert.ok(results.every(({ ok }) => ok));
    const events = await given.log.readStream(itemStream(itemIdOf(['a'], 'k')), 1, 10);
    assert.deepEqual(
      events.map(({ meta }) => meta.version),
      [4],
    );
  }));

test('L1 given a batch, when one item of it is not the caller’s, then nothing of it is written', () =>
  withLog(async (given) => {
    const items = open(given);
    await items.write([put('mine', 1), put('theirs', 2)]);
    const access = [{ op: 'equal', key: 'n', value: 1 }] as const;
    assert.deepEqual(await items.write([put('mine', 9), drop('theirs')], { access }), {
      ok: false,
      refusal: 'item-foreign',
    });
    assert.deepEqual(valueOf((await read(given, 'mine'))!), { n: 1 });
    assert.deepEqual(await items.write([put('mine', 9), put('new', 5)], { access }), {
      ok: true,
      changed: 2,
    });
  }));

test('given an item that was renewed, when a sweep that found it before comes late, then it stays', () =>
  withLog(async (given) => {
    const items = open(given);
    await items.write([put('k', 1, 1), put('gone', 1, 1)]);
    await given.clock.advance(60_000);
    const found = await given.log.views.items.expired(given.clock.now(), 10);
    assert.equal(found.length, 2);
    await items.write([put('k', 2)]);
    const expire = found.map(({ namespace, key }) => ({ kind: 'expire', namespace, key }) as const);
    assert.deepEqual(await items.write(expire), { ok: true, changed: 1 });
    assert.deepEqual(valueOf((await read(given, 'k'))!), { n: 2 });
  }));

test('P2 rebuilt rows of written, refreshed and deleted items are the same', () =>
  withLog(async (given) => {
    const items = open(given);
    await items.write([put('a', 1, 5), put('b', 2), put('c', 3)]);
    await given.clock.advance(60_000);
    await items.write([{ kind: 'refresh', namespace: ['a'], key: 'a' }, drop('c'), put('b', 4)]);
    const before = await read(given, 'a');
    assert.equal(await given.past((history) => history.firstDifference()), undefined);
    given.behind((db) => db.exec("DELETE FROM meta WHERE key = 'projection'; DELETE FROM items"));
    await given.reopen();
    assert.deepEqual(await read(given, 'a'), before);
    assert.equal(count(given, 'items'), 2);
    assert.equal(given.rows.get<{ n: number }>('SELECT count(*) AS n FROM items WHERE ttl = 5')?.n, 1);
  }));

test.run();

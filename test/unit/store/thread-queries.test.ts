import assert from 'node:assert/strict';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { EventLog } from '../../../src/store/port/log.ts';
import type { Filter } from '../../../src/kernel/filter.ts';
import { withCarrier } from '../../../src/thread/carrier.ts';
import type { ThreadEvent } from '../../../src/thread/events.ts';
import { fact } from '../../support/given.ts';
import { batch } from '../../support/batches.ts';
import { suite } from '../../support/suite.ts';
import { withLog } from '../../support/with-log.ts';
import { THREAD_SORTS, type ThreadSearch } from '../../../src/store/port/views/threads.ts';

const test = suite('store, thread-queries');

const PAGE = { sortBy: 'thread_id', sortOrder: 'asc', limit: 100, offset: 0 } as const;
const owner = (value: string): Filter => [{ op: 'equal', key: 'owner', value }];

async function thread(
  log: EventLog,
  threadId: string,
  metadata: JsonObject,
  more: { temporary?: boolean; then?: readonly ThreadEvent[] } = {},
): Promise<void> {
  const { temporary = false, then = [] } = more;
  const facts = [fact.created(metadata, temporary), ...then].map(
    (one) => ({ ...one, data: { ...one.data, threadId } }) as ThreadEvent,
  );
  const events = withCarrier({ status: 'idle', temporary }, facts);
  const isOpen = then.length > 0 && !then.some(({ type }) => type === 'RunCompleted');
  const payloads = isOpen ? [{ kind: 'queue', threadId, next: 0 } as const] : [];
  const { kind } = await log.commit(
    batch([{ stream: `thread-${threadId}`, expected: 0, events }], { payloads }),
  );
  assert.equal(kind, 'committed');
}

async function find(log: EventLog, search: Partial<ThreadSearch> = {}, filter?: Filter) {
  const { threads, total } = await log.views.threads.search({ ...PAGE, ...search }, filter);
  return { ids: threads.map(({ threadId }) => threadId).join(' '), total };
}

test("a stateless run's thread is visible only while the run is open", () =>
  withLog(async ({ log }) => {
    const run = [fact.runCreated('r'), fact.started('r')];
    await thread(log, 'idle', {}, { temporary: true });
    await thread(log, 'open', {}, { temporary: true, then: run });
    await thread(log, 'ended', {}, { temporary: true, then: [fact.runCreated('q'), fact.completed('q')] });
    await thread(log, 'kept', {});
    assert.deepEqual(await find(log), { ids: 'kept open', total: 2 });
    assert.deepEqual(await find(log, { ids: ['idle', 'ended', 'open'] }), { ids: 'open', total: 1 });
    assert.equal(await log.views.threads.get('ended'), undefined);
    assert.equal((await log.views.threads.get('open'))?.status, 'busy');
  }));

test('given threads of stateless runs, when their time is over, then only ended ones of old expire', () =>
  withLog(async ({ log, clock }) => {
    const ended = [fact.runCreated('r'), fact.completed('r')];
    await thread(log, 'old', {}, { temporary: true, then: ended });
    await thread(log, 'kept', {}, { then: [fact.runCreated('k'), fact.completed('k')] });
    await thread(log, 'open', {}, { temporary: true, then: [fact.runCreated('o')] });
    await clock.advance(1_000);
    await thread(log, 'young', {}, { temporary: true, then: [fact.runCreated('y'), fact.completed('y')] });
    assert.deepEqual(await log.views.threads.expired({ before: clock.now(), failedBefore: 0 }, 10), ['old']);
    assert.deepEqual(
      (await log.views.threads.expired({ before: clock.now() + 1, failedBefore: 0 }, 10)).sort(),
      ['old', 'young'],
    );
    assert.equal(
      (await log.views.threads.expired({ before: clock.now() + 1, failedBefore: 0 }, 1)).length,
      1,
    );
  }));

test('A2 A3 the filter of each of two users applies to page and total', () =>
  withLog(async ({ log }) => {
    for (let i = 0; i < 10; i++) await thread(log, `t${i}`, { owner: i % 2 === 0 ? 'ann' : 'bob' });
    assert.deepEqual(await find(log, { limit: 2 }, owner('ann')), { ids: 't0 t2', total: 5 });
    assert.deepEqual(await find(log, { limit: 2, offset: 4 }, owner('ann')), { ids: 't8', total: 5 });
    assert.deepEqual(await find(log, { ids: ['t1', 't2'] }, owner('ann')), { ids: 't2', total: 1 });
    assert.equal(await log.views.threads.get('t1', owner('ann')), undefined);
    assert.equal(await log.views.threads.get('never', owner('ann')), undefined);
    assert.equal((await log.views.threads.get('t1', owner('bob')))?.threadId, 't1');
  }));

test('A2 an empty filter finds all threads, an unmeetable or malformed one none', () =>
  withLog(async ({ log }) => {
    await thread(log, 'a', { owner: 'ann', tags: ['x', 'y'] });
    await thread(log, 'b', {});
    const total = async (filter: Filter | undefined): Promise<number> => (await find(log, {}, filter)).total;
    assert.equal(await total(undefined), 2);
    assert.equal(await total([]), 2);
    assert.equal(await total([{ op: 'contains', key: 'tags', values: ['x', 'y'] }]), 1);
    assert.equal(await total([{ op: 'contains', key: 'tags', values: ['x', 'z'] }]), 0);
    assert.equal(await total([{ op: 'any', of: [owner('bob'), owner('ann')] }]), 1);
    assert.equal(await total([{ op: 'every', of: [owner('bob'), owner('ann')] }]), 0);
    await assert.rejects(total([{ op: 'surprise' } as never]));
    assert.equal(await total(owner("ann' OR '1'='1")), 0);
  }));

test('given threads, when they are searched by ids, status and metadata, then every condition narrows', () =>
  withLog(async ({ log }) => {
    await thread(log, 'a', { k: 1, deep: { x: [1, 2], y: 3 } });
    await thread(log, 'b', { k: 1 }, { then: [fact.runCreated('r', { threadMetadata: { k: 1 } })] });
    await thread(log, 'c', { k: 2 });
    assert.equal((await find(log, { ids: ['a', 'c', 'nothing'] })).ids, 'a c');
    assert.equal((await find(log, { ids: [] })).ids, 'a b c');
    assert.equal((await find(log, { status: 'busy' })).ids, 'b');
    assert.equal((await find(log, { metadata: { k: 1 } })).ids, 'a b');
    assert.equal((await find(log, { metadata: { k: 1 }, status: 'idle' })).ids, 'a');
    assert.equal((await find(log, { metadata: { deep: { x: [2] } } })).ids, 'a');
    assert.equal((await find(log, { metadata: { k: '1' } })).ids, '');
  }));

test('pages in every order have each thread once, and totals agree', () =>
  withLog(async ({ log, clock }) => {
    for (let i = 0; i < 23; i++) {
      // Several of one moment: the order of ties has to be stable too.
      if (i % 4 === 0) await clock.advance(1_000);
      const ran = [fact.runCreated(`r${i}`), fact.started(`r${i}`), fact.saved(`r${i}`, `c${i}`)];
      await thread(log, `t${String((i * 7) % 23).padStart(2, '0')}`, {}, i % 3 === 0 ? { then: ran } : {});
    }
    for (const sortBy of THREAD_SORTS)
      for (const sortOrder of ['asc', 'desc'] as const) {
        const pages: string[] = [];
        for (let offset = 0; offset < 30; offset += 5) {
          const { threads, total } = await log.views.threads.search({ sortBy, sortOrder, limit: 5, offset });
          assert.equal(total, 23);
          pages.push(...threads.map(({ threadId }) => threadId));
        }
        assert.equal(pages.length, 23, `${sortBy} ${sortOrder}`);
        assert.equal(new Set(pages).size, 23, `${sortBy} ${sortOrder}`);
        const whole = await log.views.threads.search({ sortBy, sortOrder, limit: 100, offset: 0 });
        const keys = whole.threads.map(({ updatedAt, createdAt }) =>
          sortBy === 'created_at' ? createdAt : updatedAt,
        );
        if (sortBy !== 'created_at' && sortBy !== 'updated_at') continue;
        const sorted = [...keys].sort((a, b) => (sortOrder === 'asc' ? a - b : b - a));
        assert.deepEqual(keys, sorted);
      }
  }));

test.run();

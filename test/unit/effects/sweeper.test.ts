import { join } from 'node:path';
import assert from 'node:assert/strict';
import { createDeliveries } from '../../../src/actors/deliveries.ts';
import { startSweeper } from '../../../src/effects/sweeper.ts';
import type { EventLog } from '../../../src/store/port/log.ts';
import type { Ask } from '../../../src/store/sql/ask.ts';
import { selectThreads } from '../../../src/store/sql/views/any-thread.ts';
import { createViews } from '../../../src/store/sql/views/views.ts';
import { createAsk } from '../../../src/store/sqlite/ask.ts';
import { openConnection } from '../../../src/store/sqlite/connection.ts';
import { LOG_FILE } from '../../../src/store/sqlite/log.ts';
import { createStatements } from '../../../src/store/sqlite/statements.ts';
import type { ThreadEvent } from '../../../src/protocol/event.ts';
import { createHub } from '../../../src/streams/hub.ts';
import { createThreadEvents } from '../../../src/streams/thread-events.ts';
import { batch } from '../../support/batches.ts';
import { ask, THREAD } from '../../support/given.ts';
import { createRandom } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import { seededIds } from '../../support/with-log.ts';
import { withThreads, type TestThreads } from '../actors/with-threads.ts';

const test = suite('effects/sweeper');

const RETENTION = 600_000;
const ROUND = 60_000;
/** More than one question for what is due brings, and not a multiple of it. */
const MANY = 230;

function start(
  { log, threads, clock }: Pick<TestThreads, 'log' | 'threads' | 'clock'>,
  isThreadRead = (_threadId: string): boolean => false,
) {
  const faults: unknown[] = [];
  const ids = seededIds(clock, createRandom(3));
  const sweeper = startSweeper({
    ...{ log, threads, clock, ids, deliveries: createDeliveries({ log, ids }) },
    onFault: (error) => faults.push(error),
    isThreadRead,
    ...{ retentionMs: RETENTION, keepDeliveredMs: RETENTION },
  });
  return { sweeper, faults };
}

async function addThreads(
  { threads }: Pick<TestThreads, 'threads'>,
  name: string,
  count: number,
  temporary: boolean,
) {
  const threadIds = Array.from({ length: count }, (_, index) => `${name}-${index}`);
  const done = await Promise.all(
    threadIds.map((threadId) =>
      threads.dispatch(threadId, [
        { type: 'CreateThread', threadId, metadata: {}, temporary },
        ...(temporary ? [ask.createRun(threadId), ask.cancel(threadId)] : []),
      ]),
    ),
  );
  assert.ok(done.every(({ ok }) => ok));
}

const count = ({ rows }: TestThreads): number => rows.all(selectThreads('1 = 1')).length;

const isPlanned = ({ clock }: TestThreads): boolean =>
  clock.pending().some((due) => due >= clock.now() + ROUND);

/** Until the round that is under way is over: only then the next one is planned. */
async function roundEnds(lent: TestThreads): Promise<void> {
  while (!isPlanned(lent)) await lent.log.views.inventory.assistants();
}

test('one round deletes all expired threads of stateless runs and no other thread', () =>
  withThreads(async (lent) => {
    await addThreads(lent, 'old', MANY, true);
    await lent.clock.advance(RETENTION);
    await addThreads(lent, 'young', 2, true);
    await addThreads(lent, 'lasting', 3, false);
    const { sweeper, faults } = start(lent);
    assert.equal(count(lent), MANY + 5);
    await lent.clock.advance(ROUND);
    await roundEnds(lent);
    assert.equal(count(lent), 5);
    assert.deepEqual(faults, []);
    await sweeper.stop();
  }));

test('L1 what an import has written is erased an hour after its beginning, in commits of bounded size', () =>
  withThreads(async (lent) => {
    // Given an import that will not be completed, with more rows than one commit erases
    const [runId, storageKey, threadId] = ['r', 'k', THREAD];
    const frames = (first: number) =>
      ({ kind: 'frames', runId, threadId, first, frames: [{ event: 'custom', data: 'of a file' }] }) as const;
    const value = { channel: 'c', version: '1', data: '"of a file"' };
    const values = { kind: 'channel-values', threadId: storageKey, runId, ns: '', values: [value] } as const;
    const begin = { kind: 'begin-import', storageKey, threadId } as const;
    for (const payload of [begin, values, ...Array.from({ length: MANY }, (_, first) => frames(first))])
      await lent.log.commit(batch([], { payloads: [payload] }));
    const sizes: number[] = [];
    const log: EventLog = {
      ...lent.log,
      async commit(given) {
        const left = await lent.log.payloads.lastFrame(runId);
        const result = await lent.log.commit(given);
        sizes.push(left - (await lent.log.payloads.lastFrame(runId)));
        return result;
      },
    };
    const { sweeper, faults } = start({ ...lent, log });
    // When less than an hour has passed, then it is there
    await lent.clock.advance(ROUND);
    await roundEnds(lent);
    assert.ok(lent.dump().includes('of a file'));
    // When an hour has passed, then it is gone
    await lent.clock.advance(60 * ROUND);
    await roundEnds(lent);
    assert.ok(!lent.dump().includes('of a file'));
    assert.deepEqual(await log.views.retention.imports(), []);
    assert.ok(sizes.length > 1 && Math.max(...sizes) < MANY, String(sizes));
    assert.deepEqual(faults, []);
    await sweeper.stop();
  }));

test('S2 frames that a reader is in the middle of are kept until it has read them', () =>
  withThreads(async (lent) => {
    const { log, clock, done } = lent;
    const left = (): Promise<number[]> =>
      Promise.all(['a', 'b'].map(async (runId) => (await log.payloads.lastFrame(runId)) + 1));
    await done(ask.createThread());
    for (const runId of ['a', 'b']) {
      await done([ask.createRun(runId), ask.start(runId)]);
      const frames = Array.from({ length: 600 }, (_, i) => ({ event: 'custom', data: `${i}` }));
      const payload = { kind: 'frames', runId, threadId: THREAD, first: 0, frames } as const;
      await log.commit(batch([], { payloads: [payload] }));
      await done(ask.complete(runId));
    }
    const hub = createHub(log);
    const reader = createThreadEvents(log, hub, clock).read(THREAD, { visible: async () => true });
    const events: ThreadEvent[] = [];
    const poll = async (): Promise<boolean> => {
      const page = await reader.poll();
      events.push(...(page ?? []));
      return page !== undefined;
    };
    while (events.length === 0) await poll();
    assert.ok(events.length < 600);
    let isFull = false;
    const commit: EventLog['commit'] = (given) =>
      isFull ? Promise.reject(new Error('the disk is full')) : log.commit(given);
    const { sweeper, faults } = start({ ...lent, log: { ...log, commit } }, hub.isThreadRead);
    for (let round = 0; round < 2; round++) {
      await clock.advance(RETENTION);
      await roundEnds(lent);
      assert.deepEqual(await left(), [600, 600]);
    }
    while (await poll());
    assert.equal(events.filter(({ method }) => method === 'custom').length, 1_200);
    isFull = true;
    await clock.advance(ROUND);
    await roundEnds(lent);
    assert.equal(faults.length, 1);
    assert.deepEqual(await left(), [600, 600]);
    isFull = false;
    await clock.advance(ROUND);
    await roundEnds(lent);
    assert.deepEqual(await left(), [0, 0]);
    await sweeper.stop();
    reader.close();
    hub.close();
  }));

test('S2 an expired thread of a stateless run stays while it has a reader', () =>
  withThreads(async (lent) => {
    const { log, clock, done } = lent;
    await done([
      { type: 'CreateThread', threadId: THREAD, metadata: {}, temporary: true },
      ask.createRun('a'),
    ]);
    const hub = createHub(log);
    const subscriber = hub.subscribe({ runId: 'a', threadId: THREAD });
    await done([ask.start('a'), ask.complete('a')]);
    const { sweeper } = start(lent, hub.isThreadRead);
    await clock.advance(RETENTION + ROUND);
    await roundEnds(lent);
    assert.equal(count(lent), 1);
    subscriber.close();
    await clock.advance(ROUND);
    await roundEnds(lent);
    assert.equal(count(lent), 0);
    await sweeper.stop();
    hub.close();
  }));

test('a round without expired threads asks the reader thread nothing', () =>
  withThreads(async ({ log, threads, clock, dir }) => {
    const searched: string[] = [];
    const db = openConnection(join(dir, LOG_FILE), { readonly: true });
    const points = createAsk(createStatements(db));
    const asked: Ask = {
      ...points,
      scan: (question, ...args) => (searched.push(question.name), question.answer(points, ...args)),
    };
    const lent = { log: { ...log, views: createViews(asked, log.payloads.containing) }, threads, clock };
    await addThreads({ threads }, 'young', 2, true);
    await addThreads({ threads }, 'lasting', 3, false);
    const { sweeper } = start(lent);
    await clock.advance(ROUND);
    await sweeper.stop();
    assert.deepEqual(searched, []);
    // Asked again when they are old.
    await clock.advance(RETENTION);
    const { sweeper: later } = start(lent);
    await clock.advance(ROUND);
    await later.stop();
    assert.deepEqual(searched, ['threads.expired']);
    db.close();
  }));

test('a stopped sweeper ends between two deletions and plans no round', () =>
  withThreads(async (lent) => {
    await addThreads(lent, 'old', MANY, true);
    await lent.clock.advance(RETENTION);
    const { sweeper } = start(lent);
    const deleted = new Promise<void>((resolve) => lent.log.onCommitted(() => resolve()));
    await lent.clock.advance(ROUND);
    await deleted;
    await sweeper.stop();
    const left = count(lent);
    assert.ok(left > 0 && left < MANY, `${left} are left`);
    assert.ok(!isPlanned(lent));
  }));

test.run();

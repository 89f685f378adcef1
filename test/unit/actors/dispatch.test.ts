import assert from 'node:assert/strict';
import { LogUnavailable } from '../../../src/store/port/log-failures.ts';
import type { Dispatched } from '../../../src/actors/threads.ts';
import type { Json } from '../../../src/kernel/json.ts';
import type { EventLog } from '../../../src/store/port/log.ts';
import type { ThreadEvent } from '../../../src/thread/events.ts';
import { evolve, initial, isLiving, type ThreadState } from '../../../src/thread/state.ts';
import { ask, fact, SUCCESS, THREAD } from '../../support/given.ts';
import { batch } from '../../support/batches.ts';
import { createThreadMaintenance } from '../../../src/actors/thread-maintenance.ts';
import { suite } from '../../support/suite.ts';
import { toRunning, withThreads } from './with-threads.ts';

const test = suite('actors/threads');

const STREAM = `thread-${THREAD}`;

async function foldOf(log: EventLog): Promise<{ state: ThreadState; version: number }> {
  const events = await log.readStream(STREAM, 1, 10_000);
  return {
    state: events.reduce((state, event) => evolve(state, event as ThreadEvent), initial),
    version: events.length,
  };
}

/** Appends behind the back of every actor, as another server would, with the snapshot that belongs to it. */
async function foreign(log: EventLog, ...events: ThreadEvent[]): Promise<void> {
  const { state, version } = await foldOf(log);
  const snapshot = events.reduce(evolve, state) as unknown as Json;
  const { kind } = await log.commit(batch([{ stream: STREAM, expected: version, events, snapshot }]));
  assert.equal(kind, 'committed');
}

test('D3 no refusal writes a byte, not even updated_at', () =>
  withThreads(async ({ done, refused, dump, clock, restart }) => {
    await done([...toRunning('a'), ask.createRun('b')]);
    await clock.advance(5_000);
    const before = dump();
    const codes: string[] = [];
    for (const command of [
      ...[
        ask.createThread(),
        ask.createRun('c', 'reject'),
        ask.createRun('b'),
        ask.start('b'),
        ask.start('a'),
      ],
      ...[ask.cancel('x'), ask.save('a', 'c1', 2), ask.complete('a', SUCCESS, 1, 'wrong'), ask.complete('b')],
      ...[ask.requeue('b'), ask.abandon('b')],
    ])
      codes.push(
        await refused(command, { payloads: [{ kind: 'secret', runId: 'x', threadId: THREAD, data: '{}' }] }),
      );
    assert.equal(dump(), before);
    assert.equal(
      codes.join(' '),
      [
        ...['thread-exists thread-busy run-exists thread-busy thread-busy'],
        ...['run-not-open lease-stale lease-stale lease-stale lease-stale run-not-open'],
      ].join(' '),
    );
    await restart();
    assert.equal(await refused(ask.createRun('c', 'reject')), 'thread-busy');
    assert.equal(dump(), before);
  }));

test('D3 given several commands of which the last is refused, when they are dispatched, then none happens', () =>
  withThreads(async ({ done, threads, dump }) => {
    await done(ask.createThread());
    const before = dump();
    const result = await threads.dispatch(THREAD, [
      ask.updateThread({ k: 1 }),
      ask.createRun('a'),
      ask.createRun('a'),
    ]);
    assert.deepEqual(result, { ok: false, refusal: { code: 'run-exists' } });
    assert.equal(dump(), before);
    const both = await done([ask.updateThread({ k: 1 }), ask.createRun('a'), ask.start('a')]);
    assert.deepEqual(
      both.events.map(({ type, meta }) => [type, meta.version]),
      [
        ['ThreadUpdated', 2],
        ['RunCreated', 3],
        ['RunStarted', 4],
      ],
    );
  }));

test('D3 a command that changes nothing is accepted and writes nothing', () =>
  withThreads(async ({ done, dump }) => {
    await done([...toRunning('a'), ask.cancel('a')]);
    const before = dump();
    assert.deepEqual((await done(ask.cancel('a'))).events, []);
    assert.equal(dump(), before);
  }));

test('X1 given an idle thread, when 100 runs with reject come at once, then exactly one is accepted', () =>
  withThreads(async ({ done, threads, another, log }) => {
    await done(ask.createThread());
    // Two write paths over one log: the version check has to hold what one mailbox cannot.
    const second = another();
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        (i % 2 === 0 ? threads : second).dispatch(THREAD, [ask.createRun(`run-${i}`, 'reject')]),
      ),
    );
    const accepted = results.filter(({ ok }) => ok);
    assert.equal(accepted.length, 1);
    const [created] = (accepted[0] as { events: readonly ThreadEvent[] }).events;
    assert.ok(created?.type === 'RunCreated');
    for (const result of results)
      if (!result.ok) assert.deepEqual(result.refusal, { code: 'thread-busy', runId: created.data.runId });
    assert.equal((await log.readStream(STREAM, 1, 1_000)).length, 2);
  }));

test('X5 without room for idle actors commands wait for a start that is being committed', () =>
  withThreads(
    async ({ done, threads, log }) => {
      await done([ask.createThread(), ask.createRun('a')]);
      const before = await log.readStream(STREAM, 1, 10);
      let go: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (go = resolve));
      let started: Promise<Dispatched> | undefined;
      await new Promise<void>((entered) => {
        started = threads.dispatch(THREAD, async () => {
          entered();
          await held;
          return [ask.start('a')];
        });
      });
      const seen = Promise.all([
        threads.runExclusive(THREAD, async ({ state }) => state.status),
        threads.dispatch(THREAD, [ask.save('a', 'c1')]).then(({ ok }) => ok),
      ]);
      // Time enough for those two, if they did not wait.
      await threads.dispatch('another', [ask.createThread()]);
      go();
      assert.ok((await started!).ok);
      assert.deepEqual(await seen, ['running', true]);
      assert.equal((await log.readStream(STREAM, 1, 10)).length, before.length + 2);
    },
    { capacity: 0 },
  ));

test("L2 a command that meets another writer's events is decided anew on them", () =>
  withThreads(async ({ done, refused, log }) => {
    await done(ask.createThread({ a: 1 }));
    await foreign(log, fact.updated({ b: 2 }));
    const updated = await done(ask.updateThread({ c: 3 }));
    assert.deepEqual(
      updated.events.map(({ data, meta }) => [data, meta.version]),
      [[{ threadId: THREAD, metadata: { b: 2, c: 3 } }, 3]],
    );
    await foreign(log, fact.runCreated('theirs'));
    assert.equal(await refused(ask.createRun('mine', 'reject')), 'thread-busy');
    await foreign(log, fact.started('theirs'), fact.completed('theirs'), fact.deleted());
    assert.equal(await refused(ask.updateThread({})), 'thread-missing');
  }));

test('L4 a command gives up on a stream that changes at every try, and writes nothing', () =>
  withThreads(async ({ done, another, log, dump }) => {
    await done(ask.createThread());
    let tries = 0;
    const racing = another((real) => ({
      ...real,
      async commit(one) {
        tries += 1;
        await foreign(log, fact.updated({ tries }));
        return real.commit(one);
      },
    }));
    await assert.rejects(racing.dispatch(THREAD, [ask.updateThread({ mine: 1 })]), LogUnavailable);
    assert.ok(tries > 1);
    assert.ok(!dump().includes('mine'));
  }));

test('L4 an unknown outcome is thrown and is no refusal', () =>
  withThreads(async ({ done, threads, log, behind }) => {
    await done(ask.createThread());
    behind((db) => db.exec('ALTER TABLE events RENAME TO lost'));
    await assert.rejects(threads.dispatch(THREAD, [ask.updateThread({})]), LogUnavailable);
    behind((db) => db.exec('ALTER TABLE lost RENAME TO events'));
    await assert.rejects(threads.dispatch(THREAD, [ask.updateThread({})]), LogUnavailable);
    await log.close();
    await assert.rejects(threads.dispatch(THREAD, [ask.updateThread({})]), LogUnavailable);
  }));

test('L4 a repeated command id gets the first receipt though the command cannot happen twice', () =>
  withThreads(async (lent) => {
    const { done, restart } = lent;
    await done(toRunning('a'));
    const first = await done(ask.complete('a'), { commandId: 'finish' });
    const again = await done(ask.complete('a'), { commandId: 'finish' });
    assert.deepEqual(again.events, first.events);
    assert.deepEqual(again.state, first.state);
    await restart();
    assert.deepEqual((await done(ask.complete('a'), { commandId: 'finish' })).events, first.events);
    const update = await done(ask.updateThread({ n: 1 }), { commandId: 'update' });
    await done(ask.updateThread({ n: 2 }));
    const late = await done(ask.updateThread({ n: 1 }), { commandId: 'update' });
    assert.deepEqual(late.events, update.events);
    assert.ok(isLiving(late.state) && late.state.metadata['n'] === 2);
    assert.equal((await foldOf(lent.log)).version, 6);
  }));

test('X2 a write with a lease that ended unnoticed by the actor is refused as stale', () =>
  withThreads(async ({ done, refused, log, behind }) => {
    await done(toRunning('a'));
    const lease = { runId: 'a', attempt: 1, leaseId: 'lease' };
    await done(ask.save('a', 'c1'), { lease });
    behind((db) => db.exec('UPDATE runs SET lease_id = NULL'));
    assert.equal(await refused(ask.save('a', 'c2'), { lease }), 'lease-stale');
    assert.equal(await refused(ask.complete('a'), { lease }), 'lease-stale');
    assert.equal((await foldOf(log)).version, 4);
  }));

test('given a log that fails while an actor is loaded, when it recovers, then the next command is served', () =>
  withThreads(async ({ done, another }) => {
    await done(ask.createThread());
    let failing = true;
    const flaky = another(
      (real) => ({
        ...real,
        loadSnapshot: (stream) =>
          failing ? Promise.reject(new Error('not now')) : real.loadSnapshot(stream),
      }),
      1,
    );
    // Over capacity: the one that cannot be loaded is also a candidate for eviction.
    const asked = ['t1', 't2', THREAD].map((id) => flaky.dispatch(id, [ask.updateThread({})]));
    for (const one of asked) await assert.rejects(one, /not now/);
    failing = false;
    assert.ok((await flaky.dispatch(THREAD, [ask.updateThread({})])).ok);
  }));

test('a copy of a thread that another writer has changed has the head of now (D2, L2)', () =>
  withThreads(async ({ threads, another, done, log }) => {
    // Given an actor of this write path that has not heard of a later update.
    await done([ask.createThread(), ask.updateState('c1', 'u1')]);
    await another().dispatch(THREAD, [ask.updateState('c2', 'u2')]);
    // When the thread is copied by the write path that is behind.
    const { copy } = createThreadMaintenance({ log, threads, deltaBasesOf: () => [] });
    const copied = await copy(THREAD, { threadId: 'copy', metadata: {} });
    // Then the copy has the later head.
    assert.ok(copied.ok && isLiving(copied.state));
    assert.equal(copied.state.head, 'u2');
  }));

for (const [behind, snapshots] of [
  [99, 0],
  [100, 1],
] as const)
  test(`after a conflict with ${behind} events, ${snapshots === 0 ? 'these alone are' : 'the snapshot is'} read`, () =>
    withThreads(async ({ done, another, log }) => {
      // given
      let loaded = 0;
      const own = another((real) => ({
        ...real,
        loadSnapshot(stream) {
          loaded += 1;
          return real.loadSnapshot(stream);
        },
      }));
      await done([ask.createThread()]);
      assert.ok((await own.dispatch(THREAD, [ask.updateThread({ n: 0 })])).ok);
      loaded = 0;
      // when
      await foreign(log, ...Array.from({ length: behind }, (_, n) => fact.updated({ n })));
      const found = await own.dispatch(THREAD, [ask.updateThread({ mine: 1 })]);
      // then
      assert.equal(loaded, snapshots);
      assert.deepEqual(found.ok && found.state, (await foldOf(log)).state);
    }));

test.run();

import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { EventLog } from '../../../src/store/port/log.ts';
import type { ThreadEvent } from '../../../src/thread/events.ts';
import { fact } from '../../support/given.ts';
import { batch } from '../../support/batches.ts';
import { createRandom, seedFromEnv } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import { withLog } from '../../support/with-log.ts';
import type { EndedAt } from '../../../src/store/port/views/views.ts';

const test = suite('store, run-queries');

const NOW = Date.UTC(2026, 0, 1);

/** Puts facts of a thread at the end of its stream, whatever its machine would say. */
function writer(log: EventLog): (threadId: string, ...facts: ThreadEvent[]) => Promise<void> {
  const versions = new Map<string, number>();
  return async (threadId, ...facts) => {
    const expected = versions.get(threadId) ?? 0;
    const events = facts.map((one) => ({ ...one, data: { ...one.data, threadId } }) as ThreadEvent);
    const { kind } = await log.commit(batch([{ stream: `thread-${threadId}`, expected, events }]));
    assert.equal(kind, 'committed');
    versions.set(threadId, expected + facts.length);
  };
}

const claimable = async (log: EventLog, now = NOW, limit = 100): Promise<string[]> =>
  (await log.views.runs.claimable(now, limit)).map(({ runId }) => runId);

test('X1 runs of one moment on one thread are claimed in the order of acceptance', () =>
  withLog(async ({ log }) => {
    const write = writer(log);
    const ids = ['m', 'z', 'a', 'q', 'b'];
    await write('t', fact.created(), ...ids.map((id) => fact.runCreated(id)));
    for (const [index, id] of ids.entries()) {
      assert.deepEqual(await claimable(log), [id]);
      await write('t', fact.started(id));
      assert.deepEqual(await claimable(log), []);
      await write('t', fact.completed(id, { remaining: ids.length - 1 - index }));
    }
    const newestFirst = await log.views.runs.list({ threadId: 't', limit: 10, offset: 0 });
    assert.deepEqual(newestFirst, [...ids].reverse());
  }));

test('X5 a run that has begun is claimable whatever was set back: the clock by a week, or its own time', () =>
  withLog(async ({ log }) => {
    const write = writer(log);
    await write(
      't',
      fact.created(),
      fact.runCreated('begun', { notBefore: NOW + 1_000 }),
      fact.started('begun'),
    );
    await write('t', fact.requeued('begun'));
    assert.deepEqual(await claimable(log, NOW - 7 * 24 * 3_600_000), ['begun']);
  }));

test('X5 a begun run that waits for its next attempt comes first, though the clock was set back', () =>
  withLog(async ({ log }) => {
    const write = writer(log);
    const begun = fact.runCreated('begun', { notBefore: NOW + 1_000 });
    await write('t', fact.created(), begun, fact.started('begun'), fact.runCreated('next'));
    await write('t', fact.requeued('begun'));
    assert.deepEqual(await claimable(log, NOW + 2_000), ['begun']);
    await write('t', fact.started('begun', 2), fact.completed('begun', { remaining: 1 }));
    assert.deepEqual(await claimable(log, NOW + 2_000), ['next']);
  }));

test('X1 given a delayed run, when it is not due, then those behind it go first and its turn comes by time', () =>
  withLog(async ({ log }) => {
    const write = writer(log);
    await write(
      't',
      fact.created(),
      fact.runCreated('late', { notBefore: NOW + 5_000 }),
      fact.runCreated('soon'),
    );
    await write('u', fact.created(), fact.runCreated('later', { notBefore: NOW + 9_000 }));
    assert.deepEqual(await claimable(log), ['soon']);
    assert.equal(await log.views.runs.nextDue(NOW), NOW + 5_000);
    assert.deepEqual(await claimable(log, NOW + 4_999), ['soon']);
    assert.deepEqual(await claimable(log, NOW + 5_000), ['soon']);
    await write('t', fact.completed('soon', { remaining: 1 }));
    assert.deepEqual(await claimable(log, NOW + 5_000), ['late']);
    assert.equal(await log.views.runs.nextDue(NOW + 5_000), NOW + 9_000);
    assert.equal(await log.views.runs.nextDue(NOW + 9_000), undefined);
  }));

test('X1 claims take the oldest due run of each thread that executes none, begun runs first', () =>
  withLog(async ({ log, clock }) => {
    const random = createRandom(seedFromEnv());
    const write = writer(log);
    interface Model {
      id: string;
      thread: string;
      created: number;
      due: number;
      order: number;
      state: 'pending' | 'running' | 'ended';
      begun: boolean;
    }
    const model: Model[] = [];
    for (const thread of ['t', 'u', 'v']) await write(thread, fact.created());
    const first = (a: Model, b: Model): number =>
      Number(b.begun) - Number(a.begun) || a.created - b.created || a.order - b.order;
    let claims = 0;
    for (let step = 0; step < 120; step++) {
      const thread = random.pick(['t', 'u', 'v']);
      const own = model.filter((run) => run.thread === thread);
      const active = own.find(({ state }) => state === 'running');
      if (active !== undefined && random.chance(0.5)) {
        active.state = random.chance(0.3) ? 'pending' : 'ended';
        const wait = fact.requeued(active.id);
        await write(thread, active.state === 'pending' ? wait : fact.completed(active.id));
      } else if (random.chance(0.6)) {
        const due = random.chance(0.3) ? clock.now() + random.int(1, 50) : 0;
        const id = `${random.int(0, 9)}-${step}`;
        const created = Math.max(clock.now(), due);
        model.push({ id, thread, created, due, order: step, state: 'pending', begun: false });
        await write(thread, fact.runCreated(id, { notBefore: due }));
      } else await clock.advance(random.int(0, 20));

      const expected = ['t', 'u', 'v']
        .filter((name) => !model.some((run) => run.thread === name && run.state === 'running'))
        .flatMap((name) =>
          model
            .filter((run) => run.thread === name && run.state === 'pending' && run.due <= clock.now())
            .sort(first)
            .slice(0, 1),
        )
        .sort(first);
      const found = await claimable(log, clock.now());
      assert.deepEqual(
        found,
        expected.map(({ id }) => id),
      );
      assert.deepEqual(await claimable(log, clock.now(), 1), found.slice(0, 1));
      const next = expected[0];
      if (next !== undefined && random.chance(0.6)) {
        next.state = 'running';
        next.begun = true;
        claims += 1;
        await write(next.thread, fact.started(next.id));
      }
    }
    assert.ok(claims > 10, `only ${claims} claims`);
  }));

test('runs of a thread are listed newest first, by status and metadata, in pages', () =>
  withLog(async ({ log, clock }) => {
    const write = writer(log);
    await write('t', fact.created());
    for (const [index, id] of ['a', 'b', 'c', 'd'].entries()) {
      await clock.advance(1);
      await write('t', fact.runCreated(id, { metadata: { even: index % 2 === 0, n: index } }));
    }
    await write('t', fact.started('a'));
    await write('u', fact.created(), fact.runCreated('other'));
    const list = async (more: object): Promise<string> =>
      (await log.views.runs.list({ threadId: 't', limit: 10, offset: 0, ...more })).join('');
    assert.equal(await list({}), 'dcba');
    assert.equal(await list({ limit: 2, offset: 1 }), 'cb');
    assert.equal(await list({ status: 'pending' }), 'dcb');
    assert.equal(await list({ status: 'running' }), 'a');
    assert.equal(await list({ metadata: { even: true } }), 'ca');
    assert.equal(await list({ metadata: { even: true, n: 2 } }), 'c');
    assert.equal(await list({ metadata: {} }), 'dcba');
    assert.deepEqual(
      (await log.views.runs.running()).map(({ runId }) => runId),
      ['a'],
    );
  }));

test('a damaged or missing event of a run is reported by run; running runs are still found', () =>
  withLog(async ({ log, behind }) => {
    const write = writer(log);
    await write('t', fact.created(), fact.runCreated('a'), fact.started('a'));
    await write('u', fact.created(), fact.runCreated('b'), fact.started('b'));
    for (const change of [
      `UPDATE events SET data = '{'`,
      `UPDATE events SET data = 'null'`,
      `UPDATE events SET data = '1'`,
      `DELETE FROM events`,
    ]) {
      behind((db) => db.exec(`${change} WHERE type = 'RunCreated' AND stream = 'thread-t'`));
      await assert.rejects(log.views.runs.get('a'), /no JSON as the fact that made run a$/, change);
      const running = await log.views.runs.running();
      assert.deepEqual(running.map(({ runId }) => runId).sort(), ['a', 'b'], change);
      assert.equal((await log.views.runs.get('b'))?.runId, 'b');
    }
  }));

test('A2 A3 given a filter, when runs are read, then it is matched against the metadata of their thread', () =>
  withLog(async ({ log }) => {
    const write = writer(log);
    await write(
      't',
      fact.created({ owner: 'ann' }),
      fact.runCreated('a', { threadMetadata: { owner: 'ann' } }),
    );
    const ann = [{ op: 'equal', key: 'owner', value: 'ann' }] as const;
    const bob = [{ op: 'equal', key: 'owner', value: 'bob' }] as const;
    assert.equal((await log.views.runs.get('a', { filter: ann }))?.runId, 'a');
    const hidden = await log.views.runs.get('a', { filter: bob });
    const missing = await log.views.runs.get('nothing', { filter: ann });
    assert.ok(isDeepStrictEqual([hidden, missing], [undefined, undefined]));
    assert.equal(await log.views.runs.get('a', { threadId: 'other' }), undefined);
    assert.equal((await log.views.runs.get('a', { threadId: 't' }))?.runId, 'a');
    const search = { threadId: 't', limit: 10, offset: 0 };
    assert.equal((await log.views.runs.list(search, ann)).length, 1);
    assert.deepEqual(await log.views.runs.list(search, bob), []);
    await assert.rejects(log.views.runs.list(search, [{ op: 'unheard of' } as never]));
  }));

test('old ended runs are found only while they still have frames', () =>
  withLog(async ({ log, clock }) => {
    const write = writer(log);
    const frames = (runId: string) =>
      log.commit(
        batch([], {
          payloads: [{ kind: 'frames', runId, threadId: 't', first: 0, frames: [{ event: 'e', data: '1' }] }],
        }),
      );
    await write('t', fact.created());
    for (const id of ['a', 'b', 'c']) {
      await write('t', fact.runCreated(id), fact.started(id));
      if (id !== 'b') await frames(id);
      await write('t', fact.completed(id));
      await clock.advance(100);
    }
    await write('t', fact.runCreated('open'), fact.started('open'));
    await frames('open');
    const old = (before: number, looked = 10, after?: EndedAt) =>
      log.views.retention.runsWithFrames({ after, before, looked });
    const kept = (...runIds: string[]) => runIds.map((runId) => ({ runId, threadId: 't' }));
    assert.deepEqual((await old(NOW + 150)).kept, kept('a'));
    assert.deepEqual((await old(NOW + 10_000)).kept, kept('a', 'c'));
    const first = await old(NOW + 10_000, 2);
    assert.deepEqual(first.kept, kept('a'));
    const second = await old(NOW + 10_000, 2, first.next);
    assert.deepEqual(second.kept, kept('c'));
    assert.deepEqual(await old(NOW + 10_000, 2, second.next), { kept: [], next: undefined });
  }));

test("P2 a run's row and its events have the caller of the commit, also after a rebuild", () =>
  withLog(async ({ log, behind, past }) => {
    const commit = (id: string, by?: string) => {
      const events = [fact.created({}, false, id), fact.runCreated(id, { threadId: id })];
      return log.commit({ ...batch([{ stream: `thread-${id}`, expected: 0, events }]), by });
    };
    await commit('a', 'ann');
    await commit('b');
    const owners = behind((db) => db.prepare('SELECT run_id, owner FROM runs ORDER BY run_id').all());
    assert.ok(
      isDeepStrictEqual(owners, [
        { run_id: 'a', owner: 'ann' },
        { run_id: 'b', owner: null },
      ]),
    );
    const [event] = await log.readStream('thread-a', 1, 1);
    assert.equal(event?.data.by, 'ann');
    assert.equal(await past((history) => history.firstDifference()), undefined);
  }));

test.run();

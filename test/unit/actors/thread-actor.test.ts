import assert from 'node:assert/strict';
import { createThreadActor, loadThreadActor } from '../../../src/actors/thread-actor.ts';
import type { EventLog } from '../../../src/store/port/log.ts';
import type { Recorded } from '../../../src/store/port/events.ts';
import type { ThreadEvent } from '../../../src/thread/events.ts';
import { evolve, initial, type ThreadState } from '../../../src/thread/state.ts';
import { ask, fact, given, SUCCESS, THREAD } from '../../support/given.ts';
import { suite } from '../../support/suite.ts';
import { toRunning, withThreads } from './with-threads.ts';

const test = suite('actors/thread-actor');

/** The log, with a list of what was asked of it. */
function watched(log: EventLog): { log: EventLog; calls: string[] } {
  const calls: string[] = [];
  return {
    calls,
    log: {
      ...log,
      loadSnapshot: (stream) => {
        calls.push(`snapshot of ${stream.slice(-2)}`);
        return log.loadSnapshot(stream);
      },
      readStream: async (...args) => {
        const events = await log.readStream(...args);
        if (events.length > 0) calls.push(`${events.length} events`);
        return events;
      },
      readAll: (...args) => {
        calls.push('readAll');
        return log.readAll(...args);
      },
    },
  };
}

test("R2 after a restart an actor's snapshot equals the fold of its events", () =>
  withThreads(async (lent) => {
    await lent.done([...toRunning('a'), ask.createRun('b'), ask.updateThread({ k: 'v' })]);
    for (const step of [
      ask.save('a', 'c1'),
      ask.cancel('a', 'rollback'),
      ask.complete('a'),
      ask.start('b', 'l2'),
      ask.requeue('b', 1, 'l2'),
      ask.deleteThread(),
    ]) {
      const { state } = await lent.done(step);
      const facts = (await lent.log.readStream(`thread-${THREAD}`, 1, 100)) as Recorded<ThreadEvent>[];
      const fold = facts.reduce<ThreadState>(evolve, initial);
      await lent.restart();
      const actor = await loadThreadActor(lent.log, THREAD);
      assert.deepEqual(actor.state, fold, step.type);
      assert.deepEqual(actor.state, state, step.type);
      assert.equal(actor.version, facts.at(-1)?.meta.version);
    }
  }));

test('given a long history, when an actor is loaded, then its snapshot and the few events behind it are read', () =>
  withThreads(async ({ done, another, log }) => {
    await done(ask.createThread());
    for (let i = 0; i < 100; i++) await done(ask.updateThread({ i }));
    const seen = watched(log);
    const own = `snapshot of ${THREAD.slice(-2)}`;
    const result = await another(() => seen.log).dispatch(THREAD, [ask.createRun('a', 'reject')]);
    assert.ok(result.ok);
    assert.equal(result.events[0]?.meta.version, 102);
    assert.deepEqual(seen.calls, [own]);
    // A busy thread has a snapshot of every 50th event.
    for (let i = 0; i < 70; i++) await another().dispatch(THREAD, [ask.updateThread({ i })]);
    seen.calls.length = 0;
    const last = await another(() => seen.log).dispatch(THREAD, [ask.updateThread({ last: true })]);
    assert.equal(last.ok && last.events[0]?.meta.version, 173);
    assert.deepEqual(seen.calls, [own, '22 events']);
  }));

test('given more threads than fit, when they are used, then the idle ones unused the longest are let go', () =>
  withThreads(async ({ another, log }) => {
    const seen = watched(log);
    const threads = another(() => seen.log, 2);
    const use = async (id: string): Promise<string[]> => {
      seen.calls.length = 0;
      const commands = [ask.updateThread({ id })];
      const result = await threads.dispatch(id, commands);
      if (!result.ok) await threads.dispatch(id, [ask.createThread({}, id)]);
      return [...seen.calls];
    };
    assert.deepEqual(await use('t1'), ['snapshot of t1']);
    assert.deepEqual(await use('t2'), ['snapshot of t2']);
    assert.deepEqual(await use('t1'), []);
    assert.deepEqual(await use('t3'), ['snapshot of t3']);
    assert.deepEqual(await use('t1'), [], 't1 was used after t2');
    assert.deepEqual(await use('t2'), ['snapshot of t2'], 't2 was let go');
    assert.deepEqual(await use('t3'), ['snapshot of t3'], 't3 was let go in turn');
  }));

test('a command for a new thread id reads nothing, and an existing thread is safe from it', () =>
  withThreads(async ({ another, log }) => {
    const seen = watched(log);
    const [one, other] = [another(() => seen.log), another(() => seen.log)];
    const create = [ask.createThread({ whose: 'one' }, 'drawn')];
    assert.equal((await one.dispatch('drawn', create, { isNew: true })).ok, true);
    assert.deepEqual(seen.calls, []);
    const late = await other.dispatch('drawn', create, { isNew: true });
    assert.deepEqual(late, { ok: false, refusal: { code: 'thread-exists' } });
    assert.deepEqual(seen.calls, ['snapshot of wn']);
    assert.equal((await log.readStream('thread-drawn', 1, 10)).length, 1);
    const update = await another().dispatch('drawn', [ask.updateThread({ n: 1 })], { isNew: true });
    assert.equal(update.ok, true, 'a command that creates nothing reads what there is');
  }));

test('many threads that share too few actors have all commands done in order', () =>
  withThreads(async ({ another, log }) => {
    const threads = another(undefined, 1);
    const ids = Array.from({ length: 20 }, (_, i) => `t${String(i).padStart(2, '0')}`);
    await Promise.all(
      ids.flatMap((id) => [
        threads.dispatch(id, [ask.createThread({}, id)]),
        ...Array.from({ length: 5 }, (_, n) => threads.dispatch(id, [ask.updateThread({ n })])),
      ]),
    );
    for (const id of ids) {
      const events = await log.readStream(`thread-${id}`, 1, 100);
      const told = events.map((event) =>
        event.type === 'ThreadUpdated' ? event.data.metadata['n'] : event.type,
      );
      assert.deepEqual(told, ['ThreadCreated', 0, 1, 2, 3, 4]);
    }
  }));

test('D2 an actor that gets an event its machine denies throws and names the version', () => {
  const { state } = given(fact.created(), fact.runCreated('a'));
  const actor = createThreadActor('thread-t', { state, version: 2 });
  assert.throws(
    () => actor.absorb([fact.completed('x')]),
    /thread-t version 3: RunCompleted cannot follow "queued"/,
  );
  assert.equal(actor.version, 2);
});

test('D2 given commands, when an actor decides them, then nothing of it moves until the facts are taken in', () => {
  const actor = createThreadActor('thread-t', { state: initial, version: 0 });
  const decided = actor.decide(toRunning('a'));
  assert.ok(decided.ok);
  assert.deepEqual([actor.version, actor.state], [0, initial]);
  actor.absorb(decided.events);
  assert.deepEqual([actor.version, actor.state], [3, decided.after]);
  assert.deepEqual(actor.decide([ask.complete('a', SUCCESS, 1, 'no')]), {
    ok: false,
    refusal: { code: 'lease-stale' },
  });
});

test.run();

import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { EventLog } from '../../../src/store/port/log.ts';
import type { ThreadEvent } from '../../../src/thread/events.ts';
import { fact } from '../../support/given.ts';
import { batch } from '../../support/batches.ts';
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
  }));

test('a damaged or missing event of a run is reported by run; other runs are still read', () =>
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

/** The rows that each fact of a thread leaves, as a client's questions find them. */
import assert from 'node:assert/strict';
import type { EventLog } from '../../../src/store/port/log.ts';
import type { Outcome, ThreadEvent } from '../../../src/thread/events.ts';
import { fact, given, SUCCESS, THREAD } from '../../support/given.ts';
import { batch } from '../../support/batches.ts';
import { suite } from '../../support/suite.ts';
import { withLog, type TestLog } from '../../support/with-log.ts';

const test = suite('store, threads');

const STREAM = `thread-${THREAD}`;
const START = Date.UTC(2026, 0, 1);

/** Commits one fact after the other, each a second after the one before; the first at `START`. */
async function live({ log, clock, past }: TestLog, ...facts: ThreadEvent[]): Promise<EventLog> {
  given(...facts);
  for (const [index, one] of facts.entries()) {
    if (index > 0) await clock.advance(1_000);
    await log.commit(batch([{ stream: STREAM, expected: index, events: [one] }]));
  }
  await past(async (history) => assert.equal(await history.firstDifference(), undefined));
  return log;
}

const at = (seconds: number): number => START + seconds * 1_000;
const running = [fact.created(), fact.runCreated('a', { strategy: 'reject' }), fact.started('a')];

test('a state update sets head, questions, times and the status of its new head (official 1.3)', () =>
  withLog(async (lent) => {
    const paused: Outcome = { kind: 'success', next: ['ask'], interrupts: { t: [{ id: 'i', value: 1 }] } };
    const { views } = await live(
      lent,
      ...running,
      fact.saved('a', 'c1'),
      fact.completed('a', { outcome: paused, head: 'c1' }),
      fact.stateUpdated('c2', { next: ['ask'], interrupts: { u: [] } }),
    );
    const thread = await views.threads.get(THREAD);
    assert.deepEqual(
      [thread?.status, thread?.head, thread?.interrupts, thread?.stateUpdatedAt, thread?.updatedAt],
      ['interrupted', 'c2', { u: [] }, at(5), at(5)],
    );
  }));

test('given a thread, when it is created and updated, then its row says so with the times of the log', () =>
  withLog(async (lent) => {
    const { views } = await live(lent, fact.created({ a: 1 }), fact.updated({ a: 1, b: [2] }));
    assert.deepEqual(await views.threads.get(THREAD), {
      threadId: THREAD,
      createdAt: at(0),
      updatedAt: at(1),
      stateUpdatedAt: null,
      status: 'idle',
      metadata: { a: 1, b: [2] },
      head: null,
      interrupts: {},
      error: null,
      ttl: null,
      title: null,
    });
  }));

test('given a run, when it is accepted, started and ended, then run and thread follow each step', () =>
  withLog(async (lent) => {
    const created = fact.runCreated('a', {
      metadata: { m: 1 },
      threadMetadata: { graph_id: 'graph' },
      strategy: 'reject',
    });
    const log = await live(lent, fact.created(), created);
    const pending = await log.views.runs.get('a');
    assert.deepEqual(pending, {
      runId: 'a',
      threadId: THREAD,
      assistantId: 'assistant',
      graphId: 'graph',
      createdAt: at(1),
      updatedAt: at(1),
      startedAt: null,
      endedAt: null,
      status: 'pending',
      metadata: { m: 1 },
      kwargs: { input: null, config: {}, streamMode: ['values'], streamSubgraphs: false },
      strategy: 'reject',
      attempt: 0,
      leaseId: null,
      outcome: null,
      cancelReason: null,
      usage: null,
      head: null,
      ordinal: null,
    });
    const busy = await log.views.threads.get(THREAD);
    assert.deepEqual([busy?.status, busy?.metadata], ['busy', { graph_id: 'graph' }]);
  }));

test("an executing run's row has head, times, attempt and lease", () =>
  withLog(async (lent) => {
    const { views } = await live(
      lent,
      ...running,
      fact.saved('a', 'sub', 'child:1'),
      fact.saved('a', 'c1'),
      fact.completed('a', { head: 'c1' }),
    );
    const run = await views.runs.get('a');
    assert.deepEqual(
      [
        run?.status,
        run?.attempt,
        run?.leaseId,
        run?.startedAt,
        run?.endedAt,
        run?.updatedAt,
        run?.head,
        run?.outcome,
      ],
      ['success', 1, null, at(2), at(5), at(5), 'c1', SUCCESS],
    );
    const thread = await views.threads.get(THREAD);
    assert.deepEqual(
      [thread?.status, thread?.head, thread?.stateUpdatedAt, thread?.updatedAt],
      ['idle', 'c1', at(4), at(5)],
    );
  }));

test('given a requeued run, when it waits again, then it is pending, keeps its attempt and holds no lease', () =>
  withLog(async (lent) => {
    const { views } = await live(lent, ...running, fact.requeued('a'));
    const run = await views.runs.get('a');
    assert.deepEqual([run?.status, run?.attempt, run?.leaseId], ['pending', 1, null]);
    assert.equal((await views.threads.get(THREAD))?.status, 'busy');
  }));

test('given a run that is told to stop, when its row is read, then it runs on with its lease', () =>
  withLog(async (lent) => {
    const { views } = await live(lent, ...running, fact.cancelRequested('a'));
    const run = await views.runs.get('a');
    assert.deepEqual([run?.status, run?.leaseId, run?.updatedAt], ['running', 'lease', at(2)]);
  }));

test('given every outcome, when a run ends with it, then the statuses and the error are those of the API', async () => {
  const paused: Outcome = {
    kind: 'success',
    next: ['ask'],
    interrupts: { task: [{ id: 'i', value: 'sure?' }] },
  };
  const failed: Outcome = { kind: 'error', error: 'Oops', message: 'it broke' };
  const table: [Outcome, string | undefined, string, unknown, unknown][] = [
    [SUCCESS, 'success', 'idle', {}, null],
    [paused, 'success', 'interrupted', paused.interrupts, null],
    [failed, 'error', 'error', {}, { error: 'Oops', message: 'it broke' }],
    [
      { kind: 'timeout', message: 'too long' },
      'timeout',
      'error',
      {},
      { error: 'TimeoutError', message: 'too long' },
    ],
    [
      { kind: 'cancelled', reason: 'asked', next: ['a'] },
      ...['interrupted', 'interrupted', {}, { error: 'UserInterrupt', message: 'asked' }],
    ] as never,
    [
      { kind: 'rolled-back', reason: 'asked' },
      ...[undefined, 'idle', {}, { error: 'UserRollback', message: 'asked' }],
    ] as never,
  ];
  for (const [outcome, run, thread, interrupts, error] of table)
    await withLog(async (lent) => {
      const { views } = await live(lent, ...running, fact.completed('a', { outcome }));
      const row = await views.threads.get(THREAD);
      assert.deepEqual(
        [(await views.runs.get('a'))?.status, row?.status, row?.interrupts, row?.error],
        [run, thread, interrupts, error],
        outcome.kind,
      );
    });
});

test('given runs that wait, when one ends, then the thread stays busy until none is left', () =>
  withLog(async (lent) => {
    const two = [...running, fact.runCreated('b')];
    const failed: Outcome = { kind: 'error', error: 'E', message: 'm' };
    const log = await live(lent, ...two, fact.completed('a', { outcome: failed, remaining: 1 }));
    assert.equal((await log.views.threads.get(THREAD))?.status, 'busy');
    await log.commit(
      batch([{ stream: STREAM, expected: 5, events: [fact.completed('b', { attempt: 1, remaining: 0 })] }]),
    );
    const idle = await log.views.threads.get(THREAD);
    assert.deepEqual([idle?.status, idle?.error], ['idle', null]);
  }));

test('a thread with a failed run still shows it after a run that left no trace', async () => {
  const failed: Outcome = { kind: 'error', error: 'E', message: 'm' };
  for (const attempt of [0, 1])
    await withLog(async (lent) => {
      const { views } = await live(
        lent,
        ...running,
        fact.completed('a', { outcome: failed }),
        fact.runCreated('b'),
        fact.completed('b', { attempt, outcome: { kind: 'rolled-back', reason: 'asked' } }),
      );
      const thread = await views.threads.get(THREAD);
      const told = { error: 'UserRollback', message: 'asked' };
      const error = attempt === 0 ? { error: 'E', message: 'm' } : told;
      assert.deepEqual([thread?.status, thread?.error], ['error', error]);
    });
});

test('given a deleted thread, when rows are read, then neither it nor its runs are there', () =>
  withLog(async (lent) => {
    const { views } = await live(lent, ...running, fact.completed('a'), fact.deleted());
    assert.equal(await views.threads.get(THREAD), undefined);
    assert.equal(await views.runs.get('a'), undefined);
    assert.deepEqual(await views.runs.list({ threadId: THREAD, limit: 10, offset: 0 }), []);
  }));

test('given a delayed run, when it is accepted, then its time of creation is when it is due', () =>
  withLog(async (lent) => {
    const { views } = await live(lent, fact.created(), fact.runCreated('a', { notBefore: at(60) }));
    assert.equal((await views.runs.get('a'))?.createdAt, at(60));
  }));

test.run();

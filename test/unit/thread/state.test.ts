import assert from 'node:assert/strict';
import { evolve, initial, isLiving, openRun } from '../../../src/thread/state.ts';
import { fact, given } from '../../support/given.ts';
import { suite } from '../../support/suite.ts';

const test = suite('thread/state');

const running = [fact.created(), fact.runCreated('a'), fact.runCreated('b'), fact.started('a')];

test('a requeued run goes to the front and keeps attempt and base', () => {
  const { state } = given(...running, fact.saved('a', 'c1'), fact.requeued('a', 1, { lost: true }));
  assert.ok(state.status === 'queued');
  assert.deepEqual(state.queue, [
    { runId: 'a', attempt: 1, base: null, checkpointed: true },
    { runId: 'b', attempt: 0, base: null, checkpointed: false },
  ]);
  const again = given(...running, fact.requeued('a'), fact.started('a', 2)).state;
  assert.deepEqual(openRun(again, 'a'), {
    runId: 'a',
    attempt: 2,
    base: null,
    checkpointed: false,
    leaseId: 'lease',
  });
});

test("a subgraph's checkpoint leaves the head and the next attempt's input unchanged", () => {
  const { state } = given(...running, fact.saved('a', 'c1'), fact.saved('a', 'sub1', 'child:1'));
  assert.ok(isLiving(state) && state.head === 'c1');
  const first = given(...running, fact.saved('a', 'sub1', 'child:1')).state;
  assert.ok(
    isLiving(first) && first.head === null && first.status === 'running' && !first.active.checkpointed,
  );
});

test('given a run with a head before it, when it starts, then that head is the base of every attempt', () => {
  const history = [...running, fact.saved('a', 'c1'), fact.completed('a', { head: 'c1', remaining: 1 })];
  const { state } = given(
    ...history,
    fact.started('b'),
    fact.saved('b', 'c2'),
    fact.requeued('b'),
    fact.started('b', 2),
  );
  assert.ok(state.status === 'running');
  assert.equal(state.active.base, 'c1');
  assert.equal(state.head, 'c2');
});

test('given any state, when it is stored as JSON and read back, then it is the same', () => {
  const histories = [
    [],
    running,
    [...running, fact.cancelRequested('a', 'rollback')],
    [...running.slice(0, 1), fact.deleted()],
  ];
  for (const history of histories) {
    const { state } = given(...history);
    assert.deepEqual(JSON.parse(JSON.stringify(state)), state);
  }
});

test('given facts that cannot happen, when they are folded, then the state is kept and nothing throws', () => {
  const { state } = given(fact.created(), fact.runCreated('a'));
  for (const odd of [fact.started('x'), fact.requeued('a'), fact.saved('a', 'c'), fact.cancelRequested('a')])
    assert.equal(evolve(state, odd), state, odd.type);
  assert.equal(evolve(initial, fact.started('a')), initial);
});

test.run();

import assert from 'node:assert/strict';
import type { ThreadEvent } from '../../../src/thread/events.ts';
import { canAll } from '../../../src/thread/machine.ts';
import { initial } from '../../../src/thread/state.ts';
import { fact, given } from '../../support/given.ts';
import { suite } from '../../support/suite.ts';

const test = suite('thread/machine');

const queued = [fact.created(), fact.runCreated('a'), fact.runCreated('b')];
const running = [...queued, fact.started('a')];
const can = (history: readonly ThreadEvent[], ...facts: ThreadEvent[]): boolean =>
  canAll(given(...history).state, facts);

test('X1 given a run that executes, when another or the same starts, then the machine says no', () => {
  assert.ok(can(queued, fact.started('a')) && can(queued, fact.started('b')));
  for (const run of ['a', 'b', 'x']) {
    assert.equal(can(running, fact.started(run)), false, run);
    assert.equal(can([...running, fact.cancelRequested('a')], fact.started(run)), false, run);
  }
});

test('X3 given a run that ended, when it ends again, then the machine says no, whoever still runs', () => {
  const once = [...running, fact.completed('a', { remaining: 1 })];
  assert.equal(can(once, fact.completed('a')), false);
  assert.equal(can([...once, fact.started('b')], fact.completed('a')), false);
  assert.equal(can([...once, fact.completed('b')], fact.completed('b')), false);
  assert.equal(can(running, fact.completed('b'), fact.completed('b')), false);
});

test('X1 given a busy thread, when a run with reject is asked about, then only an idle thread admits it', () => {
  const reject = fact.runCreated('c', { strategy: 'reject' });
  const states = [queued, running, [...running, fact.cancelRequested('a')]];
  for (const state of states) {
    assert.equal(can(state, reject), false);
    assert.equal(can(state, fact.runCreated('a')), false);
    assert.equal(can(state, fact.runCreated('b', { strategy: 'rollback' })), false);
    assert.ok(can(state, fact.runCreated('c', { strategy: 'enqueue' })));
  }
  assert.ok(can(queued.slice(0, 1), reject));
});

test('given a thread with open runs, when it would be deleted, then they have to end first', () => {
  assert.equal(can(running, fact.deleted()), false);
  assert.ok(can(running, fact.completed('b'), fact.completed('a'), fact.deleted()));
  assert.equal(can([fact.created(), fact.deleted()], fact.runCreated('a')), false);
  assert.ok(can([fact.created(), fact.deleted()], fact.created()));
});

test('given a sequence with one impossible fact, when all are asked about, then the answer is no', () => {
  assert.equal(can(queued, fact.started('a'), fact.started('b')), false);
  assert.ok(can(queued, fact.started('a'), fact.completed('a'), fact.started('b')));
  assert.ok(can(queued));
});

test('given a living thread, when a fact that moves nothing is asked about, then it can happen', () => {
  for (const state of [queued.slice(0, 1), queued, running, [...running, fact.cancelRequested('a')]])
    assert.ok(can(state, fact.updated({ k: 1 })));
  assert.equal(canAll(initial, [fact.updated({})]), false);
});

test.run();

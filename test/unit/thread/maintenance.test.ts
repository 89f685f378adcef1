/** Copies, prunings and deleted runs, by the rules of a thread. */
import assert from 'node:assert/strict';
import { redact } from '../../../src/thread/redact.ts';
import type { Outcome, ThreadEvent } from '../../../src/thread/events.ts';
import { ask, fact, given, SUCCESS } from '../../support/given.ts';
import { suite } from '../../support/suite.ts';

const test = suite('thread/maintenance');

const done = [fact.created(), fact.runCreated('a'), fact.started('a'), fact.completed('a', { head: 'c' })];

test("a copy is idle with the original's head, or refused for an existing thread", () => {
  const state = given().when(ask.copyThread('other')).then(fact.copied('other'));
  assert.equal(state.status, 'idle');
  given(fact.created()).when(ask.copyThread('other')).thenRefused({ code: 'thread-exists' });
  const copied = given(fact.copied('other', 'head')).state;
  assert.equal(copied.status === 'idle' && copied.head, 'head');
});

test('X5 pruning and run deletion are refused while a run is open', () => {
  for (const open of [[fact.runCreated('a')], [fact.runCreated('a'), fact.started('a')]])
    for (const command of [ask.pruneThread(), ask.deleteRun('z')])
      given(fact.created(), ...open)
        .when(command)
        .thenRefused({ code: 'thread-busy', runId: 'a' });
  given(...done)
    .when(ask.pruneThread())
    .then(fact.pruned());
  const state = given(...done)
    .when(ask.deleteRun('a'))
    .then(fact.runDeleted('a'));
  assert.equal(state.status === 'idle' && state.head, null);
});

test("a run's end restarts only a keep-latest time to live, and pruning ends it", () => {
  for (const [strategy, rearm] of [
    ['keep-latest', 5],
    ['delete', undefined],
  ] as const) {
    const ttl = { strategy, minutes: 5 } as const;
    const born = { type: 'ThreadCreated', data: { ...fact.created().data, ttl } } as ReturnType<
      typeof fact.created
    >;
    const [, ...life] = done;
    const { events } = given(born, ...life.slice(0, 2)).when(ask.complete('a'));
    assert.equal(events[0]?.type === 'RunCompleted' && events[0].data.rearm, rearm);
    const [pruned] = given(born).when(ask.pruneThread()).events;
    assert.equal(pruned?.type === 'ThreadPruned' && pruned.data.disarms, strategy === 'keep-latest');
  }
});

test('L3 redacted events of a run keep order and type and lose their content', () => {
  const secret = 'what was said';
  const outcomes: Outcome[] = [
    { kind: 'success', next: [secret], interrupts: { t: [secret] } },
    { kind: 'error', error: secret, message: secret },
    { kind: 'timeout', message: secret },
    { kind: 'cancelled', reason: secret },
  ];
  const kwargs = { input: secret, config: { secret }, streamMode: ['values'], streamSubgraphs: true };
  const facts = [
    fact.runCreated('a', { metadata: { secret }, kwargs }),
    { type: 'RunRequeued', data: { ...fact.requeued('a').data, reason: secret } } as ThreadEvent,
    ...outcomes.map((outcome) => fact.completed('a', { outcome })),
  ];
  for (const before of facts) {
    const after = redact(before, new Set(['a', 'c']));
    assert.equal(after.type, before.type);
    assert.ok(!JSON.stringify(after).includes(secret));
    assert.equal(redact(before, new Set(['b'])), before);
  }
  const left = { ...fact.runDeleted('b').data, left: { runId: 'a', outcome: SUCCESS } };
  const told = redact(
    { type: 'RunDeleted', data: left } as ReturnType<typeof fact.runDeleted>,
    new Set(['a']),
  );
  assert.equal(told.type === 'RunDeleted' && told.data.left, null);
  // Its reason is the server's own, and the thread shows it.
  const rolledBack = fact.completed('a', { outcome: { kind: 'rolled-back', reason: 'asked' } });
  assert.deepEqual(redact(rolledBack, new Set(['a'])), rolledBack);
});

test.run();

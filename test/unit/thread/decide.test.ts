import assert from 'node:assert/strict';
import type { ThreadEvent } from '../../../src/thread/events.ts';
import { isLiving, openRun } from '../../../src/thread/state.ts';
import { ask, fact, given, SUCCESS, THREAD } from '../../support/given.ts';
import { suite } from '../../support/suite.ts';

const test = suite('thread/decide');

const queued = [fact.created(), fact.runCreated('a'), fact.runCreated('b')];
const running = [...queued, fact.started('a')];

test('of metadata of assistant, thread and run the later wins; the thread gets graph and assistant', () => {
  const state = given(fact.created({ on: 'thread', k: 'thread' }))
    .when(
      ask.createRun('a', 'reject', {
        assistantMetadata: { on: 'assistant', of: 'assistant' },
        metadata: { k: 'run' },
        notBefore: 7,
      }),
    )
    .then(
      fact.runCreated('a', {
        strategy: 'reject',
        metadata: { on: 'thread', of: 'assistant', k: 'run' },
        threadMetadata: { on: 'thread', k: 'thread', graph_id: 'graph', assistant_id: 'assistant' },
        notBefore: 7,
      }),
    );
  assert.ok(isLiving(state));
  assert.deepEqual(state.metadata, {
    on: 'thread',
    k: 'thread',
    graph_id: 'graph',
    assistant_id: 'assistant',
  });
});

test('given metadata, when it is updated, then keys are merged one level deep', () => {
  given(fact.created({ a: { x: 1 }, b: 1 }))
    .when(ask.updateThread({ a: { y: 2 } }))
    .then(fact.updated({ a: { y: 2 }, b: 1 }));
});

test('X1 D3 given a busy thread, when a run comes with reject, then the refusal names the run in the way', () => {
  const refusal = (runId: string) => ({ code: 'thread-busy', runId }) as const;
  given(...queued)
    .when(ask.createRun('c', 'reject'))
    .thenRefused(refusal('a'));
  given(...running, fact.completed('a', { remaining: 1 }))
    .when(ask.createRun('c', 'reject'))
    .thenRefused(refusal('b'));
  given(...running)
    .when(ask.start('b'))
    .thenRefused(refusal('a'));
});

test('X3 a run with strategy interrupt ends the waiting run at once and stops the active one', () => {
  const reason = 'superseded by run c (multitask_strategy=interrupt)';
  const cancelled = { kind: 'cancelled', reason } as const;
  const metadata = { graph_id: 'graph', assistant_id: 'assistant' };
  const state = given(...running, fact.saved('a', 'c1'))
    .when(ask.createRun('c', 'interrupt'))
    .then(
      fact.runCreated('c', { strategy: 'interrupt', threadMetadata: metadata }),
      fact.completed('b', { attempt: 0, outcome: cancelled, remaining: 2, head: 'c1' }),
      { type: 'RunCancelRequested', data: { threadId: THREAD, runId: 'a', action: 'interrupt', reason } },
    );
  assert.equal(state.status, 'stopping');
  assert.equal(openRun(state, 'b'), undefined);
});

test('X3 a run with strategy rollback ends both waiting runs with the number that remain', () => {
  const outcome = {
    kind: 'rolled-back',
    reason: 'superseded by run c (multitask_strategy=rollback)',
  } as const;
  const metadata = { graph_id: 'graph', assistant_id: 'assistant' };
  given(...queued)
    .when(ask.createRun('c', 'rollback'))
    .then(
      fact.runCreated('c', { strategy: 'rollback', threadMetadata: metadata }),
      fact.completed('a', { attempt: 0, outcome, remaining: 2 }),
      fact.completed('b', { attempt: 0, outcome, remaining: 1 }),
    );
});

test('P3 rolling back a retried run and its successor restores the head before its first attempt', () => {
  const history = [
    ...[fact.created(), fact.runCreated('z'), fact.started('z'), fact.saved('z', 'c0')],
    ...[fact.completed('z', { head: 'c0' }), fact.runCreated('a'), fact.runCreated('b'), fact.started('a')],
    ...[fact.saved('a', 'c1'), fact.requeued('a')],
  ];
  const state = given(...history)
    .when(ask.createRun('c', 'rollback'))
    .thenTypes('RunCreated', 'RunCompleted', 'RunCompleted');
  assert.ok(state.status === 'queued');
  assert.equal(state.head, 'c0');
  assert.deepEqual(
    state.queue.map(({ runId }) => runId),
    ['c'],
  );
});

test('a run with rollback turns the stop of a stopping run into a rollback', () => {
  const stopping = [...running, fact.saved('a', 'c1'), fact.cancelRequested('a', 'interrupt')];
  const state = given(...stopping)
    .when(ask.createRun('c', 'rollback'))
    .thenTypes('RunCreated', 'RunCompleted', 'RunCancelRequested');
  assert.ok(state.status === 'stopping' && state.action === 'rollback');
  const end = given(...stopping, fact.cancelRequested('a', 'rollback')).when(ask.complete('a')).events[0];
  assert.ok(end?.type === 'RunCompleted');
  assert.equal(end.data.outcome.kind, 'rolled-back');
  assert.equal(end.data.head, null);
});

test('rolling back a second attempt restores the head before the first', () => {
  const history = [
    ...[fact.created(), fact.runCreated('a'), fact.started('a', 1, 'l1'), fact.saved('a', 'c1')],
    ...[fact.requeued('a'), fact.started('a', 2, 'l2'), fact.saved('a', 'c2', '', 2)],
  ];
  const end = given(...history, fact.cancelRequested('a', 'rollback')).when(
    ask.complete('a', SUCCESS, 2, 'l2'),
  );
  assert.ok(end.events[0]?.type === 'RunCompleted');
  assert.equal(end.events[0].data.head, null);
  const waiting = given(...history.slice(0, 5)).when(ask.cancel('a', 'rollback')).events[0];
  assert.ok(waiting?.type === 'RunCompleted' && waiting.data.head === null && waiting.data.attempt === 1);
});

test('given a stopping run, when its graph reports success, then an interrupt lets the success stand', () => {
  given(...running, fact.cancelRequested('a'))
    .when(ask.complete('a'))
    .then(fact.completed('a', { remaining: 1 }));
});

test('given a run that waits, when it is cancelled, then it ends at once and the head stays', () => {
  const outcome = { kind: 'cancelled', reason: 'asked' } as const;
  given(...running, fact.saved('a', 'c1'))
    .when(ask.cancel('b'))
    .then(fact.completed('b', { attempt: 0, outcome, remaining: 1, head: 'c1' }));
});

test('X6 a run is tried again until its last charge, which ends it with the reason of its last death', () => {
  const history: ThreadEvent[] = [fact.created(), fact.runCreated('a')];
  for (const attempt of [1, 2]) {
    history.push(fact.started('a', attempt, `l${attempt}`));
    const again = fact.requeued('a', attempt, { lost: true, charges: attempt });
    given(...history)
      .when(ask.abandon('a'))
      .then(again);
    history.push(again);
  }
  const message = 'Run a was charged with 3 of 3 allowed deaths of its process (PLATFORM_MAX_ATTEMPTS): lost';
  given(...history, fact.started('a', 3, 'l3'))
    .when(ask.abandon('a'))
    .then(fact.completed('a', { attempt: 3, outcome: { kind: 'error', error: 'Lost', message } }));
});

test('X6 a saved step clears the account of a run, its input and a return of the run leave it as it is', () => {
  const charged = [
    ...[fact.created(), fact.runCreated('a'), fact.started('a')],
    ...[fact.requeued('a', 1, { lost: true, deaths: 2, charges: 1 }), fact.started('a', 2)],
  ];
  given(...charged)
    .when(ask.requeue('a', 2))
    .then(fact.requeued('a', 2, { deaths: 2, charges: 1, reason: 'shutdown' }));
  given(...charged, fact.saved('a', 'c1', '', 2))
    .when(ask.abandon('a'))
    .then(fact.requeued('a', 2, { lost: true, charges: 1 }));
  given(...charged, fact.saved('a', 's1', 'child:1', 2))
    .when(ask.abandon('a'))
    .then(fact.requeued('a', 2, { lost: true, charges: 1 }));
  const input = fact.saved('a', 'c1', '', 2) as ThreadEvent & { type: 'CheckpointSaved' };
  given(...charged, { ...input, data: { ...input.data, source: 'input' } })
    .when(ask.abandon('a'))
    .then(fact.requeued('a', 2, { lost: true, deaths: 2, charges: 2 }));
});

test('X6 a hundred deaths of the server end a run that saved no step in any of them, and no other run', () => {
  const history = (saves: boolean, deaths: number): ThreadEvent[] => [
    ...[fact.created(), fact.runCreated('a')],
    ...Array.from({ length: deaths }, (_, index) => index + 1).flatMap((attempt) => [
      fact.started('a', attempt),
      fact.begun('a', attempt),
      ...(saves ? [fact.saved('a', `c${attempt}`, '', attempt)] : []),
      fact.requeued('a', attempt, { lost: true, deaths: saves ? 0 : attempt }),
    ]),
    ...[fact.started('a', deaths + 1), fact.begun('a', deaths + 1)],
  ];
  const kill = ask.abandon('a', 3, 'server');
  const { events } = given(...history(false, 99)).when(kill);
  assert.match(JSON.stringify(events), /Run a saved no step in 100 lives of the server/);
  given(...history(false, 98))
    .when(kill)
    .then(fact.requeued('a', 99, { lost: true, deaths: 99 }));
  given(...history(true, 150))
    .when(kill)
    .then(fact.requeued('a', 151, { lost: true, deaths: 1 }));
});

test('X6 the death of a server in which the code of a run had not begun counts for nothing', () =>
  given(fact.created(), fact.runCreated('a'), fact.started('a'), fact.requeued('a'), fact.started('a', 2))
    .when(ask.abandon('a', 3, 'server'))
    .then(fact.requeued('a', 2)));

test('X6 the death of a server that may come back counts at the next one, unless it has come back by then', () => {
  // given
  const missing = (attempt: number, deaths: number): ThreadEvent =>
    fact.requeued('a', attempt, {
      ...{ lost: true, deaths, incarnation: `n${attempt}`, missing: `n${attempt}` },
    });
  const startedOn = (attempt: number): ThreadEvent => ({
    type: 'RunStarted',
    data: { threadId: THREAD, runId: 'a', attempt, leaseId: 'lease', incarnation: `n${attempt}` },
  });
  const history = [
    ...[fact.created(), fact.runCreated('a'), startedOn(1), missing(1, 0)],
    ...[startedOn(2), fact.begun('a', 2)],
  ];
  // when, then
  given(...history.slice(0, 3))
    .when(ask.miss('a'))
    .then(missing(1, 0));
  given(...history)
    .when(ask.miss('a'))
    .then(missing(2, 1));
  given(...history)
    .when(ask.miss('a', true))
    .then(missing(2, 0));
  given(...history)
    .when(ask.abandon('a'))
    .then(fact.requeued('a', 2, { lost: true, charges: 1, missing: 'n1' }));
  given(...history)
    .when(ask.requeue('a', 2))
    .then(fact.requeued('a', 2, { reason: 'shutdown', missing: 'n1' }));
  given(...history, fact.saved('a', 'c1', '', 2))
    .when(ask.miss('a'))
    .then(fact.requeued('a', 2, { lost: true, incarnation: 'n2' }));
});

test('X6 an attempt that is handed back has lost nothing', () => {
  const history: ThreadEvent[] = [fact.created(), fact.runCreated('a')];
  for (let attempt = 1; attempt <= 5; attempt++)
    history.push(fact.started('a', attempt), fact.requeued('a', attempt));
  given(...history, fact.started('a', 6))
    .when(ask.abandon('a'))
    .then(fact.requeued('a', 6, { lost: true, charges: 1 }));
});

test('X5 a stopping run whose process is lost ends as requested, for the given reason', () => {
  for (const [action, kind] of [
    ['interrupt', 'cancelled'],
    ['rollback', 'rolled-back'],
  ] as const)
    given(...running, fact.saved('a', 'c1'), fact.cancelRequested('a', action))
      .when(ask.abandon('a'))
      .then(
        fact.completed('a', {
          outcome: { kind, reason: 'asked' },
          remaining: 1,
          head: action === 'rollback' ? null : 'c1',
        }),
      );
});

test('X3 L3 given open runs, when the thread is deleted, then each gets its one end before the tombstone', () => {
  const outcome = { kind: 'cancelled', reason: 'The thread was deleted.' } as const;
  const state = given(...running)
    .when(ask.deleteThread())
    .then(
      fact.completed('b', { attempt: 0, outcome, remaining: 1 }),
      fact.completed('a', { outcome, remaining: 0 }),
      fact.deleted(),
    );
  assert.deepEqual(state, { status: 'deleted', threadId: THREAD });
});

test.run();

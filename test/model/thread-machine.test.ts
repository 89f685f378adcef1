/** Every way through a thread's life with two runs: the machine, the fold, the decisions and a restored machine agree. */
import assert from 'node:assert/strict';
import { getSimplePaths } from 'xstate/graph';
import { canonical, type Json } from '../../src/kernel/json.ts';
import { decide, type ThreadCommand } from '../../src/thread/decide.ts';
import type { ThreadEvent } from '../../src/thread/events.ts';
import { canAll, restore, startMachine, threadMachine } from '../../src/thread/machine.ts';
import { activeOf, evolve, initial, isLiving, type ThreadState } from '../../src/thread/state.ts';
import { ask, fact } from '../support/given.ts';
import { createJudge } from '../support/judge.ts';
import { suite } from '../support/suite.ts';

const test = suite('model/thread-machine');

const RUNS = ['a', 'b'];
const FACTS: readonly ThreadEvent[] = [
  fact.created(),
  fact.copied('other'),
  fact.updated({}),
  fact.stateUpdated('u'),
  fact.imported(),
  fact.pruned(),
  fact.deleted(),
  ...RUNS.flatMap((run) => [
    fact.runCreated(run, { strategy: 'reject' }),
    fact.runCreated(run, { strategy: 'enqueue' }),
    ...[
      fact.started(run),
      fact.begun(run),
      fact.requeued(run, 1, { lost: true }),
      fact.cancelRequested(run),
      fact.saved(run, 'c'),
      fact.completed(run),
      fact.runDeleted(run),
    ],
  ]),
];

const paths = getSimplePaths(threadMachine, {
  events: [...FACTS],
  serializeState: ({ value, context }) => JSON.stringify([value, context]),
}).map(({ steps }) => steps.map(({ event }) => event as unknown as ThreadEvent).slice(1));

/** Every state that lies on a path, once, whatever the order of its names. */
function statesOnPaths(): ThreadState[] {
  const states = new Map<string, ThreadState>();
  for (const path of paths) {
    let state: ThreadState = initial;
    states.set(canonical(state as unknown as Json), state);
    for (const event of path) {
      state = evolve(state, event);
      states.set(canonical(state as unknown as Json), state);
    }
  }
  return [...states.values()];
}

test('D2 on every simple path of two runs fold and restored machine agree at each step', () => {
  const ends = new Set<string>();
  let steps = 0;
  for (const path of paths) {
    const judge = createJudge(initial);
    let state: ThreadState = initial;
    for (const event of path) {
      assert.ok(judge.can([event]), event.type);
      judge.send(event);
      state = evolve(state, event);
      steps += 1;
      const walked = path.map(({ type }) => type).join(' ');
      assert.equal(state.status, judge.value, walked);
      const restored = restore(state);
      assert.equal(restored.value, judge.value, walked);
      for (const next of FACTS)
        assert.equal(canAll(state, [next]), judge.can([next]), `${next.type} after ${walked}`);
      const open = isLiving(state) ? [activeOf(state)?.runId, ...state.queue.map(({ runId }) => runId)] : [];
      assert.deepEqual(
        [restored.context.active ?? undefined, ...restored.context.queue],
        open.length === 0 ? [undefined] : open,
      );
    }
    ends.add(state.status);
  }
  console.log(`${paths.length} paths, ${steps} steps`);
  assert.ok(paths.length > 500, `only ${paths.length} paths`);
  assert.deepEqual([...ends].sort(), ['absent', 'deleted', 'idle', 'queued', 'running', 'stopping']);
});

/** What the machine has to say for a command to be accepted, told without asking `decide`. */
function admissions(can: (event: ThreadEvent) => boolean, state: ThreadState): [ThreadCommand, boolean][] {
  const ofRun = (run: string): [ThreadCommand, boolean][] => {
    const isActive = can(fact.saved(run, 'c'));
    const isOpen = isActive || can(fact.completed(run));
    return [
      [ask.createRun(run, 'reject'), can(fact.runCreated(run, { strategy: 'reject' }))],
      ...(['enqueue', 'interrupt', 'rollback'] as const).map((strategy): [ThreadCommand, boolean] => [
        ask.createRun(run, strategy),
        can(fact.runCreated(run, { strategy: 'enqueue' })),
      ]),
      [ask.start(run), can(fact.started(run))],
      [ask.cancel(run), isOpen],
      [ask.cancel(run, 'rollback'), isOpen],
      [ask.begin(run), isActive],
      [ask.begin(run, 2), false],
      [ask.save(run, 'c'), isActive],
      [ask.save(run, 'c', 2), false],
      [ask.complete(run), isActive],
      [ask.complete(run, undefined, 1, 'other'), false],
      [ask.requeue(run), isActive],
      [ask.abandon(run), isActive],
      [ask.abandon(run, 1), isActive],
      [ask.deleteRun(run), can(fact.runDeleted(run))],
    ];
  };
  return [
    [ask.createThread(), can(fact.created())],
    [ask.copyThread('other'), can(fact.copied('other'))],
    [ask.updateThread({}), can(fact.updated({}))],
    [ask.updateState('u', 'u'), can(fact.stateUpdated('u'))],
    [ask.pruneThread(), can(fact.pruned())],
    [ask.importThread([fact.created(), fact.updated({})]), !isLiving(state)],
    [ask.importThread([fact.updated({})]), false],
    [ask.deleteThread(), isLiving(state)],
    ...RUNS.flatMap(ofRun),
  ];
}

test('D2 D3 in every state every command is accepted exactly when the machine can', () => {
  const told = { accepted: 0, refused: 0 };
  for (const state of statesOnPaths()) {
    const { can } = createJudge(state);
    const reached = new Set<string>();
    for (const [command, expected] of admissions((event) => can([event]), state)) {
      const decision = decide(command, state, can);
      assert.equal(decision.ok, expected, `${JSON.stringify(command)} in ${JSON.stringify(state)}`);
      told[decision.ok ? 'accepted' : 'refused'] += 1;
      if (!decision.ok) continue;
      // A judge of its own walks all of them, not only the guards of the first.
      const judge = createJudge(state);
      const after = decision.events.reduce((current, event) => {
        assert.ok(judge.can([event]));
        judge.send(event);
        return evolve(current, event);
      }, state);
      assert.equal(after.status, judge.value);
      for (const event of decision.events) reached.add(nameOf(event));
    }
    // Nothing that can happen is out of reach of every command. `ThreadImported` comes behind the events of its file.
    for (const event of FACTS)
      if (can([event]) && event.type !== 'ThreadDeleted' && event.type !== 'ThreadImported')
        assert.ok(reached.has(nameOf(event)), nameOf(event));
  }
  console.log(`${told.accepted} accepted, ${told.refused} refused`);
  assert.deepEqual(told, { accepted: 248, refused: 802 });
});

test('remembered verdicts are those of the machine, for every state and every two facts (X1, X3)', () => {
  const third = fact.runCreated('c', { strategy: 'enqueue' });
  const states = statesOnPaths();
  const grown = states.flatMap((state) => (canAll(state, [third]) ? [evolve(state, third)] : []));
  const told = { yes: 0, no: 0 };
  for (const state of [...states, ...grown]) {
    const judge = createJudge(state);
    const machine = startMachine(state);
    for (const first of [...FACTS, third]) {
      assert.equal(machine.can(first), judge.can([first]));
      for (const facts of [[first], ...FACTS.map((second) => [first, second])]) {
        const said = judge.can(facts);
        const asked = `${facts.map(nameOf).join(', ')} in ${JSON.stringify(state)}`;
        assert.equal(canAll(state, facts), said, asked);
        told[said ? 'yes' : 'no'] += 1;
      }
    }
  }
  assert.ok(told.yes > 1000 && told.no > 1000, JSON.stringify(told));
});

const nameOf = ({ type, data }: ThreadEvent): string => `${type} ${'runId' in data ? data.runId : ''}`;

test.run();

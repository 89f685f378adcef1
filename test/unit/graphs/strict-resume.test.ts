/** Strict answers, against the library's own check and with the questions that its older lines have stored. */
import * as assert from 'node:assert/strict';
import { Annotation, Command, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import { encode } from '../../../src/graphs/codec.ts';
import type { GraphHost, LoadedCheckpoint, PendingWrite, RunEnd, RunLink } from '../../../src/graphs/port.ts';
import { refuseUnmatched } from '../../../src/graphs/strict-resume.ts';
import type { Json, JsonObject } from '../../../src/kernel/json.ts';
import { suite } from '../../support/suite.ts';
import { openBench, toOrder } from './harness.ts';
import { ask, START as EMPTY } from './langgraph-harness.ts';

const test = suite('graphs/strict-resume');

const ids = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => i.toString(16).padStart(32, '0'));
const MADE_UP = ids(3);
const [STRANGE, OTHER, THIRD] = MADE_UP as [string, string, string];

const Seen = Annotation.Root({
  seen: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});
const pair = new StateGraph(Seen)
  .addNode('left', () => ({ seen: [String(interrupt('left?')), String(interrupt('more?'))] }))
  .addNode('right', () => ({ seen: [String(interrupt('right?'))] }))
  .addEdge(START, 'left')
  .addEdge(START, 'right');

/** Each is played from the start; `named` are the questions of the first pause, sorted by what they ask. */
const ANSWERS: ((named: string[]) => readonly Json[])[] = [
  () => [{}],
  () => ['a value'],
  () => [{ [STRANGE]: 1 }],
  ([left, right]) => [{ [right!]: 1, [OTHER]: 2, [STRANGE]: 3, [left!]: 4 }],
  ([left]) => [{ [left!]: 1 }, { [left!]: 2 }],
  ([, right]) => [{ [right!]: 1 }, { [right!]: 2 }],
  ([, right]) => [{ [right!]: 1 }, 'a value'],
  ([left, right]) => [{ [left!]: 1, [right!]: 2 }, {}, { [right!]: 3 }, 'a value', { [left!]: 4 }],
];

type Told = 'passed' | { reason: string; message: string; named: string[]; pending: string[] };

test('strict answers are refused in the cases and the words of the library itself', async () => {
  for (const answersOf of ANSWERS) {
    const saver = new MemorySaver();
    const alone = pair.compile({ checkpointer: saver });
    const config = { configurable: { thread_id: 't', __pregel_strict_resume: true } };
    const bench = openBench(pair.compile());
    await alone.invoke({ seen: [] }, config);
    await bench.run({ input: { seen: [] } });
    const expected: Told[] = [];
    const found: Told[] = [];
    const asked = (await alone.getState(config)).tasks.flatMap((task) => task.interrupts) as Asked[];
    for (const resume of answersOf(sorted(asked))) {
      const names = namesOf(sorted(asked));
      try {
        await alone.invoke(new Command({ resume: resume as object }), config);
        expected.push('passed');
      } catch (error) {
        const { message, reason, interruptIds, pendingIds } = error as any;
        assert.equal((error as Error).name, 'UnknownInterruptError', String(error));
        expected.push(named(names, { message, reason, interruptIds, pendingIds }));
      }
    }
    const here = (await bench.state()).interrupts as unknown as Asked[];
    for (const resume of answersOf(sorted(here))) {
      const { end } = await bench.run({ command: { resume }, strictResume: true });
      if (end.kind !== 'error') found.push('passed');
      else found.push(named(namesOf(sorted(here)), { message: end.message, ...end.refusal! }));
    }
    assert.deepEqual(found, expected);
  }
});

type Asked = { readonly id: string; readonly value: string };
const sorted = (asked: Asked[]): string[] =>
  [...asked].sort((a, b) => (a.value < b.value ? -1 : 1)).map(({ id }) => id);
const namesOf = (all: string[]): Map<string, string> => new Map(all.map((id, i) => [id, `question ${i}`]));

/** Ids differ from thread to thread. */
function named(
  names: Map<string, string>,
  told: { message: string; reason: string; interruptIds: readonly string[]; pendingIds: readonly string[] },
): Told {
  const toNames = (of: readonly string[]) =>
    of.map((id) => names.get(id) ?? (MADE_UP.includes(id) ? id : 'new'));
  const message = told.message.replace(/[0-9a-f]{32}/, (id) => names.get(id) ?? id);
  return {
    ...{ reason: told.reason, message },
    ...{ named: toNames(told.interruptIds).sort(), pending: toNames(told.pendingIds).sort() },
  };
}

const asksTwice = (_state: object, { interrupt: question }: { interrupt(value: string): unknown }) => ({
  answer: [question('a?'), question('b?')],
});

test('X5 a strict answer that was used before a crash is not refused when its run is repeated', async () => {
  for (const graph of [ask(['a?', 'b?']), asksTwice]) {
    const bench = openBench(graph);
    await bench.run({ input: EMPTY });
    const id = (await bench.state()).interrupts[0]!.id!;
    const order = {
      runId: '01990000-0000-7000-8000-000000000001',
      command: { resume: { [id]: 'A' } },
      strictResume: true,
    };
    await bench.run(order);
    const { end } = await bench.restart().run({ ...order, attempt: 2 });
    assert.equal(end.kind, 'success');
    assert.equal((await bench.state()).interrupts[0]!.value, 'b?');
    // Another run with the same answer comes too late, under library lines that give each question an id.
    const late = await bench.run({ ...order, runId: '01990000-0000-7000-8000-000000000002' });
    assert.equal(late.end.kind === 'error' && late.end.refusal?.reason, 'not_pending');
    await bench.run({ command: { resume: 'B' }, strictResume: true });
    assert.deepEqual(((await bench.state()).values as JsonObject)['answer'], ['A', 'B']);
  }
});

test('X5 a strict answer to questions of which some were used before a crash goes on with the rest', async () => {
  let dies = true;
  const both = new StateGraph(Seen)
    .addNode('left', () => ({ seen: [String(interrupt('left?'))] }))
    .addNode('right', () => {
      const answer = String(interrupt('right?'));
      if (dies) throw new Error('the process dies here');
      return { seen: [answer] };
    })
    .addEdge(START, 'left')
    .addEdge(START, 'right')
    .compile();
  const bench = openBench(both);
  await bench.run({ input: { seen: [] } });
  const [left, right] = sorted((await bench.state()).interrupts as unknown as Asked[]) as [string, string];
  bench.checkpoints.beforeWrites = (writes) => {
    if (writes.some(({ channel }) => channel === '__error__')) throw new Error('the process is gone');
  };
  const order = {
    runId: '01990000-0000-7000-8000-000000000001',
    command: { resume: { [left]: 'L', [right]: 'R' } },
    strictResume: true,
  };
  assert.equal((await bench.run(order)).end.kind, 'error');
  bench.checkpoints.beforeWrites = () => undefined;
  dies = false;
  assert.equal((await bench.restart().run({ ...order, attempt: 2 })).end.kind, 'success');
  assert.deepEqual((await bench.state()).values, { seen: ['L', 'R'] });
});

/** What an answer on a head with these writes comes to. */
async function answered(resume: Json, writes: readonly PendingWrite[], order: object = {}): Promise<RunEnd> {
  const head: LoadedCheckpoint = {
    ...{ ns: '', checkpointId: 'head', parentId: null, body: '{"v":4}', metadata: {}, at: 0 },
    ...{ blobs: [], valueChannels: [], writes },
  };
  const host: GraphHost = {
    graphIds: [],
    run: async () => ({ kind: 'success', next: [], interrupts: {} }),
    close: async () => undefined,
  };
  const link = { checkpoints: { load: async () => head } } as unknown as RunLink;
  const given = toOrder('t', { command: { resume }, strictResume: true, ...order });
  const end = await refuseUnmatched(host).run(given, link, new AbortController().signal);
  assert.notEqual(end.kind, 'lost');
  return end as RunEnd;
}

const write = (taskId: string, channel: string, value: unknown): PendingWrite => ({
  ...{ taskId, channel, idx: 0, data: encode(value) },
});
const reasonOf = (end: RunEnd) => (end.kind === 'error' ? end.refusal : end.kind);

test('strict answers find the questions of every library line', async () => {
  const bare = write('a', '__interrupt__', { id: STRANGE, value: '?' });
  const list = write('b', '__interrupt__', [{ id: OTHER, value: '?' }]);
  const former = write('c', '__interrupt__', { interrupt_id: THIRD, value: '?' });
  const nameless = write('d', '__interrupt__', { value: '?', when: 'during' });
  const all = [bare, list, former, nameless];
  assert.deepEqual(reasonOf(await answered({ [STRANGE]: 1, [OTHER]: 1, [THIRD]: 1 }, all)), 'success');
  const pendingIds = [STRANGE, OTHER, THIRD];
  assert.deepEqual(reasonOf(await answered('x', all)), { reason: 'ambiguous', interruptIds: [], pendingIds });
  for (const one of all) assert.equal(reasonOf(await answered('x', [one])), 'success');
  const both = await answered('x', [nameless, { ...nameless, taskId: 'e' }]);
  assert.deepEqual(reasonOf(both), { reason: 'ambiguous', interruptIds: [], pendingIds: [] });
  // A task with a result was answered; with an error it was not.
  const done = [bare, list, write('a', 'seen', ['x']), write('b', '__error__', { message: 'm' })];
  assert.deepEqual(reasonOf(await answered({ [STRANGE]: 1 }, done)), {
    ...{ reason: 'not_pending', interruptIds: [STRANGE], pendingIds: [OTHER] },
  });
});

test('a strict value is refused where no question waits, unless its command does more than answer', async () => {
  const none = { reason: 'not_pending', interruptIds: [], pendingIds: [] };
  const done = [write('a', '__interrupt__', [{ id: STRANGE, value: '?' }]), write('a', 'seen', ['x'])];
  for (const writes of [[], done]) assert.deepEqual(reasonOf(await answered('x', writes)), none);
  for (const more of [{ goto: 'a' }, { update: {} }])
    assert.equal((await answered('x', [], { command: { resume: 'x', ...more } })).kind, 'success');
});

test('an answer that was late at its creation is refused wherever it is given', async () => {
  const waits = [write('a', '__interrupt__', [{ id: OTHER, value: '?' }])];
  const earlier = { config: { configurable: { checkpoint_id: 'earlier' }, metadata: {} } };
  for (const at of [{}, earlier])
    for (const [resume, lateAnswer, interruptIds] of [
      ['x', [], []],
      [{ [STRANGE]: 1, [OTHER]: 2 }, [STRANGE, OTHER], [STRANGE]],
      [{ [OTHER]: 2 }, [OTHER], [OTHER]],
      [{ nothing: 1 }, ['nothing'], ['nothing']],
    ] as const)
      assert.deepEqual(reasonOf(await answered(resume, waits, { ...at, lateAnswer })), {
        ...{ reason: 'not_pending', interruptIds, pendingIds: [OTHER] },
      });
  assert.equal((reasonOf(await answered({}, waits, { lateAnswer: [] })) as any).reason, 'empty_map');
});

test('strict answers are checked at the head of the thread alone', async () => {
  const at = (configurable: JsonObject) => ({ config: { configurable, metadata: {} } });
  for (const [configurable, isChecked] of [
    [{}, true],
    [{ checkpoint_id: '' }, true],
    [{ checkpoint_id: 'head', checkpoint_ns: '' }, true],
    [{ checkpoint_id: 'earlier' }, false],
    [{ checkpoint_id: 'inner', checkpoint_ns: 'sub:1' }, true],
    [{ checkpoint_ns: 'sub:1', checkpoint_id: 'inner', checkpoint_map: { '': 'earlier' } }, false],
    [{ checkpoint_ns: 'sub:1', checkpoint_id: 'inner', checkpoint_map: { '': 'head' } }, true],
  ] as const) {
    const end = await answered({ [STRANGE]: 1 }, [], at(configurable));
    assert.equal(end.kind, isChecked ? 'error' : 'success', JSON.stringify(configurable));
  }
  for (const order of [{ strictResume: false }, { resume: true }, { command: { update: {} } }])
    assert.equal((await answered({ [STRANGE]: 1 }, [], order)).kind, 'success');
});

test.run();

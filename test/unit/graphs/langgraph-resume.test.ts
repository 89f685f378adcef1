import * as assert from 'node:assert/strict';
import { interrupt, MessagesAnnotation, Send, StateGraph } from '@langchain/langgraph';
import type { Json, JsonObject } from '../../../src/kernel/json.ts';
import type { RunEnd } from '../../../src/graphs/port.ts';
import { suite } from '../../support/suite.ts';
import { contents, human, openBench } from './harness.ts';
import { START, Log, ask, chain, chat } from './langgraph-harness.ts';

const test = suite('langgraph resume');

test('given a second run, when it starts in a new process, then it goes on from the stored messages', async () => {
  const bench = openBench(chat());
  await bench.run({ input: { messages: [human('one')] } });
  const { of } = await bench.restart().run({ input: { messages: [human('two')] } });
  assert.deepEqual(contents(of('values').at(-1) ?? null), ['one', 'echo', 'two', 'echo']);
});

test('given interrupt(), when answered in a new process, then the node gets the answer', async () => {
  const bench = openBench(ask(['ok?']));
  const first = await bench.run({ input: START, streamModes: ['updates', 'values'] });
  const { next, interrupts } = first.end as RunEnd & { kind: 'success' };
  assert.deepEqual(next, ['ask']);
  const state = await bench.state();
  assert.deepEqual(Object.keys(interrupts), [state.tasks[0]?.id]);
  assert.deepEqual(Object.values(interrupts)[0], state.interrupts);
  assert.deepEqual(state.tasks[0]?.path, ['__pregel_pull', 'ask']);
  assert.deepEqual(first.of('updates').at(-1), { __interrupt__: state.interrupts });
  assert.deepEqual(first.of('values').at(-1), { log: [], __interrupt__: state.interrupts });
  const second = await bench.restart().run({ command: { resume: 'yes' } });
  assert.deepEqual(second.end, { kind: 'success', next: [], interrupts: {} });
  assert.deepEqual((await bench.state()).values, { log: [], answer: ['yes'] });
});

for (const answer of [false, 0, ''])
  test(`given interrupt(), when the answer is ${JSON.stringify(answer)}, then it is an answer like any other`, async () => {
    const bench = openBench(ask(['ok?', 'sure?']));
    await bench.run({ input: START });
    const { end } = await bench.run({ command: { resume: answer } });
    assert.deepEqual(end.kind === 'success' && end.next, ['ask']);
    assert.deepEqual((await bench.state()).next, ['ask']);
    await bench.run({ command: { resume: 'sure' } });
    assert.deepEqual((await bench.state()).values, { log: [], answer: [answer, 'sure'] });
  });

test('given interrupt(), when answers are addressed by id, then each finds its question', async () => {
  const bench = openBench(ask(['ok?']));
  await bench.run({ input: START });
  const id = (await bench.state()).interrupts[0]?.id ?? '';
  await bench.run({ command: { resume: { [id]: { approved: true } } } });
  assert.deepEqual((await bench.state()).values, { log: [], answer: [{ approved: true }] });
});

test('given a static breakpoint, when it is reached, then the last values frame says so and null goes on', async () => {
  const bench = openBench(chain(() => undefined));
  const first = await bench.run({ input: START, interruptBefore: ['b'] });
  assert.deepEqual(first.end, { kind: 'success', next: ['b'], interrupts: {} });
  assert.deepEqual(first.of('values').at(-1), { __interrupt__: [] });
  const second = await bench.run({ input: null });
  assert.deepEqual((second.of('values').at(-1) as JsonObject)['log'], ['a', 'b', 'c']);
});

test('given command.update and goto, when the run starts, then the state changes and the named nodes run', async () => {
  const bench = openBench(chain(() => undefined));
  await bench.run({ input: START });
  await bench.run({ command: { update: [['log', ['patched']]], goto: 'c' } });
  assert.deepEqual(((await bench.state()).values as JsonObject)['log'], ['a', 'b', 'c', 'patched', 'c']);
  await bench.run({ command: { goto: { node: 'c', input: { log: [] } } } });
  assert.deepEqual(((await bench.state()).values as JsonObject)['log'], ['a', 'b', 'c', 'patched', 'c', 'c']);
});

const nested = () => {
  const child = new StateGraph(MessagesAnnotation)
    .addNode('inner', () => ({
      messages: [{ type: 'ai', content: interrupt('child asks') as string }] as never,
    }))
    .addEdge('__start__', 'inner')
    .compile();
  return new StateGraph(MessagesAnnotation).addNode('outer', child).addEdge('__start__', 'outer').compile();
};

test('frames and state of an interrupted subgraph have its namespace', async () => {
  const bench = openBench(nested());
  const first = await bench.run({
    input: { messages: [human('hi', 'm1')] },
    streamModes: ['values', 'updates'],
    streamSubgraphs: true,
  });
  const names = first.frames.map((frame) => frame.event.replace(/:[0-9a-f-]{36}/, ':<id>'));
  assert.equal(names[0], 'values');
  assert.ok(names.includes('values|outer:<id>'));
  assert.ok(names.indexOf('values') < names.indexOf('values|outer:<id>'));
  const state = await bench.state({ subgraphs: true });
  assert.equal(state.tasks[0]?.checkpoint, null);
  assert.deepEqual(state.tasks[0]?.state?.next, ['inner']);
  const flat = await bench.state();
  const ns = flat.tasks[0]?.checkpoint?.ns ?? '';
  assert.match(ns, /^outer:/);
  assert.equal(flat.tasks[0]?.checkpoint?.id, null);
  assert.equal(flat.tasks[0]?.state, null);
  assert.deepEqual((await bench.state({ ns })).next, ['inner']);
  const second = await bench.restart().run({ command: { resume: 'from parent' } });
  assert.deepEqual(contents(second.of('values').at(-1) ?? null), ['hi', 'from parent']);
});

test('given parallel sends, when one of them asks, then the finished ones are kept', async () => {
  const ran: string[] = [];
  const graph = new StateGraph(Log)
    .addNode('split', () => ({}))
    .addNode('work', ({ answer }: { answer: Json }) => {
      ran.push(String(answer));
      return { log: [answer === 'ask' ? (interrupt('which?') as string) : String(answer)] };
    })
    .addEdge('__start__', 'split')
    .addConditionalEdges('split', () => ['x', 'ask', 'y'].map((answer) => new Send('work', { answer })))
    .compile();
  const bench = openBench(graph);
  const { end } = await bench.run({ input: START });
  assert.deepEqual(end.kind === 'success' && end.next, ['work']);
  await bench.restart().run({ command: { resume: 'z' } });
  assert.deepEqual(ran, ['x', 'ask', 'y', 'ask']);
  assert.deepEqual(((await bench.state()).values as JsonObject)['log'], ['x', 'z', 'y']);
});

test('the checkpoint of a run from a checkpoint id is its child and the new head', async () => {
  const bench = openBench(chain(() => undefined));
  await bench.run({ input: START });
  const third = bench.checkpoints.saved.find((each) => each.step === 1);
  await bench.run({
    input: { log: ['fork'] },
    config: { configurable: { checkpoint_id: third?.checkpointId ?? '' }, metadata: {} },
  });
  assert.deepEqual(((await bench.state()).values as JsonObject)['log'], ['a', 'fork', 'a', 'b', 'c']);
  const old = await bench.state({ checkpointId: third?.checkpointId ?? '' });
  assert.deepEqual((old.values as JsonObject)['log'], ['a']);
  assert.deepEqual(old.next, ['b']);
});

test.run();

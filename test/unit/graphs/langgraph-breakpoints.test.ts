import * as assert from 'node:assert/strict';
import { Send, StateGraph } from '@langchain/langgraph';
import type { RunOrder } from '../../../src/graphs/port.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { suite } from '../../support/suite.ts';
import { gate, openBench, type Bench } from './harness.ts';
import { chain, Log, START } from './langgraph-harness.ts';

const test = suite('langgraph breakpoints');

const RUN = { runId: '01990000-0000-7000-8000-000000000001', input: START };

/** Nodes a, b, c in a row, and where they have been; `dies`: where the process does, the first time. */
function openChain(dies?: string) {
  const visited: string[] = [];
  const bench = openBench(
    chain((node) => {
      if (visited.push(node) > 0 && node === dies && visited.filter((each) => each === node).length === 1)
        throw new Error('the process dies here');
    }),
  );
  return { visited, bench };
}

/** Before b, in each of three attempts at one run. */
async function pauseThrice(bench: Bench, places: Partial<RunOrder>) {
  const paused = { kind: 'success', next: ['b'], interrupts: {} };
  assert.deepEqual((await bench.run({ ...RUN, ...places })).end, paused);
  for (const attempt of [2, 3])
    assert.deepEqual((await bench.restart().run({ ...RUN, ...places, attempt, resume: true })).end, paused);
  return paused;
}

test('X5 a run at a breakpoint still holds there, once, after the process died', async () => {
  for (const durability of ['async', 'sync', 'exit'] as const) {
    const { visited, bench } = openChain();
    const paused = await pauseThrice(bench, { durability, interruptBefore: ['b'] });
    assert.deepEqual(visited, ['a']);
    const next = { interruptBefore: ['b'] };
    assert.deepEqual((await bench.restart().run(next)).end, { ...paused, next: [] });
    assert.deepEqual(visited, ['a', 'b', 'c']);
    for (const { body } of await bench.checkpoints.list({})) assert.doesNotMatch(body, /__held__/);
  }
});

test('X5 a run continued past a breakpoint continues to the next one after the process died', async () => {
  const { visited, bench } = openChain();
  const places = { interruptBefore: ['b', 'c'] };
  await bench.run({ ...RUN, ...places });
  const second = { ...places, runId: '01990000-0000-7000-8000-000000000002' };
  // It has not saved anything: what it was given is given again.
  assert.deepEqual((await bench.restart().run({ ...second, attempt: 2 })).end.kind, 'success');
  assert.deepEqual(visited, ['a', 'b']);
  const { end } = await bench.restart().run({ ...second, attempt: 3, resume: true });
  assert.deepEqual(end, { kind: 'success', next: ['c'], interrupts: {} });
  assert.deepEqual(visited, ['a', 'b']);
  await bench.restart().run(places);
  assert.deepEqual(visited, ['a', 'b', 'c']);
});

test('X5 a run whose process died before a breakpoint reaches it and can be continued', async () => {
  const { visited, bench } = openChain('b');
  const places = { interruptBefore: ['c'] };
  assert.equal((await bench.run({ ...RUN, ...places })).end.kind, 'error');
  const { end } = await bench.restart().run({ ...RUN, ...places, attempt: 2, resume: true });
  assert.deepEqual(end, { kind: 'success', next: ['c'], interrupts: {} });
  await bench.restart().run(places);
  assert.deepEqual(visited, ['a', 'b', 'b', 'c']);
});

test('X5 a run continued by a state edit does not hold at its breakpoint again after a crash', async () => {
  const { visited, bench } = openChain('b');
  const places = { interruptBefore: ['b'] };
  await bench.run({ ...RUN, ...places });
  const second = { ...places, runId: '01990000-0000-7000-8000-000000000002' };
  const command = { update: { answer: 'edited' } };
  assert.equal((await bench.restart().run({ ...second, command })).end.kind, 'error');
  await bench.restart().run({ ...second, command, attempt: 2, resume: true });
  assert.deepEqual(visited, ['a', 'b', 'b', 'c']);
});

test('X5 a subgraph at its breakpoint beside a working node still holds after the process died', async () => {
  const visited: string[] = [];
  const [working, ready] = [gate(), gate()];
  const visit = (node: string) => () => {
    visited.push(node);
    return { log: [node] };
  };
  const inner = new StateGraph(Log)
    .addNode('s1', visit('s1'))
    .addNode('s2', visit('s2'))
    .addEdge('__start__', 's1')
    .addEdge('s1', 's2')
    .compile({ interruptBefore: ['s2'] });
  let isBusy = true;
  const graph = new StateGraph(Log)
    .addNode('inner', inner)
    .addNode('slow', async (_, { signal }) => {
      working.open();
      if (isBusy)
        await Promise.race([ready.opened, new Promise((_, no) => signal?.addEventListener('abort', no))]);
      return { log: ['slow'] };
    })
    .addEdge('__start__', 'inner')
    .addEdge('__start__', 'slow')
    .compile();
  const bench = openBench(graph);
  const dying = new AbortController();
  const first = bench.run(RUN, { signal: dying.signal });
  await working.opened;
  const isHeld = async () =>
    (await bench.state({ subgraphs: true })).tasks.some(({ state }) => state?.next[0] === 's2');
  while (!(await isHeld())) await new Promise((resolve) => setImmediate(resolve));
  dying.abort('shutdown');
  assert.equal((await first).end.kind, 'stopped');
  assert.deepEqual(visited, ['s1']);

  isBusy = false;
  const { end } = await bench.restart().run({ ...RUN, attempt: 2, resume: true });
  assert.deepEqual(end.kind === 'success' && end.next, ['inner']);
  assert.deepEqual(visited, ['s1']);
  await bench.restart().run();
  assert.deepEqual(visited, ['s1', 's2']);
  const { values, next } = await bench.state();
  assert.deepEqual(
    [[...((values as JsonObject)['log'] as string[])].sort(), next],
    [['s1', 's2', 'slow'], []],
  );
});

test('X5 a run at a breakpoint behind a node still holds there, once, after the process died', async () => {
  for (const durability of ['async', 'sync', 'exit'] as const) {
    const { visited, bench } = openChain();
    const paused = await pauseThrice(bench, { durability, interruptAfter: ['a'] });
    assert.deepEqual(visited, ['a']);
    const next = { interruptAfter: ['a', 'b'] };
    assert.deepEqual((await bench.restart().run(next)).end, { ...paused, next: ['c'] });
    await bench.restart().run();
    assert.deepEqual(visited, ['a', 'b', 'c']);
  }
});

test('X5 breakpoints behind sent nodes, behind all nodes or of the graph hold in a repeated run', async () => {
  const visited: string[] = [];
  const visit = (node: string) => () => {
    visited.push(node);
    return { log: [node] };
  };
  const graph = new StateGraph(Log)
    .addNode('worker', visit('worker'))
    .addNode('end', visit('end'))
    .addConditionalEdges('__start__', () => [new Send('worker', {}), new Send('worker', {})])
    .addEdge('worker', 'end');
  const ways = [
    [graph.compile(), { interruptAfter: ['worker'] }],
    [graph.compile(), { interruptAfter: '*' }],
    [graph.compile({ interruptAfter: ['worker'] }), {}],
  ] as const;
  for (const [compiled, places] of ways) {
    visited.length = 0;
    const bench = openBench(compiled);
    const paused = { kind: 'success', next: ['end'], interrupts: {} };
    assert.deepEqual((await bench.run({ ...RUN, ...places })).end, paused);
    const again = { ...RUN, ...places, attempt: 2, resume: true };
    assert.deepEqual((await bench.restart().run(again)).end, paused);
    assert.deepEqual(visited, ['worker', 'worker']);
  }
});

test('X5 a run whose process died before a breakpoint behind a node holds there and not before', async () => {
  const { visited, bench } = openChain('b');
  const places = { interruptAfter: ['b'] };
  assert.equal((await bench.run({ ...RUN, ...places })).end.kind, 'error');
  const { end } = await bench.restart().run({ ...RUN, ...places, attempt: 2, resume: true });
  assert.deepEqual(end, { kind: 'success', next: ['c'], interrupts: {} });
  assert.deepEqual(visited, ['a', 'b', 'b']);
});

for (const durability of ['async', 'sync', 'exit'] as const) {
  test(`X5 a breakpoint of an earlier run's node does not hold a run that passes it by (${durability})`, async () => {
    const visited: string[] = [];
    const visit = (node: string) => () => {
      if (visited.push(node) === 2) throw new Error('the process dies here');
      return { log: [node] };
    };
    const graph = new StateGraph(Log)
      .addNode('a', visit('a'))
      .addNode('b', visit('b'))
      .addNode('c', visit('c'))
      .addEdge('__start__', 'a')
      .addConditionalEdges('a', ({ answer }) => String(answer), ['b', 'c'])
      .addEdge('b', 'c')
      .compile();
    const bench = openBench(graph);
    await bench.run({ durability, input: { answer: 'b' }, interruptBefore: ['b'] });
    visited.length = 0;
    const run = { ...RUN, durability, input: { answer: 'c' }, interruptAfter: ['b'] };
    assert.equal((await bench.run(run)).end.kind, 'error');
    const { end } = await bench.restart().run({ ...run, attempt: 2, resume: true });
    assert.deepEqual(end, { kind: 'success', next: [], interrupts: {} });
    assert.deepEqual(visited, ['a', 'c', 'c']);
  });

  test(`X5 a breakpoint behind nodes sent before as well holds in a repeated run (${durability})`, async () => {
    const visited: string[] = [];
    const visit = (node: string) => () => {
      visited.push(node);
      return { log: [node] };
    };
    const graph = new StateGraph(Log)
      .addNode('worker', visit('worker'))
      .addNode('end', visit('end'))
      .addConditionalEdges('__start__', () => [new Send('worker', {}), new Send('worker', {})])
      .addEdge('worker', 'end')
      .compile();
    const bench = openBench(graph);
    await bench.run({ durability, input: START });
    const run = { ...RUN, durability, interruptAfter: ['worker'] };
    const paused = { kind: 'success', next: ['end'], interrupts: {} };
    assert.deepEqual((await bench.run(run)).end, paused);
    assert.deepEqual((await bench.restart().run({ ...run, attempt: 2, resume: true })).end, paused);
    assert.deepEqual(visited, ['worker', 'worker', 'end', 'worker', 'worker']);
  });
}

test.run();

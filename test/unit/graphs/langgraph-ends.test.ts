import * as assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Annotation, StateGraph } from '@langchain/langgraph';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { userPlaceOf } from '../../../src/kernel/stack.ts';
import { suite } from '../../support/suite.ts';
import { gate, openBench } from './harness.ts';
import { START, Log, chain } from './langgraph-harness.ts';

const test = suite('langgraph ends');

test('a failed run names the node in its subgraph, the step, and the line that threw', async () => {
  const inner = new StateGraph(Log)
    .addNode('fetch', () => {
      throw new Error('no luck', { cause: new RangeError('offline') });
    })
    .addEdge('__start__', 'fetch')
    .compile();
  const outer = new StateGraph(Log)
    .addNode('begin', () => ({ log: ['begin'] }))
    .addNode('agent', inner)
    .addNode('beside', () => ({ log: ['beside'] }))
    .addEdge('__start__', 'begin')
    .addEdge('begin', 'agent')
    .addEdge('begin', 'beside')
    .compile();
  const { origin } = await openBench(outer).run({ input: START });
  assert.deepEqual([origin?.node, origin?.step], ['agent|fetch', 2]);
  assert.deepEqual(userPlaceOf(origin?.stack ?? '')?.file, import.meta.filename);
  assert.match(origin?.stack ?? '', /^Error: no luck\n[^]*\nCaused by: RangeError: offline\n/);
});

test('a run in which parallel nodes fail at once names the first, and the errors of all', async () => {
  const graph = new StateGraph(Log)
    .addNode('left', () => {
      throw new Error('left is wrong');
    })
    .addNode('right', () => {
      throw new RangeError('right is wrong');
    })
    .addEdge('__start__', 'left')
    .addEdge('__start__', 'right')
    .compile();
  const { origin } = await openBench(graph).run({ input: START });
  assert.deepEqual([origin?.node, origin?.step], ['left', 1]);
  assert.match(origin?.stack ?? '', /Caused by: Error: left is wrong\n[^]*Caused by: RangeError: right/);
});

test('given a node that throws what is no error, when the run ends, then the end is an error all the same', async () => {
  const failing = (thrown: unknown) =>
    openBench(chain(() => Promise.reject(thrown as Error))).run({ input: START });
  assert.deepEqual((await failing({ code: 7 })).end, {
    kind: 'error',
    error: 'Error',
    message: '{"code":7}',
  });
  const text = await failing('plain text');
  assert.deepEqual(text.end, { kind: 'error', error: 'Error', message: 'plain text' });
  // A string has no stack, so the place is that of the node's function.
  assert.equal(text.origin?.node, 'a');
  assert.match(text.origin?.stack ?? '', /^The node "a"\n {4}at a \(.*langgraph-harness\.ts:\d+:\d+\)$/);
  assert.equal((await failing(null)).end.kind, 'error');
});

test('given a signal that is aborted already, when a run is ordered, then it stops before graph code runs', async () => {
  let visited = false;
  const bench = openBench(chain(() => (visited = true)));
  const { end } = await bench.run({ input: START }, { signal: AbortSignal.abort('shutdown') });
  assert.deepEqual(end, { kind: 'stopped' });
  assert.equal(visited, false);
});

test('a run that asks nothing of the item store has no timer that polls for it', async () => {
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const during: number[] = [];
  await openBench(chain(() => during.push(timers()))).run({ input: START });
  assert.deepEqual(during, [before, before, before]);
});

for (const durability of ['sync', 'async'] as const)
  test(`X5 an attempt after a crash behind a step does not repeat finished nodes (${durability})`, async () => {
    const visits: string[] = [];
    const bench = openBench(chain((node) => visits.push(node)));
    bench.checkpoints.beforeSave = ({ step }) => {
      if (step === 2) throw new Error('the process dies here');
    };
    const runId = '01990000-0000-7000-8000-000000000001';
    const first = await bench.run({ runId, input: START, durability });
    assert.deepEqual(first.end, { kind: 'error', error: 'Error', message: 'the process dies here' });
    bench.checkpoints.beforeSave = () => undefined;
    const done = visits.filter((node) => node === 'a').length;
    const second = await bench.restart().run({ runId, input: START, attempt: 2, resume: true, durability });
    assert.equal(second.end.kind, 'success');
    assert.equal(visits.filter((node) => node === 'a').length, done);
    assert.equal(visits.filter((node) => node === 'b').length, 1);
    assert.deepEqual(((await bench.state()).values as JsonObject)['log'], ['a', 'b', 'c']);
  });

test('X2 given a store that refuses a write, when the step is over, then no further node starts', async () => {
  const visits: string[] = [];
  const bench = openBench(chain((node) => visits.push(node)));
  class FencedOut extends Error {}
  bench.checkpoints.beforeSave = ({ step }) => {
    if (step === 1) throw new FencedOut('the lease is stale');
  };
  const { end } = await bench.run({ input: START, durability: 'sync' });
  assert.deepEqual(end, { kind: 'error', error: 'FencedOut', message: 'the lease is stale' });
  assert.deepEqual(visits, ['a']);
});

test('X2 given a server that refuses frames, when one is refused, then the attempt ends with that error', async () => {
  const { end } = await openBench(chain(() => undefined)).run(
    { input: START },
    { emit: () => Promise.reject(new Error('stale attempt')) },
  );
  assert.deepEqual(end, { kind: 'error', error: 'Error', message: 'stale attempt' });
});

test('given a state that cannot be stored, when it is saved, then the run fails and says what', async () => {
  const graph = new StateGraph(Annotation.Root({ tool: Annotation<unknown>, ok: Annotation<number> }))
    .addNode('bad', () => ({ tool: { run: () => 1 } }))
    .addEdge('__start__', 'bad')
    .compile();
  const { end, origin } = await openBench(graph).run({ input: { ok: 1 } });
  const message = 'tool.run is a function and cannot be stored';
  assert.deepEqual(end, { kind: 'error', error: 'UnstorableValue', message });
  assert.equal(origin?.node, 'bad');
  const { file, line } = userPlaceOf(origin?.stack ?? '')!;
  assert.equal(file, import.meta.filename);
  assert.match(readFileSync(file, 'utf8').split('\n')[line - 1]!, /addNode\('bad'/);
});

test('concurrent threads of one graph do not see each other and leave the graph unchanged', async () => {
  const both = gate();
  let waiting = 0;
  const graph = chain(async (node) => {
    if (node !== 'a') return;
    waiting += 1;
    if (waiting === 2) both.open();
    await both.opened;
  });
  const [one, two] = [openBench(graph), openBench(graph)];
  await Promise.all([one.run({ input: { log: ['one'] } }), two.run({ input: { log: ['two'] } })]);
  assert.deepEqual(((await one.state()).values as JsonObject)['log'], ['one', 'a', 'b', 'c']);
  assert.deepEqual(((await two.state()).values as JsonObject)['log'], ['two', 'a', 'b', 'c']);
  assert.equal(graph.checkpointer, undefined);
});

test('X5 a resumed run applies its command and checkpoint id only once', async () => {
  const visits: string[] = [];
  const bench = openBench(chain((node) => visits.push(node)));
  await bench.run({ input: START });
  const start = bench.checkpoints.saved.find((each) => each.step === 1)?.checkpointId ?? '';
  bench.checkpoints.beforeSave = ({ metadata, step }) => {
    if (metadata['run_id'] === runId && step === 4) throw new Error('the process dies here');
  };
  const runId = '01990000-0000-7000-8000-000000000001';
  const order = {
    runId,
    command: { update: { log: ['patched'] }, goto: 'b' },
    config: { configurable: { checkpoint_id: start }, metadata: {} },
  };
  assert.equal((await bench.run(order)).end.kind, 'error');
  bench.checkpoints.beforeSave = () => undefined;
  const { end } = await bench.restart().run({ ...order, attempt: 2, resume: true });
  assert.equal(end.kind, 'success');
  const log = ((await bench.state()).values as JsonObject)['log'] as string[];
  assert.deepEqual(
    log.filter((entry) => entry === 'patched'),
    ['patched'],
  );
  assert.deepEqual(log.slice(0, 2), ['a', 'patched']);
  assert.equal(visits.filter((node) => node === 'b').length, 2);
});

test.run();

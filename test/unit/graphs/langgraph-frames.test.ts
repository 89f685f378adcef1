import * as assert from 'node:assert/strict';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { suite } from '../../support/suite.ts';
import { human, openBench } from './harness.ts';
import { START, Log, chain } from './langgraph-harness.ts';

const test = suite('langgraph frames and state');

test('P3 given a long thread, when a step changes one channel, then only that channel is stored again', async () => {
  const bench = openBench(chain(() => undefined));
  await bench.run({ input: { log: ['first'], answer: 'kept' } });
  const blobs = bench.checkpoints.saved.flatMap((each) => each.blobs.map((blob) => blob.channel));
  assert.equal(blobs.filter((channel) => channel === 'answer').length, 1);
  assert.deepEqual(bench.checkpoints.values(), { log: ['first', 'a', 'b', 'c'], answer: 'kept' });
});

test('a state channel with an unwritten default is among the values of a checkpoint', async () => {
  const graph = new StateGraph(Log)
    .addNode('set', () => ({ answer: 1 }))
    .addEdge('__start__', 'set')
    .compile();
  const bench = openBench(graph);
  await bench.run({ input: { answer: 0 } });
  const { values } = await bench.state();
  assert.deepEqual(values, { log: [], answer: 1 });
  assert.deepEqual(bench.checkpoints.values(), values);
  const stored = bench.checkpoints.saved.flatMap((each) => each.blobs.filter((b) => b.channel === 'log'));
  assert.equal(stored.length, 1);
});

for (const [thrown, text] of [
  [{ code: 7 }, 'Error'],
  [new TypeError('this'), 'this'],
] as const)
  test(`a node that throws ${JSON.stringify(thrown)} gives its task the error ${text}`, async () => {
    const bench = openBench(
      new StateGraph(MessagesAnnotation)
        .addNode('agent', () => {
          throw thrown;
        })
        .addEdge('__start__', 'agent')
        .compile(),
    );
    await bench.run({ input: { messages: [human('hi')] }, streamModes: ['values'] });
    assert.deepEqual(
      (await bench.state()).tasks.map(({ error }) => error),
      [text],
    );
  });

test('A4 given no user, when a client poses as one, then graph code sees nobody', async () => {
  let seen: JsonObject = {};
  const graph = new StateGraph(Log)
    .addNode('look', (_, config) => {
      seen = config.configurable as JsonObject;
      return {};
    })
    .addEdge('__start__', 'look')
    .compile();
  await openBench(graph).run({
    input: START,
    config: { configurable: { platform_auth_user: { identity: 'mallory' } }, metadata: {} },
  });
  assert.ok(Object.keys(seen).every((key) => !key.includes('_auth_')));
});

test.run();

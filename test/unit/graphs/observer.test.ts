import * as assert from 'node:assert/strict';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { AIMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { Annotation, Command, interrupt, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';
import type { RunOrder } from '../../../src/graphs/port.ts';
import { userPlaceOf } from '../../../src/kernel/stack.ts';
import { readTextFile } from '../../../src/kernel/text-file.ts';
import { suite } from '../../support/suite.ts';
import { openBench } from './harness.ts';

const test = suite('observer');

const Count = Annotation.Root({ count: Annotation<number> });

/** What a run of the graph is seen to do; each warning as `node step: message @ line of this file`. */
async function observe(graph: unknown, order: Partial<RunOrder> = {}) {
  const { end } = await openBench(graph).run({ input: { count: 1 }, observe: true, ...order });
  const { steps, modelCalls, warnings } = end.observed!;
  const lines = readTextFile(import.meta.filename).split('\n');
  return {
    ...{ end, steps, modelCalls },
    warnings: warnings.map(({ node, step, message, stack = '' }) => ({
      ...{ node, step, message },
      line: lines[(userPlaceOf(stack)?.line ?? 0) - 1]?.trim(),
    })),
  };
}

const calls =
  (...names: string[]) =>
  () => ({
    messages: [
      new AIMessage({
        content: '',
        tool_calls: names.map((name, id) => ({ name, args: {}, id: `call-${id}` })),
      }),
    ],
  });

test('a tool that throws is warned of with its line and its step; an unknown tool without', async () => {
  const add = tool(
    (): string => {
      throw new RangeError('too much');
    },
    { name: 'add', description: 'adds', schema: z.object({}) },
  );
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', calls('add', 'lost'))
    .addNode('tools', new ToolNode([add]))
    .addEdge('__start__', 'model')
    .addEdge('model', 'tools')
    .compile();
  const { warnings, steps } = await observe(graph, { input: { messages: [] } });
  assert.equal(steps, 2);
  assert.deepEqual(warnings, [
    {
      ...{ node: 'tools', step: 2, line: "throw new RangeError('too much');" },
      message: 'The tool "add" threw RangeError: too much; the node "tools" told only the model',
    },
    {
      ...{ node: 'tools', step: 2, line: undefined },
      message: warnings[1]!.message,
    },
  ]);
  assert.match(warnings[1]!.message, /^The tool "lost" failed: Error: Tool "lost" not found/);
});

test('members that the state does not have are warned of, in subgraphs, commands and inputs, too', async () => {
  const inner = new StateGraph(Count)
    .addNode('add', () => ({ cuont: 2 }) as never)
    .addEdge('__start__', 'add')
    .compile();
  const graph = new StateGraph(Count)
    .addNode('begin', () => new Command({ update: { total: 2, count: 2 } }))
    .addNode('inner', inner)
    .addEdge('__start__', 'begin')
    .addEdge('begin', 'inner')
    .compile();
  const { warnings } = await observe(graph, { input: { count: 1, Count: 2 } });
  const dropped = 'which the state does not have: dropped. The state has "count"';
  assert.deepEqual(
    warnings.map(({ node, step, message }) => [node, step, message]),
    [
      [undefined, undefined, `The run's input has "Count", ${dropped}`],
      ['begin', 1, `The node "begin" returned "total", ${dropped}`],
      ['inner|add', 1, `The node "inner|add" returned "cuont", ${dropped}`],
    ],
  );
  assert.equal(warnings[2]!.line, ".addNode('add', () => ({ cuont: 2 }) as never)");
});

test('a run without anything unusual has no warnings, and its steps and model calls are counted', async () => {
  const model = new FakeListChatModel({ responses: ['one', 'two'] });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode('ask', () => ({ messages: [new ToolMessage({ content: interrupt('?'), tool_call_id: '1' })] }))
    .addEdge('__start__', 'model')
    .addEdge('model', 'ask')
    .compile();
  const bench = openBench(graph);
  const run = async (order: Partial<RunOrder>) => (await bench.run({ ...order, observe: true })).end.observed;
  assert.deepEqual(await run({ input: { messages: [] } }), { steps: 2, modelCalls: 1, warnings: [] });
  assert.deepEqual(await run({ command: { resume: 'x' } }), { steps: 1, modelCalls: 0, warnings: [] });
  const { end } = await bench.run({ input: null });
  assert.equal(end.observed, undefined);
});

test.run();

import * as assert from 'node:assert/strict';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { suite } from '../../support/suite.ts';
import { human, openBench } from './harness.ts';
import { START, Log, chain, chat } from './langgraph-harness.ts';

const test = suite('langgraph frames and state');

test('given a chat graph, when it runs, then values are flat messages and equal what the store holds', async () => {
  const bench = openBench(chat());
  const { end, frames, of } = await bench.run({ input: { messages: [human('SF', 'initial-message')] } });
  assert.deepEqual(end, { kind: 'success', next: [], interrupts: {} });
  assert.deepEqual(new Set(frames.map((frame) => frame.event)), new Set(['values']));
  assert.deepEqual((of('values')[0] as JsonObject)['messages'], [
    { content: 'SF', additional_kwargs: {}, response_metadata: {}, type: 'human', id: 'initial-message' },
  ]);
  const state = await bench.state();
  assert.deepEqual(state.values, of('values').at(-1));
  assert.deepEqual(bench.checkpoints.values(), state.values);
  assert.equal(((state.values as JsonObject)['messages'] as JsonObject[])[1]?.['type'], 'ai');
});

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

test('messages-tuple sends each chunk of a model once and not the final message again', async () => {
  const { of, frames } = await openBench(chat('hey')).run({
    input: { messages: [human('hi')] },
    streamModes: ['messages-tuple'],
    config: { configurable: {}, metadata: { mine: 1 } },
  });
  assert.ok(frames.every((frame) => frame.event === 'messages'));
  const chunks = of('messages') as [JsonObject, JsonObject][];
  assert.deepEqual(
    chunks.map(([chunk]) => chunk['content']),
    ['h', 'e', 'y'],
  );
  assert.deepEqual(new Set(chunks.map(([chunk]) => chunk['type'])), new Set(['AIMessageChunk']));
  assert.equal(chunks[0]?.[1]['langgraph_node'], 'agent');
  assert.equal(chunks[0]?.[1]['mine'], 1);
});

test('given updates and custom, when a node writes, then each frame carries the name of its mode', async () => {
  const graph = new StateGraph(Log)
    .addNode('work', (_, config) => {
      config.writer?.({ progress: 1 });
      return { log: ['done'] };
    })
    .addEdge('__start__', 'work')
    .compile();
  const { frames } = await openBench(graph).run({ input: START, streamModes: ['updates', 'custom'] });
  assert.deepEqual(frames, [
    { event: 'custom', data: { progress: 1 } },
    { event: 'updates', data: { work: { log: ['done'] } } },
  ]);
});

test('given events, when a graph runs, then run events come raw and the graph own chunks do not', async () => {
  const { frames, of } = await openBench(chat('hey')).run({
    input: { messages: [human('hi')] },
    streamModes: ['events', 'values'],
  });
  const names = (of('events') as JsonObject[]).map((event) => event['event']);
  assert.ok(!names.includes('on_chain_stream'));
  for (const name of ['on_chain_start', 'on_chat_model_stream', 'on_chain_end'])
    assert.ok(names.includes(name), name);
  assert.deepEqual(new Set(frames.map((frame) => frame.event)), new Set(['events', 'values']));
  const text = JSON.stringify(frames);
  assert.ok(!text.includes('"lc":1'));
});

test('given only events, when a graph runs, then no other frame is sent', async () => {
  const { frames } = await openBench(chat()).run({
    input: { messages: [human('hi')] },
    streamModes: ['events'],
  });
  assert.deepEqual(new Set(frames.map((frame) => frame.event)), new Set(['events']));
});

test('given messages of a subgraph, when streamed, then the frame has the namespace of its graph', async () => {
  const child = chat('yo');
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('outer', child)
    .addEdge('__start__', 'outer')
    .compile();
  const { frames } = await openBench(graph).run({
    input: { messages: [human('hi')] },
    streamModes: ['messages-tuple'],
    streamSubgraphs: true,
  });
  assert.ok(frames.length >= 2);
  for (const { event, data } of frames) {
    const [, metadata] = data as unknown as [unknown, { langgraph_checkpoint_ns: string }];
    assert.equal(event, `messages|${metadata.langgraph_checkpoint_ns.split('|')[0]}`);
  }
});

test('given a thread that never ran, when its state is read, then everything is there and empty', async () => {
  assert.deepEqual(await openBench(chat()).state(), {
    values: {},
    next: [],
    tasks: [],
    checkpoint: null,
    parentCheckpoint: null,
    createdAt: null,
    interrupts: [],
  });
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

test('A4 given an authenticated user, when the graph runs, then it sees the user and no output does', async () => {
  let seen: JsonObject = {};
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('agent', async ({ messages }, config) => {
      seen = config.configurable as JsonObject;
      const model = new FakeListChatModel({ responses: ['ok'] });
      return { messages: [await model.invoke(messages)] };
    })
    .addEdge('__start__', 'agent')
    .compile();
  const bench = openBench(graph);
  const user = { identity: 'alice-1', permissions: ['read'], token: 'secret-token' };
  const { frames } = await bench.run({
    input: { messages: [human('hi')] },
    streamModes: [
      ...(['values', 'updates', 'messages-tuple', 'custom', 'events'] as const),
      ...(['messages', 'debug', 'tasks', 'checkpoints', 'tools'] as const),
    ],
    user,
    config: {
      configurable: {
        platform_auth_user: { identity: 'mallory' },
        langgraph_auth_user_id: 'mallory',
        __pregel_resuming: true,
        'x-internal': 'header-secret',
        api_key: 'sk-secret',
        model: 'small',
      },
      metadata: { mine: 1 },
    },
  });
  for (const prefix of ['platform_auth', 'langgraph_auth']) {
    assert.deepEqual(seen[`${prefix}_user`], user);
    assert.equal(seen[`${prefix}_user_id`], 'alice-1');
    assert.deepEqual(seen[`${prefix}_permissions`], ['read']);
  }
  assert.equal(seen['api_key'], 'sk-secret');
  const shown = JSON.stringify([frames, await bench.state()]) + bench.checkpoints.text();
  for (const secret of ['alice-1', 'secret-token', 'mallory', 'header-secret', 'sk-secret', '_auth_user'])
    assert.ok(!shown.includes(secret), secret);
  const { metadata } = await bench.state();
  assert.equal(metadata?.['model'], 'small');
  assert.equal(metadata?.['mine'], 1);
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

test('given a checkpoint id that the thread lacks, when the state is read, then no checkpoint is claimed', async () => {
  const bench = openBench(chat());
  await bench.run({ input: { messages: [human('hi')] } });
  const state = await bench.state({ checkpointId: '1f000000-0000-6000-8000-000000000000' });
  assert.deepEqual([state.checkpoint, state.values, state.createdAt], [null, {}, null]);
});

test.run();

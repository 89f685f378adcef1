import * as assert from 'node:assert/strict';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { Annotation, interrupt, MessagesAnnotation, Send, StateGraph } from '@langchain/langgraph';
import type { Json, JsonObject } from '../../../src/kernel/json.ts';
import { suite } from '../../support/suite.ts';
import { contents, gate, human, openBench } from './harness.ts';

const test = suite('langgraph adapter');

const chat = (answer = 'echo') => {
  const model = new FakeListChatModel({ responses: [answer] });
  return new StateGraph(MessagesAnnotation)
    .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addEdge('__start__', 'agent')
    .compile();
};

const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
  answer: Annotation<Json>,
});

/** Nodes a, b, c in a row; `visit` may throw, wait, or ask. */
const chain = (visit: (node: string) => unknown) => {
  const step = (node: string) => async () => {
    await visit(node);
    return { log: [node] };
  };
  return new StateGraph(Log)
    .addNode('a', step('a'))
    .addNode('b', step('b'))
    .addNode('c', step('c'))
    .addEdge('__start__', 'a')
    .addEdge('a', 'b')
    .addEdge('b', 'c')
    .compile();
};

const ask = (questions: string[]) =>
  new StateGraph(Log)
    .addNode('ask', () => ({ answer: questions.map((question) => interrupt(question) as Json) }))
    .addEdge('__start__', 'ask')
    .compile();

const START: JsonObject = { log: [] };

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

test('given a second run, when it starts in a new process, then it goes on from the stored messages', async () => {
  const bench = openBench(chat());
  await bench.run({ input: { messages: [human('one')] } });
  const { of } = await bench.restart().run({ input: { messages: [human('two')] } });
  assert.deepEqual(contents(of('values').at(-1) ?? null), ['one', 'echo', 'two', 'echo']);
});

test('P3 given a long thread, when a step changes one channel, then only that channel is stored again', async () => {
  const bench = openBench(chain(() => undefined));
  await bench.run({ input: { log: ['first'], answer: 'kept' } });
  const blobs = bench.checkpoints.saved.flatMap((each) => each.blobs.map((blob) => blob.channel));
  assert.equal(blobs.filter((channel) => channel === 'answer').length, 1);
  assert.deepEqual(bench.checkpoints.values(), { log: ['first', 'a', 'b', 'c'], answer: 'kept' });
});

test('given a state channel with a default that nothing wrote, when values are picked from blobs, then it is there', async () => {
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

test('given messages-tuple, when a model streams, then chunks arrive once and the final message is not repeated', async () => {
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

test('given interrupt(), when answered in a new process, then the node gets the answer', async () => {
  const bench = openBench(ask(['ok?']));
  const first = await bench.run({ input: START, streamModes: ['updates', 'values'] });
  assert.equal(first.end.kind, 'success');
  const { next, interrupts } = first.end as { next: string[]; interrupts: Record<string, JsonObject[]> };
  assert.deepEqual(next, ['ask']);
  const state = await bench.state();
  assert.deepEqual(Object.keys(interrupts), [state.tasks[0]?.id]);
  assert.deepEqual(Object.values(interrupts)[0], state.interrupts);
  assert.deepEqual(state.tasks[0]?.path, ['__pregel_pull', 'ask']);
  assert.deepEqual(first.of('updates').at(-1), { __interrupt__: state.interrupts });
  assert.deepEqual(first.of('values').at(-1), { __interrupt__: state.interrupts });
  const second = await bench.restart().run({ command: { resume: 'yes' } });
  assert.deepEqual(second.end, { kind: 'success', next: [], interrupts: {} });
  assert.deepEqual((await bench.state()).values, { log: [], answer: ['yes'] });
});

for (const answer of [false, 0, ''])
  test(`given interrupt(), when the answer is ${JSON.stringify(answer)}, then it is an answer like any other`, async () => {
    const bench = openBench(ask(['ok?', 'sure?']));
    await bench.run({ input: START });
    await bench.run({ command: { resume: answer } });
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

test('given a node that throws, when the run ends, then the end names the class and the state names the error', async () => {
  class CustomError extends Error {}
  const bench = openBench(
    chain((node) => {
      if (node === 'b') throw new CustomError('no luck');
    }),
  );
  const { end } = await bench.run({ input: START });
  assert.deepEqual(end, { kind: 'error', error: 'CustomError', message: 'no luck' });
  const state = await bench.state();
  assert.equal(state.tasks[0]?.error, 'no luck');
  assert.deepEqual(state.next, ['b']);
});

for (const [name, thrown, message] of [
  ['a text', 'plain text', 'plain text'],
  ['an object', { code: 7 }, '{"code":7}'],
] as const)
  test(`given a node that throws ${name}, when the run ends, then the end is an error all the same`, async () => {
    const { end } = await openBench(chain(() => Promise.reject(thrown as unknown as Error))).run({
      input: START,
    });
    assert.deepEqual(end, { kind: 'error', error: 'Error', message });
  });

test('given a recursion limit, when it is exceeded, then the error has the name that clients know', async () => {
  const loop = new StateGraph(Log).addNode('again', () => ({ log: ['x'] }));
  const graph = loop.addEdge('__start__', 'again').addEdge('again', 'again').compile();
  const { end } = await openBench(graph).run({
    input: START,
    config: { configurable: {}, metadata: {}, recursion_limit: 3 },
  });
  assert.equal(end.kind === 'error' && end.error, 'GraphRecursionError');
});

test('given a limit bound to the graph, when the run names none, then the bound one holds', async () => {
  const loop = new StateGraph(Log).addNode('again', ({ log }) => ({ log: [String(log.length)] }));
  const graph = loop
    .addEdge('__start__', 'again')
    .addConditionalEdges('again', ({ log }) => (log.length < 40 ? 'again' : '__end__'))
    .compile()
    .withConfig({ recursionLimit: 100 });
  const { end } = await openBench(graph).run({ input: START });
  assert.equal(end.kind, 'success');
});

test('X3 given a node that ignores its signal, when the run is aborted, then it stops at once and saves nothing later', async () => {
  const running = gate();
  const released = gate();
  const finished = gate();
  const bench = openBench(
    chain(async (node) => {
      if (node !== 'b') return;
      running.open();
      await released.opened;
      finished.open();
    }),
  );
  const stop = new AbortController();
  const frames: unknown[] = [];
  const run = bench.run(
    { input: START },
    { signal: stop.signal, emit: async (batch) => void frames.push(...batch) },
  );
  await running.opened;
  stop.abort('interrupt');
  assert.deepEqual((await run).end, { kind: 'stopped' });
  const before = [bench.checkpoints.saved.length, bench.checkpoints.writes.length, frames.length];
  released.open();
  await finished.opened;
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([bench.checkpoints.saved.length, bench.checkpoints.writes.length, frames.length], before);
  assert.deepEqual((await bench.state()).next, ['b']);
});

test('given a signal that is aborted already, when a run is ordered, then it stops before graph code runs', async () => {
  let visited = false;
  const bench = openBench(chain(() => (visited = true)));
  const { end } = await bench.run({ input: START }, { signal: AbortSignal.abort('shutdown') });
  assert.deepEqual(end, { kind: 'stopped' });
  assert.equal(visited, false);
});

for (const durability of ['sync', 'async'] as const)
  test(`X5 given a crash after a step (${durability}), when the next attempt resumes, then finished nodes do not run again`, async () => {
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
  const { end } = await openBench(graph).run({ input: { ok: 1 } });
  assert.equal(end.kind, 'error');
  assert.match((end as { message: string }).message, /run is a function/);
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

test('given a subgraph that asks, when streamed with subgraphs, then its frames and its state carry its namespace', async () => {
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

test('given messages of a subgraph, when streamed, then the frame names the graph that the node is part of', async () => {
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
  for (const { event } of frames) assert.match(event, /^messages(\|outer:[0-9a-f-]{36})?$/);
  assert.match(frames[0]?.event ?? '', /^messages\|outer:/);
});

test('given one graph, when two threads run at once, then neither sees the other and the graph is left as it was', async () => {
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

test('given a checkpoint id, when a run starts from it, then the new checkpoint is its child and becomes the head', async () => {
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
    streamModes: ['values', 'updates', 'messages-tuple', 'custom', 'events'],
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

test.run();

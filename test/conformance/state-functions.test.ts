/** Updates of the state of plain functions: the same routes, the same words. */
import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, newThread, say, textsOf } from './scene.ts';

const test = suite('conformance: states of plain functions');
const STATES = config('platform.states.json');

const update = async (s: TestServer, threadId: string, values: object | null, asNode?: string) => {
  await s.client.threads.updateState(threadId, {
    values: values as Record<string, unknown>,
    ...(asNode !== undefined && { asNode }),
  });
  return s.client.threads.getState(threadId);
};

test('given a function that is done, when its state is updated as nobody or as the function, then values merge and nothing is left to do', () =>
  withServer({ config: STATES }, async (s) => {
    for (const asNode of [undefined, 'echo', '__end__']) {
      const threadId = await newThread(s);
      await s.client.runs.wait(threadId, 'echo', { input: { ...say('hi'), kept: 1 } });
      const before = await s.client.threads.getState(threadId);
      const { messages } = before.values as { messages: { id: string }[] };
      const after = await update(
        s,
        threadId,
        { messages: [{ ...messages[1], content: 'changed' }, 'new'], more: [2] },
        asNode,
      );
      assert.deepEqual(textsOf(after.values), ['hi', 'changed', 'new']);
      const { kept, more } = after.values as Record<string, unknown>;
      assert.deepEqual([kept, more, after.next, after.tasks], [1, [2], [], []]);
      assert.deepEqual(after.parent_checkpoint, before.checkpoint);
      const { source, step } = after.metadata as { source: string; step: number };
      assert.deepEqual([source, step], ['update', (before.metadata as { step: number }).step + 1]);
      const values = await s.client.runs.wait(threadId, 'echo', { input: say('more') });
      assert.deepEqual(textsOf(values).slice(-1), ['echo: more']);
    }
  }));

test('given a function that asked, when its state is updated as nobody, then the question stays and the answer finds the change', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'survey', { input: { topic: 'cats' } });
    await s.client.runs.wait(threadId, 'survey', { command: { resume: 'Ann' } });
    const before = await s.client.threads.get(threadId);
    assert.deepEqual(Object.keys(before.interrupts!).length, 1);
    await update(s, threadId, { topic: 'dogs' });
    const state = await update(s, threadId, { extra: true });
    const thread = await s.client.threads.get(threadId);
    assert.deepEqual([thread.status, thread.interrupts], ['interrupted', before.interrupts]);
    assert.deepEqual(state.next, ['survey']);
    assert.deepEqual({ [state.tasks[0]!.id]: state.tasks[0]!.interrupts }, before.interrupts);
    const [id] = Object.values(before.interrupts!)[0]!.map((waiting) => waiting.id!);
    await s.restart();
    const values = await s.client.runs.wait(threadId, 'survey', { command: { resume: { [id!]: 41 } } });
    assert.deepEqual(values, {
      topic: 'dogs',
      extra: true,
      step: 'asking',
      name: 'Ann',
      age: 41,
      saw: { topic: 'dogs', extra: true },
    });
  }));

test('given a function that asked, when its state is updated as the function, then the question is void', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'survey', { input: {} });
    const state = await update(s, threadId, { name: 'nobody' }, 'survey');
    assert.deepEqual([state.next, state.tasks], [[], []]);
    const thread = await s.client.threads.get(threadId);
    assert.deepEqual([thread.status, thread.interrupts], ['idle', {}]);
    const values = await s.client.runs.wait(threadId, 'survey', { command: { resume: 'late' } });
    assert.deepEqual(values, { step: 'asking', name: 'nobody' });
  }));

test('given a function, when its state is updated as its input, then it is to be called and a run without input does so', () =>
  withServer({ config: STATES }, async (s) => {
    for (const asNode of ['__input__', '__start__']) {
      const threadId = await newThread(s, { metadata: { graph_id: 'echo' } });
      const state = await update(s, threadId, say('in'), asNode);
      assert.deepEqual([state.next, textsOf(state.values)], [['echo'], ['in']]);
      const values = await s.client.runs.wait(threadId, 'echo', { input: null });
      assert.deepEqual(textsOf(values), ['in', 'echo: in']);
    }
  }));

test('given a past checkpoint of a function, when it is updated, then the thread goes on from there', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await newThread(s);
    for (const part of ['one', 'two']) await s.client.runs.wait(threadId, 'echo', { input: say(part) });
    const past = (await s.client.threads.getHistory(threadId)).at(-2)!;
    assert.deepEqual(textsOf(past.values), ['one', 'echo: one']);
    await s.client.threads.updateState(threadId, { values: say('other'), checkpoint: past.checkpoint });
    const state = await s.client.threads.getState(threadId);
    assert.deepEqual(state.parent_checkpoint, past.checkpoint);
    const values = await s.client.runs.wait(threadId, 'echo', { input: say('go') });
    assert.deepEqual(textsOf(values), ['one', 'echo: one', 'other', 'go', 'echo: go']);
  }));

for (const input of [{ __root__: 'x' }, { __end__: null }, { __root__: 1, other: 2 }, { '': 1 }])
  test(`given the input ${JSON.stringify(input)}, when a plain function has run, then its values are the same wherever they are read`, () =>
    withServer({}, async (s) => {
      const threadId = await newThread(s);
      const values = await s.client.runs.wait(threadId, 'echo', { input });
      for (const [key, value] of Object.entries(input)) assert.equal(Reflect.get(values, key), value);
      assert.deepEqual((await s.client.threads.getState(threadId)).values, values);
      assert.deepEqual((await s.client.threads.get(threadId)).values, values);
      await s.client.threads.updateState(threadId, { values: input });
      assert.deepEqual((await s.client.threads.get(threadId)).values, values);
    }));

test.run();

/** Every form of a state update that the library takes, against the library itself, and the same of plain functions. */
import * as assert from 'node:assert/strict';
import { MemorySaver } from '@langchain/langgraph';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { chain } from '../fixtures/project/agent.ts';
import { config, newThread, say, textsOf } from './scene.ts';

const test = suite('conformance: forms of state updates');
const STATES = config('platform.states.json');

type Form = readonly [values: unknown, asNode?: string];
const visit = (...visited: string[]) => ({ visited });

/** `at` counts checkpoints from the oldest; without it the head is updated. */
const FORMS: readonly { readonly form: Form; readonly at?: number }[] = [
  ...[[visit('x')], [visit('x'), 'two'], [null], [null, 'two'], [null, '__end__']].map((form) => ({
    form: form as unknown as Form,
  })),
  { form: [visit('x'), '__input__'] },
  { form: [visit('x'), '__start__'] },
  { form: [null, '__copy__'] },
  { form: [visit('ignored'), '__copy__'] },
  { form: [[[visit('x'), 'five']], '__copy__'] },
  ...[0, 3, 6].flatMap((at) => [
    { at, form: [null, '__copy__'] as Form },
    { at, form: [null, '__end__'] as Form },
    { at, form: [[[visit('edited'), at === 0 ? '__start__' : 'two']], '__copy__'] as Form },
    {
      at,
      form: [
        [
          [visit('a'), 'two'],
          [visit('b'), 'three'],
        ],
        '__copy__',
      ] as Form,
    },
  ]),
];

/** What a history shows of a state, without ids and times. */
const shown = ({ values, next, metadata, created, checkpoint, parent }: any, ids: string[]) => ({
  ...{ values, next, source: metadata.source, step: metadata.step, created },
  ...{ at: ids.indexOf(checkpoint), parent: ids.indexOf(parent) },
});

async function ofLibrary(form: Form, at?: number) {
  const graph = chain.compile({ checkpointer: new MemorySaver() });
  const thread = { configurable: { thread_id: 't' } };
  await graph.invoke({ visited: [] }, thread);
  const before = [];
  for await (const state of graph.getStateHistory(thread)) before.unshift(state);
  const place = at === undefined ? thread : before[at]!.config;
  const failed = await graph.updateState(place, form[0] as any, form[1]).then(
    () => false,
    () => true,
  );
  const states = [];
  for await (const state of graph.getStateHistory(thread)) states.push(state);
  const idOf = (config: any) => config?.configurable.checkpoint_id as string;
  const ids = states.map(({ config }) => idOf(config)).sort();
  const shapes = states.map((state) =>
    shown({ ...state, checkpoint: idOf(state.config), parent: idOf(state.parentConfig) }, ids),
  );
  return { failed, shapes, end: failed ? undefined : await graph.invoke(null, thread) };
}

async function here(s: TestServer, form: Form, at?: number) {
  const threadId = await newThread(s);
  await s.client.runs.wait(threadId, 'chain', { input: visit() });
  const before = (await s.client.threads.getHistory(threadId, { limit: 100 })).reverse();
  const { status } = await s.request('POST', `/threads/${threadId}/state`, {
    ...{ values: form[0], as_node: form[1] ?? null },
    ...(at !== undefined && { checkpoint: before[at]!.checkpoint }),
  } as any);
  const states = await s.client.threads.getHistory(threadId, { limit: 100 });
  const ids = states.map(({ checkpoint }) => checkpoint.checkpoint_id!).sort();
  const shapes = states.map((state) =>
    shown(
      {
        ...{ ...state, checkpoint: state.checkpoint.checkpoint_id },
        parent: state.parent_checkpoint?.checkpoint_id,
      },
      ids,
    ),
  );
  const head = await s.client.threads.getState(threadId);
  assert.deepEqual([head.checkpoint, head.next], [states[0]!.checkpoint, states[0]!.next]);
  assert.deepEqual((await s.client.threads.get(threadId)).values, head.values);
  const failed = status !== 200;
  return {
    failed,
    shapes,
    end: failed ? undefined : await s.client.runs.wait(threadId, 'chain', { input: null }),
  };
}

test('client.threads.updateState: every form leaves the checkpoints that the library leaves, and runs go on alike', () =>
  withServer({ config: STATES }, async (s) => {
    for (const { form, at } of FORMS)
      assert.deepEqual(await here(s, form, at), await ofLibrary(form, at), JSON.stringify([form, at]));
  }));

test('supersteps take the same forms: a copy, a copy with edits, an update as no node', () =>
  withServer({ config: STATES }, async (s) => {
    for (const [graph, node] of [
      ['chain', 'one'],
      ['echo', 'echo'],
    ] as const) {
      const supersteps = [
        { updates: [{ as_node: '__start__', values: { visited: ['in'] } }] },
        { updates: [{ as_node: '__copy__', values: [[{ visited: ['edited'] }, node]] }] },
        { updates: [{ as_node: '__copy__' }] },
        { updates: [{ values: { visited: ['last'] } }] },
      ];
      const { json } = await s.request('POST', '/threads', { metadata: { graph_id: graph }, supersteps });
      const history = await s.client.threads.getHistory<{ visited: string[] }>(json.thread_id);
      const sources = history.map(({ metadata }: any) => metadata.source);
      assert.deepEqual(sources, ['update', 'fork', 'update', 'fork', graph === 'chain' ? 'update' : 'input']);
      assert.equal(history[0]!.values.visited.at(-1), 'last');
      const both = [{ as_node: '__copy__' }, { as_node: '__copy__' }];
      const refused = await s.request('POST', '/threads', {
        ...{ metadata: { graph_id: graph }, supersteps: [supersteps[0]!, { updates: both }] },
      });
      assert.equal(refused.status, 400);
      const copiesNone = await s.request('POST', '/threads', {
        ...{ metadata: { graph_id: graph }, supersteps: [supersteps[2]!] },
      });
      assert.equal(copiesNone.status, 400);
    }
  }));

test('client.threads.updateState: a copied checkpoint of a plain function can be edited and run again', () =>
  withServer({ config: STATES }, async (s) => {
    // given
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'echo', { input: say('hi') });
    const [end, start] = (await s.client.threads.getHistory(threadId)) as any;
    const update = async (checkpoint: any, values: unknown) => {
      await s.client.threads.updateState(threadId, { values, asNode: '__copy__', checkpoint });
      return s.client.threads.getState(threadId);
    };
    // when: the answer is edited
    const answer = { type: 'ai', content: 'edited', id: 'answer' };
    const edited = await update(start.checkpoint, [[{ messages: [answer] }, 'echo']]);
    // then
    assert.deepEqual([textsOf(edited.values), edited.next], [['hi', 'edited'], []]);
    const [, copy] = await s.client.threads.getHistory(threadId);
    assert.deepEqual([copy!.parent_checkpoint, copy!.next], [start.parent_checkpoint, ['echo']]);
    // when: the input is edited
    const input = [{ ...start.values.messages[0], content: 'ho' }];
    const begun = await update(start.checkpoint, [[{ messages: input }, '__start__']]);
    assert.deepEqual([textsOf(begun.values), begun.next], [['ho'], ['echo']]);
    const values = await s.client.runs.wait(threadId, 'echo', { input: null });
    assert.deepEqual(textsOf(values), ['ho', 'echo: ho']);
    // when: an ended call is copied
    const ended = await update(end.checkpoint, null);
    assert.deepEqual([ended.values, ended.next, ended.parent_checkpoint], [end.values, [], start.checkpoint]);
    await s.restart();
    assert.deepEqual(await s.client.threads.getState(threadId), ended);
  }));

test('the copy of a question of a plain function is to be called anew, and its question is void', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'asks', { input: say('hi') });
    await s.client.threads.updateState(threadId, { values: null, asNode: '__copy__' });
    const { next, interrupts, tasks } = (await s.client.threads.getState(threadId)) as any;
    assert.deepEqual([next, interrupts, tasks[0].interrupts], [['asks'], [], []]);
    assert.deepEqual((await s.client.threads.get(threadId)).interrupts, {});
    const again: any = await s.client.runs.wait(threadId, 'asks', { input: null });
    assert.equal(again.__interrupt__.length, 1);
  }));

test.run();

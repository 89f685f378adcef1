import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, MISSING, newThread, say, textsOf } from './scene.ts';

const test = suite('conformance: states of the past');
const STATES = config('platform.states.json');

/** Two runs of agent → tool → agent: ten checkpoints. */
async function twoRuns(s: TestServer): Promise<string> {
  const threadId = await newThread(s);
  for (const part of ['first', 'second'])
    await s.client.runs.wait(threadId, 'turns', { input: say(part), metadata: { part } });
  return threadId;
}

test('client.threads.getHistory: given two runs of a graph, when the history is read, then it has a state for each checkpoint, newest first', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await twoRuns(s);
    const history = await s.client.threads.getHistory(threadId);
    assert.deepEqual(
      history.map(({ next }) => next.join()),
      ['', 'agent', 'tool', 'agent', '__start__', '', 'agent', 'tool', 'agent', '__start__'],
    );
    assert.deepEqual(
      history.map(({ values }) => textsOf(values).length),
      [8, 7, 6, 5, 4, 4, 3, 2, 1, 0],
    );
    assert.deepEqual(history[0], await s.client.threads.getState(threadId));
    for (const [index, { checkpoint, parent_checkpoint: parent, created_at }] of history.entries()) {
      assert.ok(!Number.isNaN(Date.parse(created_at!)));
      assert.deepEqual(parent, history[index + 1]?.checkpoint ?? null);
      assert.equal(checkpoint.checkpoint_ns, '');
    }
    const steps = history.map(({ metadata }) => (metadata as { step: number }).step);
    assert.deepEqual(steps, [8, 7, 6, 5, 4, 3, 2, 1, 0, -1]);
  }));

test('given the metadata of a run, when the history is filtered by it, then the checkpoints of that run are left', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await twoRuns(s);
    const ofSecond = await s.client.threads.getHistory(threadId, { metadata: { part: 'second' } });
    assert.equal(ofSecond.length, 5);
    assert.equal(textsOf(ofSecond.at(-1)!.values).length, 4);
    const runs = await s.client.runs.list(threadId);
    for (const { run_id, metadata } of runs) {
      const own = await s.client.threads.getHistory(threadId, { metadata: { run_id } });
      assert.equal(own.length, 5);
      for (const { metadata: noted } of own) {
        const { part, thread_id, graph_id, assistant_id } = noted as Record<string, unknown>;
        assert.deepEqual(
          { part, thread_id, graph_id, assistant_id },
          {
            part: (metadata as Record<string, unknown>)['part'],
            thread_id: threadId,
            graph_id: 'turns',
            assistant_id: runs[0]!.assistant_id,
          },
        );
      }
    }
    assert.deepEqual(await s.client.threads.getHistory(threadId, { metadata: { part: 'third' } }), []);
  }));

test('given limits and a place to begin before, when the history is read, then each form of it gives the same page', () =>
  withServer({ config: STATES }, async (s) => {
    for (const graph of ['agent', 'echo']) {
      const threadId = await newThread(s);
      for (const part of ['1', '2', '3']) await s.client.runs.wait(threadId, graph, { input: say(part) });
      const path = `/threads/${threadId}/history`;
      const whole = (await s.request('POST', path, { limit: 1000 })).json;
      assert.ok(whole.length >= 6);
      const third = whole[2].checkpoint;
      const page = async (query: object) => (await s.request('POST', path, query)).json;
      for (const before of [third.checkpoint_id, third, { configurable: third }]) {
        assert.deepEqual(await page({ limit: 2, before }), whole.slice(3, 5));
        assert.deepEqual(await page({ limit: 1000, before }), whole.slice(3));
      }
      const id = String(third.checkpoint_id);
      assert.deepEqual((await s.request('GET', `${path}?limit=2&before=${id}`)).json, whole.slice(3, 5));
      assert.deepEqual(await page({}), whole.slice(0, 1));
      assert.deepEqual((await s.request('GET', path)).json, whole.slice(0, 10));
      for (const before of [null, {}, { configurable: {} }])
        assert.deepEqual(await page({ before }), whole.slice(0, 1));
      assert.deepEqual(await page({ limit: 5, before: MISSING }), []);
      assert.deepEqual(await page({ limit: 5, checkpoint: third }), [whole[2]]);
      assert.deepEqual(await page({ limit: 5, checkpoint: { checkpoint_id: MISSING } }), []);
      assert.deepEqual(
        (await s.request('GET', `${path}?metadata=${encodeURIComponent('{"step":0}')}`)).json.length,
        graph === 'agent' ? 1 : 1,
      );
    }
  }));

test('given a thread without runs or without a graph, when its history is read, then it is empty; a missing thread is 404', () =>
  withServer({ config: STATES }, async (s) => {
    for (const metadata of [{}, { graph_id: 'agent' }]) {
      const threadId = await newThread(s, { metadata });
      assert.deepEqual(await s.client.threads.getHistory(threadId), []);
      const answer = await s.request('GET', `/threads/${threadId}/history`);
      assert.deepEqual([answer.status, answer.json], [200, []]);
    }
    for (const method of ['GET', 'POST']) {
      const { status, json } = await s.request(method, `/threads/${MISSING}/history`);
      assert.deepEqual([status, json], [404, { detail: `Thread with ID ${MISSING} not found` }]);
    }
  }));

for (const graph of ['agent', 'chain', 'asks'])
  test(`client.threads.getState: given the history of ${graph}, when each of its checkpoints is asked for, then the state is that of the history`, () =>
    withServer({ config: STATES }, async (s) => {
      const threadId = await newThread(s);
      await s.client.runs.wait(threadId, graph, { input: graph === 'chain' ? {} : say('hi') });
      const history = await s.client.threads.getHistory(threadId, { limit: 100 });
      for (const state of history) {
        const { checkpoint } = state;
        const at = await s.client.threads.getState(threadId, checkpoint.checkpoint_id!);
        assert.deepEqual(at, state);
        assert.deepEqual(await s.client.threads.getState(threadId, checkpoint), state);
      }
      const path = `/threads/${threadId}/state`;
      const head = (await s.request('GET', path)).json;
      for (const body of [{}, { checkpoint: null }, { checkpoint: { thread_id: MISSING } }])
        assert.deepEqual((await s.request('POST', `${path}/checkpoint`, body)).json, head);
      const gone = { detail: `Checkpoint ${MISSING} not found` };
      assert.deepEqual((await s.request('GET', `${path}/${MISSING}`)).json, gone);
      const place = { checkpoint: { checkpoint_id: MISSING } };
      const { status, json } = await s.request('POST', `${path}/checkpoint`, place);
      assert.deepEqual([status, json], [404, gone]);
    }));

test('given a graph within a graph that stopped, when its own state is read, edited and followed, then all of it shows and the run goes on from it', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'weather', { input: say("what's the weather?") });
    const state = await s.client.threads.getState(threadId);
    assert.deepEqual(state.next, ['weather']);
    const [task] = state.tasks;
    assert.deepEqual(task, {
      id: task!.id,
      name: 'weather',
      path: ['__pregel_pull', 'weather'],
      error: null,
      interrupts: [],
      checkpoint: { thread_id: threadId, checkpoint_ns: `weather:${task!.id}` },
      state: null,
      result: null,
    });
    const place = task!.checkpoint!;
    const within = await s.client.threads.getState<{ city: string }>(threadId, place as never);
    assert.deepEqual([within.values.city, within.next], ['London', ['look']]);
    assert.equal(within.checkpoint.checkpoint_ns, place.checkpoint_ns);
    const deep = await s.client.threads.getState(threadId, undefined, { subgraphs: true });
    assert.equal(deep.tasks[0]!.checkpoint, null);
    // The state of a task has no ids of its own, and no list of questions when there are none.
    const { interrupts, checkpoint_id, parent_checkpoint_id, ...rest } = within as any;
    assert.deepEqual([interrupts, checkpoint_id], [[], rest.checkpoint.checkpoint_id]);
    assert.equal(parent_checkpoint_id, rest.parent_checkpoint.checkpoint_id);
    assert.deepEqual(deep.tasks[0]!.state, rest);

    await s.client.threads.updateState(threadId, { values: { city: 'Rome' }, checkpoint: place as never });
    const after = await s.client.threads.getState<{ city: string }>(threadId, place as never);
    assert.deepEqual([after.values.city, after.next], ['Rome', ['look']]);
    assert.deepEqual(after.parent_checkpoint, within.checkpoint);
    assert.deepEqual((await s.client.threads.getState(threadId)).checkpoint, state.checkpoint);
    assert.equal((await s.client.threads.get(threadId)).status, 'interrupted');

    const histories = async () => [
      (await s.client.threads.getHistory(threadId, { checkpoint: place as never })).map(({ next }) => next),
      (await s.client.threads.getHistory(threadId)).map(({ next }) => next),
    ];
    assert.deepEqual(await histories(), [
      [['look'], ['look'], ['plan'], ['__start__']],
      [['weather'], ['route'], ['__start__']],
    ]);
    await s.client.runs.wait(threadId, 'weather', { input: null });
    const { values } = await s.client.threads.getState(threadId);
    assert.deepEqual(textsOf(values), ["what's the weather?", "It's sunny in Rome!"]);
    assert.deepEqual(await histories(), [
      [[], ['look'], ['look'], ['plan'], ['__start__']],
      [[], ['weather'], ['route'], ['__start__']],
    ]);
    const id = within.checkpoint.checkpoint_id!;
    for (const checkpoint of [
      { ...place, checkpoint_id: id },
      { ...place, checkpoint_map: { [place.checkpoint_ns!]: id } },
    ]) {
      const body = { checkpoint };
      const { json } = await s.request('POST', `/threads/${threadId}/state/checkpoint`, body as any);
      assert.deepEqual([json.checkpoint.checkpoint_id, json.values.city], [id, 'London']);
    }
    const nowhere = { checkpoint: { checkpoint_ns: 'nobody:1' } };
    const { status, json } = await s.request('POST', `/threads/${threadId}/state/checkpoint`, nowhere);
    assert.deepEqual([status, json.values, json.checkpoint], [200, {}, null]);
  }));

test('given a thread that failed, when its history is read, then the task of its last state says why', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'breaks', { input: say('x'), raiseError: false });
    const [newest] = await s.client.threads.getHistory(threadId);
    assert.equal(newest!.tasks[0]!.error, 'the node broke');
    assert.deepEqual(newest, await s.client.threads.getState(threadId));
  }));

test.run();

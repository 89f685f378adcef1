import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { config, MORE, newThread, say, startGated, textsOf } from './scene.ts';

const test = suite('conformance: thread state');

/** The keys of a task, no more and no less. */
const TASK = ['id', 'name', 'path', 'error', 'interrupts', 'checkpoint', 'state', 'result'].sort();
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

test('given a thread that was never run, when its state is read, then it is empty and the answer 200', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s, { metadata: { graph_id: 'agent' } });
    for (const query of ['', '?subgraphs=true', '?subgraphs=false']) {
      const { status, json } = await s.request('GET', `/threads/${threadId}/state${query}`);
      assert.equal(status, 200);
      assert.deepEqual(json, {
        values: {},
        next: [],
        tasks: [],
        checkpoint: null,
        parent_checkpoint: null,
        checkpoint_id: null,
        parent_checkpoint_id: null,
        metadata: null,
        created_at: null,
        interrupts: [],
      });
    }
  }));

for (const graph of ['agent', 'echo'])
  test(`given a run of ${graph}, when the state is read, then it is the run's last checkpoint`, () =>
    withServer({}, async (s) => {
      const threadId = await newThread(s);
      const values = await s.client.runs.wait(threadId, graph, {
        input: say('hi'),
        metadata: { mine: 1 },
      });
      const state = await s.client.threads.getState(threadId);
      assert.deepEqual(state.values, values);
      assert.deepEqual([state.next, state.tasks], [[], []]);
      const { checkpoint, parent_checkpoint: parent, metadata } = state;
      for (const each of [checkpoint, parent]) {
        assert.deepEqual(Object.keys(each!).sort(), [
          'checkpoint_id',
          'checkpoint_map',
          'checkpoint_ns',
          'thread_id',
        ]);
        assert.deepEqual([each!.thread_id, each!.checkpoint_ns], [threadId, '']);
        assert.match(each!.checkpoint_id!, UUID);
      }
      assert.notEqual(checkpoint!.checkpoint_id, parent!.checkpoint_id);
      assert.ok(!Number.isNaN(Date.parse(state.created_at!)));
      const [run] = await s.client.runs.list(threadId);
      const { source, step, run_id: runId, thread_id: ofThread, mine } = metadata as Record<string, unknown>;
      assert.deepEqual(
        [source, typeof step, runId, ofThread, mine],
        ['loop', 'number', run!.run_id, threadId, 1],
      );
      const again = await s.client.threads.getState(threadId);
      assert.deepEqual(again, state);
      await s.restart();
      assert.deepEqual(await s.client.threads.getState(threadId), state);
    }));

for (const [graph, node, question] of [
  ['approve', 'ask', { question: 'Shall I?' }],
  ['asks', 'asks', { question: 'go on?' }],
] as const)
  test(`given ${graph} that asked, when the state is read, then task, interrupts and thread tell of one question`, () =>
    withServer({}, async (s) => {
      const threadId = await newThread(s);
      await s.client.runs.wait(threadId, graph, { input: say('?') });
      const { json: state } = await s.request('GET', `/threads/${threadId}/state`);
      assert.deepEqual(state.next, [node]);
      assert.equal(state.tasks.length, 1);
      const [task] = state.tasks;
      assert.deepEqual(Object.keys(task).sort(), TASK);
      assert.deepEqual(
        [task.name, task.error, task.checkpoint, task.state, task.result],
        [node, null, null, null, null],
      );
      assert.ok(Array.isArray(task.path));
      assert.equal(task.interrupts.length, 1);
      const [interrupt] = task.interrupts;
      assert.deepEqual(interrupt, { id: interrupt.id, value: question });
      assert.match(interrupt.id, /^[0-9a-f]{32}$/);
      assert.deepEqual(state.interrupts, task.interrupts);
      assert.deepEqual(textsOf(state.values), ['?']);

      const thread = await s.client.threads.get(threadId);
      assert.equal(thread.status, 'interrupted');
      assert.deepEqual(thread.interrupts, { [task.id]: task.interrupts });

      await s.client.runs.wait(threadId, graph, { command: { resume: 'yes' } });
      const after = await s.client.threads.get(threadId);
      assert.deepEqual([after.status, after.interrupts], ['idle', {}]);
      const { next, tasks } = await s.client.threads.getState(threadId);
      assert.deepEqual([next, tasks], [[], []]);
    }));

test('given a static breakpoint, when the state is read, then the next node is a task without interrupts', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'chain', { input: {}, interruptBefore: ['two'] });
    const { json: state } = await s.request('GET', `/threads/${threadId}/state`);
    assert.deepEqual(state.next, ['two']);
    assert.deepEqual(Object.keys(state.tasks[0]).sort(), TASK);
    assert.deepEqual([state.tasks[0].name, state.tasks[0].interrupts, state.interrupts], ['two', [], []]);
    const thread = await s.client.threads.get(threadId);
    assert.equal(thread.status, 'interrupted');
  }));

test('given a subgraph that asked, when the state is read with and without subgraphs, then its state is inside or pointed to', () =>
  withServer({ config: MORE }, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'nested', { input: say('?') });
    const { json: flat } = await s.request('GET', `/threads/${threadId}/state`);
    const { json: deep } = await s.request('GET', `/threads/${threadId}/state?subgraphs=true`);
    assert.deepEqual(deep.tasks[0].state.interrupts, deep.tasks[0].interrupts);
    // A state within a task has no ids of its own beside its checkpoints, and no empty list of interrupts.
    assert.ok(!('checkpoint_id' in deep.tasks[0].state) && 'checkpoint_id' in deep);
    const breaks = await newThread(s);
    await s.client.runs.wait(breaks, 'nested', { input: say('?'), interruptBefore: ['child'] });
    const { json: before } = await s.request('GET', `/threads/${breaks}/state?subgraphs=true`);
    assert.ok(before.tasks.every(({ state: inner }: any) => !('interrupts' in (inner ?? {}))));
    const [pointing, holding] = [flat.tasks[0], deep.tasks[0]];
    assert.deepEqual(flat.next, ['child']);
    assert.deepEqual(Object.keys(pointing).sort(), TASK);
    assert.deepEqual(pointing.checkpoint, { thread_id: threadId, checkpoint_ns: `child:${pointing.id}` });
    assert.equal(pointing.state, null);
    assert.equal(holding.checkpoint, null);
    assert.deepEqual(holding.state.next, ['ask']);
    assert.equal(holding.state.checkpoint.checkpoint_ns, `child:${holding.id}`);
    assert.deepEqual(textsOf(holding.state.values), ['?']);
    assert.deepEqual(holding.state.tasks[0].interrupts, holding.interrupts);
    assert.deepEqual(flat.interrupts, pointing.interrupts);
    assert.deepEqual(
      flat.interrupts.map(({ value }: { value: unknown }) => value),
      ['a question from within'],
    );
    const thread = await s.client.threads.get(threadId);
    assert.deepEqual(thread.interrupts, { [pointing.id]: pointing.interrupts });
    const values = await s.client.runs.wait(threadId, 'nested', { command: { resume: 'fine' } });
    assert.deepEqual(textsOf(values), ['?', 'inner: fine']);
  }));

test('given a run that executes, when the state is read, then it is that of the last step and the thread is busy', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const { runId, open } = await startGated(s, threadId);
    const shown = await s.client.threads.get(threadId);
    assert.deepEqual([shown.status, textsOf(shown.values)], ['busy', ['gated']]);
    assert.deepEqual(textsOf((await s.client.threads.getState(threadId)).values), ['gated']);
    open();
    await s.client.runs.join(threadId, runId);
    assert.deepEqual(textsOf((await s.client.threads.getState(threadId)).values), [
      'gated',
      'through: gated',
    ]);
  }));

test('given a thread run by graphs of both kinds, when its state is read, then the answer is its values and no fault', () =>
  withServer({}, async (s) => {
    for (const graphs of [
      ['agent', 'echo'],
      ['echo', 'agent'],
      ['asks', 'agent'],
      ['approve', 'echo'],
    ] as const) {
      const threadId = await newThread(s);
      for (const graph of graphs)
        await s.client.runs.wait(threadId, graph, { input: say(graph), raiseError: false });
      const { status, json } = await s.request('GET', `/threads/${threadId}/state`);
      assert.equal(status, 200, graphs.join());
      assert.deepEqual(json.values, (await s.client.threads.get(threadId)).values);
    }
  }));

test('given a thread whose metadata names another graph or none, when its state is read, then it is that of the graph that ran', () =>
  withServer({}, async (s) => {
    for (const ran of ['echo', 'agent', 'asks', 'approve']) {
      const threadId = await newThread(s);
      await s.client.runs.wait(threadId, ran, { input: say('hi') });
      const before = await s.client.threads.getState(threadId);
      for (const graphId of ['agent', 'echo', 'chain', 'steps', 'nobody', '__proto__', 7, null]) {
        await s.request('PATCH', `/threads/${threadId}`, { metadata: { graph_id: graphId } });
        assert.deepEqual(await s.client.threads.getState(threadId), before, `${ran} as ${String(graphId)}`);
      }
    }
  }));

test('given a step that failed because what its tasks wrote does not go together, when the state is read, then it is what it was before', () =>
  withServer({ config: config('platform.states.json') }, async (s) => {
    const { client } = s;
    const { thread_id: threadId } = await client.threads.create();
    const failed = await s.request('POST', `/threads/${threadId}/runs/wait`, {
      assistant_id: 'clash',
      input: { kept: 'yes' },
    });
    assert.equal(failed.json.__error__.error, 'InvalidUpdateError');
    const { values, next, tasks, checkpoint } = await client.threads.getState(threadId);
    assert.deepEqual([values, [...next].sort()], [{ kept: 'yes' }, ['left', 'right']]);
    assert.deepEqual(tasks.map(({ name }) => name).sort(), ['left', 'right']);
    const [newest] = await client.threads.getHistory(threadId);
    assert.deepEqual([newest!.values, newest!.checkpoint], [values, checkpoint]);
  }));

test.run();

/** Checkpoints of graphs within graphs; the numbers name sections of the official server's behaviour. */
import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, newThread } from './scene.ts';

const test = suite('conformance: checkpoints of graphs within');
const PROTOCOL = { config: config('platform.protocol.json') };

/** A thread whose graph within asks a question; its frames, and the state of the graph within. */
async function asked(s: TestServer) {
  const thread = await newThread(s);
  const frames: { event: string; data: any }[] = [];
  const streamMode = ['checkpoints', 'debug'] as const;
  const run = s.client.runs.stream(thread, 'panel', {
    ...{ input: {}, streamMode: [...streamMode], streamSubgraphs: true },
  });
  for await (const { event, data } of run) frames.push({ event, data });
  const state = (await s.request('GET', `/threads/${thread}/state?subgraphs=true`)).json;
  const task = state.tasks.find(({ name }: { name: string }) => name === 'child');
  return { thread, frames, root: state.checkpoint.checkpoint_id as string, inner: task.state.checkpoint };
}

test('the checkpoint of a graph within names the root and itself, wherever it is shown (official 1.4)', () =>
  withServer(PROTOCOL, async (s) => {
    // given
    const { thread, frames, root, inner } = await asked(s);
    const { checkpoint_ns: ns, checkpoint_id: id } = inner;
    const checkpoint_map = { '': root, [ns]: id };
    // then: in the state of the task, of the namespace, and in its history
    assert.deepEqual(inner, { thread_id: thread, checkpoint_ns: ns, checkpoint_id: id, checkpoint_map });
    const path = `/threads/${thread}`;
    const at = { checkpoint: { checkpoint_ns: ns } };
    const state = (await s.request('POST', `${path}/state/checkpoint`, at)).json;
    assert.deepEqual(state.checkpoint, inner);
    const history = (await s.request('POST', `${path}/history`, { ...at, limit: 10 })).json;
    assert.deepEqual(history[0].checkpoint, inner);
    for (const { checkpoint, parent_checkpoint: parent } of history)
      for (const each of [checkpoint, parent])
        if (each !== null) assert.equal(each.checkpoint_map[ns], each.checkpoint_id);
    // then: in frames
    const told = frames
      .filter(({ event }) => /^(checkpoints|debug)\|child:/.test(event))
      .map(({ data }) => (data.type === 'checkpoint' ? data.payload : data))
      .filter(({ checkpoint }) => checkpoint !== undefined);
    assert.ok(told.length >= 2);
    for (const { checkpoint } of told) {
      const map = { '': root, [ns]: checkpoint.checkpoint_id };
      assert.deepEqual(checkpoint.checkpoint_map, map);
    }
    // then: the root's own has none
    const whole = (await s.request('GET', `${path}/state`)).json;
    assert.equal(whole.checkpoint.checkpoint_map, null);
    // then: in the answer to an update
    const update = { values: { answers: ['x'] }, checkpoint: { checkpoint_ns: ns, checkpoint_id: id } };
    const updated = (await s.request('POST', `${path}/state`, update)).json;
    assert.deepEqual(updated.checkpoint.checkpoint_map[ns], updated.checkpoint_id);
    assert.deepEqual(updated.configurable, updated.checkpoint);
  }));

test('a run from the checkpoint of a graph within runs that graph again (official 1.4)', () =>
  withServer(PROTOCOL, async (s) => {
    // given: the question is answered, and the thread has ended
    const { thread, root, inner } = await asked(s);
    const { interrupts } = (await s.request('GET', `/threads/${thread}/state`)).json;
    const resume = Object.fromEntries(interrupts.map(({ id }: { id: string }) => [id, 'yes']));
    const run = { assistant_id: 'panel', command: { resume } };
    const done = (await s.request('POST', `/threads/${thread}/runs/wait`, run)).json;
    assert.deepEqual([...done.answers].sort(), ['inner yes', 'outer yes']);
    // when
    const again = { assistant_id: 'panel', input: null, checkpoint: inner };
    await s.request('POST', `/threads/${thread}/runs/wait`, again);
    // then: the graph within stands at its question once more
    const state = (await s.request('GET', `/threads/${thread}/state?subgraphs=true`)).json;
    assert.ok(state.next.includes('child'));
    const task = state.tasks.find(({ name }: { name: string }) => name === 'child');
    assert.deepEqual(
      task.interrupts.map(({ value }: { value: object }) => value),
      [{ question: 'inner?' }],
    );
    assert.notEqual(state.checkpoint.checkpoint_id, null);
    assert.ok(root.length > 0);
  }));

test.run();

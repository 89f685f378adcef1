import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { config, newThread, say } from './scene.ts';
import { dataOf, streamRun } from './stream-reader.ts';

const test = suite('conformance: tasks, checkpoints, debug');
const MODES = { config: config('platform.modes.json') };

test('given tasks and checkpoints, when an agent runs, then they come in the order of its steps', () =>
  withServer(MODES, async (s) => {
    const frames = await streamRun(s, await newThread(s), {
      assistant_id: 'agent',
      stream_mode: ['tasks', 'checkpoints'],
    });
    const told = frames.map(({ event, data }) => {
      const { metadata, next, name, result } = data as Record<string, any>;
      if (event === 'checkpoints') return [metadata.source, metadata.step, ...next].join(' ');
      return event === 'tasks' ? `${name} ${result === undefined ? 'starts' : 'ends'}` : event;
    });
    assert.deepEqual(told, [
      'metadata',
      'input -1 __start__',
      'loop 0 agent',
      'agent starts',
      'agent ends',
      'loop 1 tool',
      'tool starts',
      'tool ends',
      'loop 2 agent',
      'agent starts',
      'agent ends',
      'loop 3',
    ]);
    const [start, end] = dataOf(frames, 'tasks');
    assert.deepEqual(Object.keys(start).sort(), [
      'id',
      'input',
      'interrupts',
      'metadata',
      'name',
      'triggers',
    ]);
    assert.deepEqual([start.triggers, start.interrupts], [['branch:to:agent'], []]);
    assert.deepEqual(Object.keys(end).sort(), ['error', 'id', 'interrupts', 'name', 'result']);
    assert.deepEqual([end.id, end.result.messages[0].content], [start.id, 'begin']);
  }));

for (const graph of ['agent', 'chain', 'steps', 'asks'])
  test(`given the graph ${graph}, when it is debugged, then its checkpoints are those of its history, oldest first`, () =>
    withServer(MODES, async (s) => {
      const threadId = await newThread(s);
      const frames = await streamRun(s, threadId, { assistant_id: graph, stream_mode: 'debug' });
      const debug = dataOf(frames, 'debug');
      for (const { timestamp, step } of debug) {
        assert.ok(!Number.isNaN(Date.parse(timestamp)));
        assert.equal(typeof step, 'number');
      }
      const kinds = new Set(debug.map(({ type }) => type));
      assert.deepEqual(kinds, new Set(['checkpoint', 'task', 'task_result']));
      const checkpoints = debug.filter(({ type }) => type === 'checkpoint');
      const saved = (await s.server.log.payloads.checkpoints(threadId, { ns: '' })).reverse();
      assert.ok(saved.length > 0);
      const place = (id: string | null) =>
        id && { thread_id: threadId, checkpoint_ns: '', checkpoint_id: id, checkpoint_map: null };
      assert.deepEqual(
        checkpoints.map(({ step, payload }) => [step, payload.checkpoint, payload.parent_checkpoint]),
        saved.map((each) => [each.metadata['step'], place(each.checkpointId), place(each.parentId)]),
      );
      assert.deepEqual(
        checkpoints.map(({ payload }) => payload.metadata),
        saved.map(({ metadata }) => metadata),
      );
      assert.ok(checkpoints.every(({ payload }) => payload.config.configurable.thread_id === threadId));
      for (const key of ['values', 'next', 'tasks', 'parent_config'])
        assert.ok(checkpoints.every(({ payload }) => key in payload));
    }));

test('given a run that goes on, when it is debugged, then its first checkpoint is the one it goes on from', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    await streamRun(s, threadId, { assistant_id: 'chain', input: {}, interrupt_after: ['two'] });
    const [head] = await s.server.log.payloads.checkpoints(threadId, { ns: '', limit: 1 });
    const frames = await streamRun(s, threadId, { assistant_id: 'chain', input: null, stream_mode: 'debug' });
    const checkpoints = dataOf(frames, 'debug').filter(({ type }) => type === 'checkpoint');
    assert.equal(checkpoints[0].payload.checkpoint.checkpoint_id, head!.checkpointId);
    // It is the earlier run's, and says so.
    assert.deepEqual(checkpoints[0].payload.metadata, head!.metadata);
    assert.deepEqual(
      checkpoints.map(({ payload }) => payload.next),
      [['three'], ['four'], ['five'], []],
    );
  }));

test('given a checkpoint to go back to, when the run is debugged, then its checkpoints start as a fork of that one', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    await streamRun(s, threadId, { assistant_id: 'chain', input: {} });
    const saved = await s.server.log.payloads.checkpoints(threadId, { ns: '' });
    const from = saved.find(({ metadata }) => metadata['step'] === 2)!;
    const frames = await streamRun(s, threadId, {
      assistant_id: 'chain',
      input: null,
      checkpoint: { checkpoint_id: from.checkpointId, checkpoint_ns: '', checkpoint_map: null },
      stream_mode: 'debug',
    });
    const [first, ...rest] = dataOf(frames, 'debug').filter(({ type }) => type === 'checkpoint');
    const { payload } = first;
    assert.deepEqual(
      [payload.metadata.source, payload.parent_checkpoint.checkpoint_id, payload.next],
      ['fork', from.checkpointId, ['three']],
    );
    assert.deepEqual(rest.at(-1).payload.values.visited, ['one', 'two', 'three', 'four', 'five']);
  }));

test('the result of a task that failed has the error as name and message (official 2.7)', () =>
  withServer(MODES, async (s) => {
    // when
    const body = { assistant_id: 'breaks', input: say('hi'), stream_mode: ['tasks', 'debug'] };
    const frames = await streamRun(s, await newThread(s), body);
    // then
    const error = { error: 'NodeError', message: 'the node broke' };
    const told = dataOf(frames, 'tasks').at(-1);
    assert.deepEqual([told.error, told.result], [error, {}]);
    const { type, payload } = dataOf(frames, 'debug').at(-1);
    assert.deepEqual([type, payload.error, payload.result], ['task_result', error, {}]);
    assert.equal(dataOf(frames, 'tasks').at(0).error, undefined);
  }));

test.run();

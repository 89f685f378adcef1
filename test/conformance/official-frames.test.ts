/** Frames of runs; the numbers name sections of the official server's behaviour. */
import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { config, newThread, say } from './scene.ts';
import { dataOf, streamRun } from './stream-reader.ts';

const test = suite('conformance: frames as the official server has them');
const MODES = { config: config('platform.modes.json') };

for (const graph of ['agent', 'steps'])
  test(`a message of ${graph} that was not streamed comes after its metadata (official 2.6)`, () =>
    withServer(MODES, async (s) => {
      // when
      const body = { assistant_id: graph, input: say('hi'), stream_mode: 'messages' };
      const frames = await streamRun(s, await newThread(s), body);
      // then: each message is described once, before it is complete
      const described = new Set<string>();
      let complete = 0;
      for (const { event, data } of frames as { event: string; data: any }[]) {
        if (event === 'messages/metadata')
          for (const [id, { metadata }] of Object.entries<any>(data)) {
            assert.ok(!described.has(id), `described twice: ${id}`);
            assert.equal(metadata.graph_id, graph);
            described.add(id);
          }
        if (event !== 'messages/complete') continue;
        for (const { id } of data) assert.ok(described.has(id), `not described: ${id}`);
        complete += data.length;
      }
      assert.equal(complete, 4);
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

test('events of a graph carry its own name, or the id of the graph where it has none (official 2.8)', () =>
  withServer(MODES, async (s) => {
    for (const [graph, name] of [
      ['agent', 'agent'],
      ['named', 'Pathfinder'],
    ] as const) {
      const body = { assistant_id: graph, input: say('hi'), stream_mode: 'events' };
      const frames = await streamRun(s, await newThread(s), body);
      const events = dataOf(frames, 'events');
      const root = events.filter(({ run_id: id }) => id === events[0].run_id);
      assert.deepEqual(new Set(root.map((event) => event.name)), new Set([name]), graph);
    }
  }));

test.run();

/** The library's own client of a graph that runs elsewhere. */
import * as assert from 'node:assert/strict';
import { RemoteGraph } from '@langchain/langgraph/remote';
import type { StateSnapshot } from '@langchain/langgraph';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, newThread, say, textsOf } from './scene.ts';

const test = suite('conformance: a remote graph and its states');
const STATES = config('platform.states.json');

const remote = (s: TestServer, graphId: string) => new RemoteGraph({ graphId, url: s.url });

async function historyOf(
  graph: RemoteGraph,
  ...args: Parameters<RemoteGraph['getStateHistory']>
): Promise<StateSnapshot[]> {
  const states: StateSnapshot[] = [];
  for await (const state of graph.getStateHistory(...args)) states.push(state);
  return states;
}

test('RemoteGraph.getState, RemoteGraph.getStateHistory: the state is that of a local graph', () =>
  withServer({ config: STATES }, async (s) => {
    const graph = remote(s, 'turns');
    const place = { configurable: { thread_id: await newThread(s) } };
    const empty = await graph.getState(place);
    assert.deepEqual([empty.values, empty.next, empty.tasks, empty.createdAt], [{}, [], [], undefined]);
    assert.deepEqual(await historyOf(graph, place), []);

    await s.client.runs.wait(place.configurable.thread_id, 'turns', { input: say('hi') });
    const state = await graph.getState(place);
    assert.deepEqual(textsOf(state.values), ['hi', 'begin', 'done', 'end']);
    assert.deepEqual(state.next, []);
    const history = await historyOf(graph, place);
    assert.deepEqual(
      history.map(({ next }) => next.join()),
      ['', 'agent', 'tool', 'agent', '__start__'],
    );
    assert.deepEqual(history[0], state);
    const older = await historyOf(graph, place, { limit: 2, before: history[2]!.config });
    assert.deepEqual(older, history.slice(3, 5));
    assert.deepEqual(await historyOf(graph, place, { filter: { step: 1 } }), [history[2]]);
    assert.deepEqual(await graph.getState(history[3]!.config), history[3]);
    assert.deepEqual(history[3]!.parentConfig, history[4]!.config);
  }));

test('RemoteGraph.updateState: given a remote graph, when its state is updated, then the config that comes back is the new place', () =>
  withServer({ config: STATES }, async (s) => {
    const graph = remote(s, 'review');
    const place = { configurable: { thread_id: await newThread(s) } };
    await assert.rejects(graph.invoke(say('hi'), place), { name: 'GraphInterrupt' });
    const asked = await graph.getState(place);
    assert.deepEqual(asked.next, ['ask']);
    assert.equal(asked.tasks[0]!.interrupts.length, 1);
    const messages = [{ type: 'ai', content: 'better', id: 'draft' }];
    const updated = await graph.updateState(place, { messages }, 'draft');
    const state = await graph.getState(place);
    assert.deepEqual(state.config, updated);
    assert.deepEqual(await graph.getState(updated), state);
    assert.deepEqual(textsOf(state.values), ['hi', 'better']);
    assert.deepEqual(state.parentConfig, asked.config);

    // From a place in the past the thread forks.
    const forked = await graph.updateState(asked.config, { messages: [] }, 'draft');
    const fork = await graph.getState(forked);
    assert.deepEqual([fork.parentConfig, textsOf(fork.values)], [asked.config, ['hi', 'draft']]);
  }));

test('RemoteGraph.getState: given a remote graph within which another stopped, when the states within are read and updated, then they are found', () =>
  withServer({ config: STATES }, async (s) => {
    const graph = remote(s, 'weather');
    const place = { configurable: { thread_id: await newThread(s) } };
    await assert.rejects(graph.invoke(say('?'), place), { name: 'GraphInterrupt' });
    const deep = await graph.getState(place, { subgraphs: true });
    const within = deep.tasks[0]!.state as StateSnapshot;
    assert.deepEqual((within.values as { city: string }).city, 'London');
    const flat = await graph.getState(place);
    const pointer = flat.tasks[0]!.state as { configurable: Record<string, unknown> };
    await graph.updateState(pointer, { city: 'Oslo' });
    const after = await graph.getState(pointer);
    assert.deepEqual([(after.values as { city: string }).city, after.next], ['Oslo', ['look']]);
    assert.equal((await historyOf(graph, pointer)).length, 4);
  }));

test.run();

import * as assert from 'node:assert/strict';
import { HumanMessage } from '@langchain/core/messages';
import { MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { RemoteGraph } from '@langchain/langgraph/remote';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { toWire } from '../../src/graphs/wire.ts';
import { journey } from '../fixtures/project/modes.ts';
import { config, newThread, say, textsOf } from './scene.ts';

const test = suite('conformance: graphs run from afar');
const MODES = { config: config('platform.modes.json') };

const remote = (s: TestServer, graphId: string): RemoteGraph =>
  new RemoteGraph({ graphId, url: s.url, streamResumable: true });
const onThread = (thread_id: string) => ({ configurable: { thread_id } });

test('RemoteGraph.invoke: given a remote graph, when it is invoked with and without a thread, then its state comes back', () =>
  withServer(MODES, async (s) => {
    const graph = remote(s, 'agent');
    assert.deepEqual(textsOf(await graph.invoke(say('hi'))).slice(0, 2), ['hi', 'begin']);
    const threadId = await newThread(s);
    await graph.invoke({ messages: [new HumanMessage('one')] }, onThread(threadId));
    const values = await graph.invoke(say('two'), onThread(threadId));
    assert.equal(textsOf(values).filter((text) => text === 'one' || text === 'two').length, 2);
    const state = await graph.getState(onThread(threadId));
    assert.deepEqual(textsOf(state.values), textsOf(values));
    assert.deepEqual(
      (await s.client.threads.search({})).map(({ thread_id }) => thread_id),
      [threadId],
    );
  }));

/** What a chunk says, without the ids that every run gives anew and without what tells where it ran. */
function toComparable(namespace: string[], mode: string, data: any, known: Map<string, number>): unknown {
  const plain = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(toWire(value)).replace(
        /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
        (id) => `id ${known.get(id) ?? known.set(id, known.size).get(id)!}`,
      ),
    );
  const stateOf = ({ values, next, metadata }: any) => [values, next, metadata.source, metadata.step];
  const taskOf = ({ id, name, input, triggers, result, interrupts }: any) => [
    ...[id, name, input ?? null, triggers ?? null, result ?? null, interrupts],
  ];
  const shown = {
    checkpoints: () => stateOf(data),
    tasks: () => taskOf(data),
    debug: () => [
      data.type,
      data.step,
      data.type === 'checkpoint' ? stateOf(data.payload) : taskOf(data.payload),
    ],
    // What arrives is no instance, so the kind of a piece is written in its type.
    messages: () => [
      { ...(toWire(data[0]) as object), type: 'any' },
      ...['langgraph_node', 'langgraph_step', 'langgraph_checkpoint_ns', 'langgraph_path'].map(
        (key) => data[1][key],
      ),
    ],
  }[mode];
  return [plain(namespace), mode, plain(shown?.() ?? data)];
}

test('RemoteGraph.stream: all modes with subgraphs give the chunks of a local graph, in order', () =>
  withServer(MODES, async (s) => {
    const streamMode = [
      ...(['values', 'updates', 'messages', 'custom', 'tools', 'tasks', 'checkpoints', 'debug'] as const),
    ];
    const input = { messages: [{ role: 'user', content: 'SF', id: 'question' }] };
    const here = Object.assign(Object.create(Object.getPrototypeOf(journey)) as typeof journey, journey, {
      checkpointer: new MemorySaver(),
    });
    const told = async (graph: Pick<typeof journey, 'stream'>): Promise<unknown[]> => {
      const known = new Map<string, number>();
      const chunks: unknown[] = [];
      const options = { ...onThread(await newThread(s)), streamMode, subgraphs: true };
      for await (const chunk of await graph.stream(input, options)) {
        const [namespace, mode, data] = chunk as unknown as [string[], string, unknown];
        chunks.push(toComparable(namespace, mode, data, known));
      }
      return chunks;
    };
    const [remotely, locally] = [
      await told(remote(s, 'journey') as unknown as Pick<typeof journey, 'stream'>),
      await told(here),
    ];
    assert.ok(locally.length > 70);
    assert.deepEqual(remotely, locally);
  }));

test('RemoteGraph.stream: given a remote graph that fails, when it is streamed, then the failure is thrown here', () =>
  withServer(MODES, async (s) => {
    await assert.rejects(remote(s, 'breaks').invoke(say('hi')), /the node broke/);
  }));

test('RemoteGraph.invoke: given a remote graph, when it is a node of a local one, then its result and its steps are part of that', () =>
  withServer(MODES, async (s) => {
    const local = new StateGraph(MessagesAnnotation)
      .addNode('far', remote(s, 'weather'))
      .addEdge(START, 'far')
      .compile({ checkpointer: new MemorySaver() });
    const threadId = crypto.randomUUID();
    const places = new Set<string>();
    for await (const [namespace, update] of (await local.stream(say('SF'), {
      ...onThread(threadId),
      streamMode: 'updates',
      subgraphs: true,
    })) as AsyncIterable<[string[], object]>)
      places.add([...namespace.map((part) => part.split(':')[0]), Object.keys(update)[0]].join('/'));
    const nested = ['plan', 'tools', 'speak'].map((node) => `far/weather_graph/${node}`);
    assert.deepEqual(places, new Set(['far/router', ...nested, 'far/weather_graph', 'far']));
    const { values } = await local.getState(onThread(threadId));
    assert.deepEqual(textsOf(values), ['SF', '', 'sunny in SF', 'sun']);
  }));

test('RemoteGraph.invoke, RemoteGraph.getState: an interrupt is the state, a resume goes on', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    const graph = remote(s, 'approve');
    await graph.invoke(say('?'), onThread(threadId)).catch((error: Error) => {
      assert.equal(error.name, 'GraphInterrupt');
    });
    const state = await graph.getState(onThread(threadId));
    assert.deepEqual([state.next, state.tasks[0]!.interrupts[0]!.value], [['ask'], { question: 'Shall I?' }]);
    const { Command } = await import('@langchain/langgraph');
    const values = await graph.invoke(new Command({ resume: 'yes' }), onThread(threadId));
    assert.equal(textsOf(values).at(-1), 'The answer was "yes"');
  }));

test.run();

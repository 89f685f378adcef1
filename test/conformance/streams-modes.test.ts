import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, newThread, say } from './scene.ts';
import { dataOf, readFrames, streamRun, type Frame } from './stream-reader.ts';

const test = suite('conformance: stream modes');
const MODES = { config: config('platform.modes.json') };

const run = async (s: TestServer, body: Record<string, unknown>): Promise<Frame[]> =>
  streamRun(s, await newThread(s), body);

const namesOf = (frames: readonly Frame[]): string[] => frames.map(({ event }) => event);
const withoutIds = (names: readonly string[]): string[] =>
  names.map((name) => name.replaceAll(/[0-9a-f-]{36}/g, 'ID'));

for (const mode of ['messages', ['messages', 'values'], ['values', 'messages', 'messages-tuple', 'events']])
  test(`given an agent that streams, when it runs in mode ${JSON.stringify(mode)}, then messages grow and complete once`, () =>
    withServer(MODES, async (s) => {
      const frames = await run(s, { assistant_id: 'agent', stream_mode: mode });
      const own = frames.filter(({ event }) => event.startsWith('messages/'));
      const events = namesOf(own).map((name) => name.slice('messages/'.length));
      assert.deepEqual(events, [
        ...['metadata', 'complete'],
        ...['metadata', 'partial', 'partial', 'partial', 'partial', 'partial', 'complete'],
        ...['metadata', 'complete'],
        ...['metadata', 'partial', 'partial', 'partial', 'complete'],
      ]);
      assert.equal(frames.filter(({ event }) => event !== 'events').at(-1)!.event, 'messages/complete');
      const partial = dataOf(own, 'messages/partial');
      assert.deepEqual(
        partial.map(([{ content }]) => content),
        ['b', 'be', 'beg', 'begi', 'begin', 'e', 'en', 'end'],
      );
      const complete = dataOf(own, 'messages/complete').map((list) => list[0]);
      assert.deepEqual(
        complete.map(({ type, content }) => [type, content]),
        [
          ['human', 'hi'],
          ['ai', 'begin'],
          ['tool', 'tool_call__begin'],
          ['ai', 'end'],
        ],
      );
      const [, metadata] = dataOf(own, 'messages/metadata');
      assert.deepEqual(Object.keys(metadata), [complete[1].id]);
      assert.equal(metadata[complete[1].id].metadata.langgraph_node, 'agent');
      assert.equal(partial[4][0].id, complete[1].id);
      assert.equal(
        frames.some(({ event }) => event === 'values'),
        mode.includes('values'),
      );
      if (mode.includes('values')) {
        const names = namesOf(frames).filter((name) => !['events', 'messages/metadata'].includes(name));
        for (const [index, name] of names.entries())
          if (name === 'messages/complete') assert.equal(names[index - 1], 'values');
      }
    }));

test('given a graph within a graph, when subgraphs are streamed, then frames carry the place of their graph', () =>
  withServer(MODES, async (s) => {
    const modes = ['values', 'updates', 'messages-tuple', 'custom', 'tools', 'tasks', 'checkpoints', 'debug'];
    const frames = await run(s, { assistant_id: 'weather', stream_mode: modes, stream_subgraphs: true });
    const names = new Set(withoutIds(namesOf(frames)));
    const nested = ['values', 'updates', 'messages', 'custom', 'tools', 'tasks', 'checkpoints', 'debug'];
    const root = ['metadata', 'values', 'updates', 'tasks', 'checkpoints', 'debug'];
    assert.deepEqual(names, new Set([...root, ...nested.map((mode) => `${mode}|weather_graph:ID`)]));
    const order = withoutIds(namesOf(frames)).filter((name) => /^(values|updates)/.test(name));
    assert.deepEqual(order, [
      'values',
      'updates',
      'values',
      'values|weather_graph:ID',
      ...['plan', 'tools', 'speak'].flatMap(() => ['updates|weather_graph:ID', 'values|weather_graph:ID']),
      'updates',
      'values',
    ]);
    const inner = frames.find(({ event }) => event.startsWith('checkpoints|'))!.data;
    const { checkpoint } = inner as { checkpoint: { thread_id: string; checkpoint_ns: string } };
    assert.match(checkpoint.checkpoint_ns, /^weather_graph:/);
    const outer = dataOf(frames, 'checkpoints').find(({ next }) => next[0] === 'weather_graph');
    assert.deepEqual(outer.tasks[0].checkpoint, {
      thread_id: checkpoint.thread_id,
      checkpoint_ns: checkpoint.checkpoint_ns,
    });
    const shown = JSON.stringify(frames);
    assert.ok(!shown.includes('__pregel') || !/"__pregel_(stream|checkpointer|scratchpad)/.test(shown));
  }));

test('given a graph within a graph, when subgraphs are not streamed, then only frames of the whole come', () =>
  withServer(MODES, async (s) => {
    const modes = ['values', 'updates', 'tasks', 'checkpoints', 'debug', 'messages-tuple', 'tools'];
    const frames = await run(s, { assistant_id: 'weather', stream_mode: modes });
    assert.ok(namesOf(frames).every((name) => !name.includes('|')));
    const messages = dataOf(frames, 'messages').map(([{ type, content }]) => `${type} ${content}`);
    assert.deepEqual(messages, ['ai ', 'tool sunny in hi', 'ai sun']);
    const updates = dataOf(frames, 'updates').map((update) => Object.keys(update)[0]);
    assert.deepEqual(updates, ['router', 'weather_graph']);
  }));

test('given a tool, when tools are asked for, then its start and its end come with the id of the call', () =>
  withServer(MODES, async (s) => {
    const frames = await run(s, { assistant_id: 'weather', stream_mode: 'tools', stream_subgraphs: true });
    const toolsOf = (all: typeof frames) =>
      all.flatMap(({ event, data }) => (event.startsWith('tools|') ? [data as any] : []));
    const [start, end] = toolsOf(frames);
    assert.deepEqual(start, {
      event: 'on_tool_start',
      toolCallId: 'call-1',
      name: 'forecast',
      input: '{"city":"hi"}',
    });
    assert.equal(end.event, 'on_tool_end');
    assert.deepEqual([end.toolCallId, end.output.content], ['call-1', 'sunny in hi']);
    const failed = await run(s, {
      assistant_id: 'weather',
      input: say('nowhere'),
      stream_mode: 'tools',
      stream_subgraphs: true,
    });
    const error = toolsOf(failed).at(-1);
    assert.equal(error.event, 'on_tool_error');
    assert.equal(error.error.message, 'no such city');
  }));

test('given a static breakpoint, when it is reached, then an empty interrupt ends the stream, and resuming repeats the state', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    const frames = await streamRun(s, threadId, {
      assistant_id: 'chain',
      input: {},
      interrupt_before: ['two'],
    });
    assert.deepEqual(dataOf(frames, 'values').at(-1), { __interrupt__: [] });
    assert.equal(frames.at(-1)!.event, 'values');
    const resumed = await streamRun(s, threadId, {
      assistant_id: 'chain',
      input: null,
      interrupt_after: ['three'],
    });
    assert.deepEqual(dataOf(resumed, 'values'), [
      { visited: ['one'] },
      { visited: ['one', 'two'] },
      { visited: ['one', 'two', 'three'] },
      { __interrupt__: [] },
    ]);
    const state = await s.client.threads.getState(threadId);
    assert.deepEqual([state.next, state.tasks[0]!.interrupts], [['four'], []]);
    const everywhere = await streamRun(s, threadId, {
      assistant_id: 'chain',
      input: null,
      interrupt_before: '*',
    });
    assert.deepEqual(dataOf(everywhere, 'values').at(-1), { __interrupt__: [] });
    assert.deepEqual((await s.client.threads.getState(threadId)).next, ['five']);
  }));

test('given a plain function, when tasks are asked for, then its call is one task with all that it wrote', () =>
  withServer(MODES, async (s) => {
    const frames = await run(s, { assistant_id: 'steps', stream_mode: ['tasks', 'messages'] });
    const [start, end] = dataOf(frames, 'tasks');
    assert.deepEqual([start.name, start.input.messages[0].content], ['steps', 'hi']);
    assert.deepEqual([end.id, end.result.done], [start.id, { $writes: [1, 2, 3] }]);
    assert.deepEqual(
      dataOf(frames, 'messages/complete').map(([{ content }]) => content),
      ['hi', 'step 1', 'step 2', 'step 3'],
    );
    const asked = await run(s, { assistant_id: 'asks', stream_mode: 'tasks' });
    assert.deepEqual(dataOf(asked, 'tasks').at(-1).interrupts[0].value, { question: 'go on?' });
  }));

test('given a run with every mode, when its stream is joined for one, then only that mode comes', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    const modes = ['messages', 'messages-tuple', 'debug', 'tasks', 'checkpoints', 'tools'];
    const frames = await streamRun(s, threadId, {
      assistant_id: 'weather',
      stream_mode: modes,
      stream_subgraphs: true,
    });
    const { run_id: runId } = frames[0]!.data as { run_id: string };
    for (const mode of modes) {
      const wanted =
        mode === 'messages'
          ? /^messages\//
          : mode === 'messages-tuple'
            ? /^messages($|\|)/
            : new RegExp(`^${mode}($|\\|)`);
      const joined = await readFrames(
        `${s.url}/threads/${threadId}/runs/${runId}/stream?stream_mode=${mode}`,
      );
      assert.ok(joined.length > 1, mode);
      assert.deepEqual(
        joined,
        frames.filter(({ event }) => event === 'metadata' || wanted.test(event)),
      );
    }
  }));

interface Part {
  readonly id?: string;
  readonly event: string;
  readonly data: unknown;
}

async function collect(parts: AsyncIterable<unknown>): Promise<Part[]> {
  const all: Part[] = [];
  for await (const part of parts) all.push(part as Part);
  return all;
}

test('client.runs.stream: given every mode, when the client streams, then each has its frames and the run is announced once', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    const announced: unknown[] = [];
    const streamMode = [
      ...(['values', 'updates', 'messages', 'messages-tuple', 'events'] as const),
      ...(['debug', 'tasks', 'checkpoints', 'custom', 'tools'] as const),
    ];
    const parts = await collect(
      s.client.runs.stream(threadId, 'weather', {
        input: say('SF'),
        streamMode,
        streamSubgraphs: true,
        streamResumable: true,
        onRunCreated: (run) => announced.push(run),
      }),
    );
    const [run] = await s.client.runs.list(threadId);
    assert.deepEqual(announced, [{ run_id: run!.run_id, thread_id: threadId }]);
    assert.deepEqual(parts[0], { id: '0', event: 'metadata', data: { run_id: run!.run_id, attempt: 1 } });
    const seen = new Set(parts.map(({ event }) => event.split(/[|/]/)[0]));
    const names = streamMode.map((mode) => (mode === 'messages-tuple' ? 'messages' : mode));
    assert.deepEqual(seen, new Set(['metadata', ...names]));
    assert.equal(run!.status, 'success');
  }));

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

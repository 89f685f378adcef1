import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { MISSING, newThread, say, textsOf } from './scene.ts';
import { openStream, readFrames, type Frame } from './stream-reader.ts';

const test = suite('conformance: streams');

async function stream(s: TestServer, body: Record<string, unknown>): Promise<Frame[]> {
  const threadId = await newThread(s);
  return readFrames(`${s.url}/threads/${threadId}/runs/stream`, { body });
}

const eventsOf = (frames: readonly Frame[]): string[] => [...new Set(frames.map(({ event }) => event))];
/** Untyped, because its shape is what tests assert. */
const dataOf = (frames: readonly Frame[], name: string): any[] =>
  frames.filter(({ event }) => event === name).map(({ data }) => data);

test('given a run, when it is streamed, then ids are dense from 0 and the first frame is metadata exactly (S1)', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const reader = await openStream(`${s.url}/threads/${threadId}/runs/stream`, {
      body: { assistant_id: 'agent', input: say('hi') },
    });
    assert.equal(reader.status, 200);
    assert.match(reader.headers.get('content-type') ?? '', /^text\/event-stream/);
    assert.equal(reader.headers.get('cache-control'), 'no-store');
    const runId = (reader.headers.get('content-location') ?? '').split('/').at(-1);
    const frames = await reader.rest();
    assert.deepEqual(frames[0], { event: 'metadata', data: { run_id: runId, attempt: 1 }, id: '0' });
    assert.deepEqual(
      frames.map(({ id }) => id),
      frames.map((_, index) => String(index)),
    );
    // Closed means that everything is stored.
    assert.equal((await s.client.runs.get(threadId, runId!)).status, 'success');
    assert.deepEqual((await s.client.threads.get(threadId)).values, frames.at(-1)!.data);
  }));

for (const graph of ['agent', 'steps', 'approve', 'asks'])
  test(`given the graph ${graph}, when its stream is asked for in any mode, then no other frames come`, () =>
    withServer({}, async (s) => {
      for (const [mode, events] of [
        [undefined, ['values']],
        [[], ['values']],
        ['values', ['values']],
        ['updates', ['updates']],
        [['messages-tuple'], ['messages']],
        ['custom', ['custom']],
        ['events', ['events']],
        [
          ['updates', 'values', 'updates'],
          ['updates', 'values'],
        ],
      ] as const) {
        const frames = await stream(s, { assistant_id: graph, input: say('hi'), stream_mode: mode });
        const silent = new Set<string>();
        if (graph !== 'steps') silent.add('custom');
        if (graph === 'approve' || graph === 'asks') silent.add('messages');
        const expected = ['metadata', ...events.filter((event) => !silent.has(event))];
        assert.deepEqual(eventsOf(frames).sort(), expected.sort(), JSON.stringify(mode));
      }
    }));

test('given an agent that streams letters, when messages are asked for, then they are chunks, the tool message, chunks', () =>
  withServer({}, async (s) => {
    const frames = await stream(s, {
      assistant_id: 'agent',
      input: say('hi'),
      stream_mode: 'messages-tuple',
    });
    const messages = dataOf(frames, 'messages');
    assert.ok(messages.every((tuple) => Array.isArray(tuple) && tuple.length === 2));
    assert.deepEqual(
      messages.map(([{ content, type }]) => [content, type]),
      [
        ...[...'begin'].map((letter) => [letter, 'AIMessageChunk']),
        ['tool_call__begin', 'tool'],
        ...[...'end'].map((letter) => [letter, 'AIMessageChunk']),
      ],
    );
    for (const [message, metadata] of messages) {
      assert.equal(typeof message.id, 'string');
      assert.equal(metadata.langgraph_node, message.type === 'tool' ? 'tool' : 'agent');
      assert.equal(typeof metadata.langgraph_step, 'number');
    }
    assert.equal(new Set(messages.slice(0, 5).map(([{ id }]) => id)).size, 1);
  }));

test('given a graph that asks, when it is streamed, then updates and values carry the interrupt, values beside the state', () =>
  withServer({}, async (s) => {
    for (const graph of ['approve', 'asks']) {
      const frames = await stream(s, {
        assistant_id: graph,
        input: say('?'),
        stream_mode: ['values', 'updates'],
      });
      const [update] = dataOf(frames, 'updates').filter((data) => '__interrupt__' in data);
      const values = dataOf(frames, 'values').at(-1);
      assert.deepEqual(values.__interrupt__, update.__interrupt__, graph);
      assert.deepEqual(textsOf(values), ['?'], graph);
      assert.deepEqual(Object.keys(update.__interrupt__[0]).sort(), ['id', 'value']);
    }
  }));

test('given a writer in the graph, when custom is asked for, then chunks come as they were written', () =>
  withServer({}, async (s) => {
    const frames = await stream(s, { assistant_id: 'steps', input: {}, stream_mode: 'custom' });
    assert.deepEqual(dataOf(frames, 'custom'), [{ step: 1 }, { step: 2 }, { step: 3 }]);
  }));

test('given events, when they are asked for, then model and node events come raw, without graph chunks', () =>
  withServer({}, async (s) => {
    const frames = await stream(s, { assistant_id: 'agent', input: say('hi'), stream_mode: 'events' });
    const kinds = new Set(dataOf(frames, 'events').map(({ event }) => event));
    for (const kind of ['on_chain_start', 'on_chain_end', 'on_chat_model_stream', 'on_chat_model_end'])
      assert.ok(kinds.has(kind), `${kind} of ${[...kinds].join()}`);
    const letters = dataOf(frames, 'events')
      .filter(({ event }) => event === 'on_chat_model_stream')
      .map(({ data }) => data.chunk.content);
    assert.equal(letters.join(''), 'beginend');
  }));

for (const [graph, error] of [
  ['fails', { error: 'CustomError', message: 'this graph always fails' }],
  ['breaks', { error: 'NodeError', message: 'the node broke' }],
] as const)
  test(`given the graph ${graph}, when it fails, then the error is the last frame for every reader, also afterwards`, () =>
    withServer({}, async (s) => {
      const threadId = await newThread(s);
      const reader = await openStream(`${s.url}/threads/${threadId}/runs/stream`, {
        body: { assistant_id: graph, input: say('hi') },
      });
      assert.equal(reader.status, 200);
      const frames = await reader.rest();
      assert.deepEqual([frames.at(-1)!.event, frames.at(-1)!.data], ['error', error]);
      assert.equal(dataOf(frames, 'error').length, 1);
      const path = `${s.url}${reader.headers.get('location') ?? ''}`;
      assert.deepEqual(await readFrames(path), frames);
      assert.deepEqual(eventsOf(await readFrames(`${path}?stream_mode=updates`)), ['metadata', 'error']);
    }));

test('joining an unknown run gives one error frame on a thread, and a 404 without one', () =>
  withServer({}, async (s) => {
    for (const threadId of [await newThread(s), MISSING]) {
      const path = `/threads/${threadId}/runs/${MISSING}`;
      const { status, headers, text } = await s.request('GET', `${path}/stream`, undefined, {
        'last-event-id': '5',
      });
      assert.equal(status, 200);
      assert.deepEqual([headers.get('location'), headers.get('content-location')], [`${path}/stream`, path]);
      // No id: clients drop an event whose id they have seen.
      const data = '{"error":"HTTPException","message":"404: Run not found"}';
      assert.equal(text, `: heartbeat\r\n\r\nevent: error\r\ndata: ${data}\r\n\r\n`);
    }
    const { status, json } = await s.request('GET', `/runs/${MISSING}/stream`);
    assert.deepEqual([status, json], [404, { detail: 'Run not found' }]);
  }));

test.run();

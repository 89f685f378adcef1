import assert from 'node:assert/strict';
import type { Json, JsonObject } from '../../../src/kernel/json.ts';
import type { Draft } from '../../../src/protocol/event.ts';
import { openMessages } from '../../../src/protocol/messages.ts';
import fc from '../../support/properties.ts';
import { suite } from '../../support/suite.ts';

const test = suite('protocol/messages');

const PLACE = { langgraph_checkpoint_ns: 'node:1', langgraph_node: 'node' };
const chunk = (content: Json, more: JsonObject = {}): JsonObject => ({
  type: 'AIMessageChunk',
  id: 'run-1',
  content,
  ...more,
});
const dataOf = (drafts: readonly Draft[]): JsonObject[] =>
  drafts.map(({ data }) => {
    const { run_id: _, ...rest } = (typeof data === 'function' ? data() : data) as JsonObject;
    return rest;
  });

/** All that is told of these pieces of one message, to its end. */
function told(...messages: JsonObject[]): JsonObject[] {
  const fold = openMessages();
  const drafts = messages.flatMap((message, i) => fold.add([message, PLACE], [], i));
  return dataOf([...drafts, ...fold.finishBelow([])]);
}
const finished = (events: readonly JsonObject[]): Json[] =>
  events.filter(({ event }) => event === 'content-block-finish').map(({ content }) => content!);

test('pieces of text become deltas, and the end has the sums of usage and metadata', () => {
  assert.deepEqual(
    told(
      chunk('He', { usage_metadata: { input_tokens: 3, output_tokens: 1, details: { cached: 1 } } }),
      chunk('y', { response_metadata: { model: 'm' } }),
      chunk('', {
        usage_metadata: { output_tokens: 4, details: { cached: 1 } },
        response_metadata: { finish_reason: 'stop' },
      }),
    ),
    [
      { event: 'message-start', id: 'run-1', role: 'ai' },
      { event: 'content-block-start', index: 0, content: { type: 'text', text: '' } },
      { event: 'content-block-delta', index: 0, delta: { type: 'text-delta', text: 'He' } },
      { event: 'content-block-delta', index: 0, delta: { type: 'text-delta', text: 'y' } },
      { event: 'content-block-finish', index: 0, content: { type: 'text', text: 'Hey' } },
      {
        event: 'message-finish',
        usage: { input_tokens: 3, output_tokens: 5, details: { cached: 2 } },
        responseMetadata: { model: 'm', finish_reason: 'stop' },
      },
    ],
  );
});

test('reasoning, text and tool calls in pieces each become a block; arguments accumulate', () => {
  const call = (index: number, more: JsonObject): JsonObject =>
    chunk('', { tool_call_chunks: [{ type: 'tool_call_chunk', index, ...more }] });
  const events = told(
    chunk([{ type: 'thinking', thinking: 'hm', index: 0 }]),
    chunk([{ type: 'thinking', thinking: '!', signature: 's', index: 0 }]),
    chunk([{ type: 'text', text: 'I add', index: 1 }]),
    call(2, { id: 'a', name: 'add', args: '{"x"' }),
    call(2, { args: ':1}' }),
    call(3, { id: 'b', name: 'sub', args: '{"y":' }),
  );
  assert.deepEqual(finished(events), [
    { type: 'reasoning', reasoning: 'hm!', signature: 's' },
    { type: 'text', text: 'I add' },
    { type: 'tool_call', id: 'a', name: 'add', args: { x: 1 } },
    { type: 'invalid_tool_call', id: 'b', name: 'sub', args: '{"y":', error: 'Malformed args.' },
  ]);
  const args = events
    .filter(({ event, index }) => event === 'content-block-delta' && index === 2)
    .map(({ delta }) => ((delta as JsonObject)['fields'] as JsonObject)['args']);
  assert.deepEqual(args, ['{"x"', '{"x":1}']);
});

test('whole messages are complete at once, with role and tool calls', () => {
  const fold = openMessages();
  const add = (message: JsonObject, frame: number) => dataOf(fold.add([message, PLACE], [], frame));
  const ai = add(
    {
      type: 'ai',
      id: 'm',
      content: [
        { type: 'text', text: 'so' },
        { type: 'tool_use', id: 'a', name: 'add', input: {} },
        { type: 'odd' },
      ],
      tool_calls: [{ id: 'a', name: 'add', args: { x: 1 } }],
    },
    0,
  );
  assert.deepEqual(finished(ai), [
    { type: 'text', text: 'so' },
    { type: 'non_standard', value: { type: 'odd' } },
    { type: 'tool_call', id: 'a', name: 'add', args: { x: 1 } },
  ]);
  assert.equal(ai.at(-1)?.['event'], 'message-finish');
  assert.deepEqual(add({ type: 'tool', content: '3', tool_call_id: 'a' }, 7)[0], {
    event: 'message-start',
    id: 'message-7',
    role: 'tool',
    tool_call_id: 'a',
  });
  assert.equal(add({ type: 'human', id: 'h', content: 'hi' }, 8)[0]?.['role'], 'human');
  assert.deepEqual(add({ type: 'remove', id: 'h', content: '' }, 9), []);
  assert.deepEqual(fold.finishBelow([]), []);
});

test('given a message that was streamed, when it also comes whole, then it ends and is not told twice', () => {
  assert.deepEqual(
    told(chunk('hey'), { type: 'ai', id: 'run-1', content: 'hey' }).map(({ event }) => event),
    ['message-start', 'content-block-start', 'content-block-delta', 'content-block-finish', 'message-finish'],
  );
});

test('mixed pieces of two concurrent model calls of a node each name their message', () => {
  const fold = openMessages();
  const drafts = ['run-a', 'run-b', 'run-a', 'run-b'].flatMap((id, i) =>
    fold.add([chunk(String(i), { id }), PLACE], [], i),
  );
  const text = (runId: string): string =>
    [...drafts]
      .map(({ data }) => data as JsonObject)
      .filter((data) => data['run_id'] === runId && data['event'] === 'content-block-delta')
      .map(({ delta }) => (delta as JsonObject)['text'])
      .join('');
  assert.deepEqual([text('a'), text('b')], ['02', '13']);
  assert.deepEqual(
    dataOf(fold.fail('over')),
    [1, 2].map(() => ({ event: 'error', message: 'over' })),
  );
});

const piece = fc.oneof(
  fc.string({ maxLength: 3 }),
  fc.array(
    fc.record({
      type: fc.constantFrom('text', 'reasoning', 'thinking', 'image', 'strange'),
      text: fc.string({ maxLength: 3 }),
      reasoning: fc.string({ maxLength: 3 }),
      index: fc.integer({ min: 0, max: 3 }),
    }),
    { maxLength: 3 },
  ),
);
const calls = fc.array(
  fc.record({
    id: fc.constantFrom('a', 'b'),
    args: fc.string({ maxLength: 3 }),
    index: fc.integer({ min: 0, max: 2 }),
  }),
  { maxLength: 2 },
);

test('blocks of any pieces are numbered, never interleave, and begin and end once', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(piece, calls), { minLength: 1, maxLength: 8 }), (pieces) => {
      const events = told(
        ...pieces.map(([content, chunks]) => chunk(content as Json, { tool_call_chunks: chunks as Json })),
      );
      assert.equal(events[0]?.['event'], 'message-start');
      assert.equal(events.at(-1)?.['event'], 'message-finish');
      let open: Json = null;
      let next = 0;
      for (const { event, index = null } of events.slice(1, -1)) {
        if (event === 'content-block-start') {
          assert.deepEqual([open, index], [null, next]);
          open = next;
          next += 1;
        } else assert.equal(index, open);
        if (event === 'content-block-finish') open = null;
      }
      assert.equal(open, null);
    }),
  );
});

test.run();

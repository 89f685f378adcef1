import assert from 'node:assert/strict';
import type { Json } from '../../../src/kernel/json.ts';
import type { Draft } from '../../../src/protocol/event.ts';
import { isChannel, select, type Subscription } from '../../../src/protocol/filter.ts';
import { normalise } from '../../../src/protocol/normalise.ts';
import { beforeRun, parseEventId, parseSeq, toEventId, toSeq } from '../../../src/protocol/stream-cursor.ts';
import fc from '../../support/properties.ts';
import { suite } from '../../support/suite.ts';

const test = suite('protocol: places, filters and forms');

const place = fc.record({
  ordinal: fc.integer({ min: 1, max: 2 ** 25 - 1 }),
  index: fc.integer({ min: 0, max: 2 ** 28 - 1 }),
});

test('S2 cursors survive writing and reading; sequence numbers are exact and ordered', () => {
  fc.assert(
    fc.property(place, place, (a, b) => {
      assert.deepEqual(parseSeq(toSeq(a)), { ...a });
      assert.deepEqual(parseEventId(toEventId(a)), { ...a });
      assert.ok(Number.isSafeInteger(toSeq(a)));
      const order = a.ordinal - b.ordinal || a.index - b.index;
      assert.equal(Math.sign(toSeq(a) - toSeq(b)), Math.sign(order));
      assert.ok(beforeRun(a.ordinal) < toSeq({ ...a, index: 0 }));
      assert.ok(beforeRun(a.ordinal + 1) >= toSeq(a));
    }),
  );
  for (const text of ['', '1', '-1', '1-', '-', 'a-1', '1-1-1', '1-1 ', '123456789-1'])
    assert.equal(parseEventId(text), undefined, text);
  const eventId = 'synth:run:lc|child:1|completed';
  assert.deepEqual(parseEventId(eventId), { runId: 'run', eventId });
  for (const text of ['synth:', 'synth::x', 'synth:run']) assert.equal(parseEventId(text), undefined, text);
  for (const number of [-1, 1.5, NaN, Infinity, 2 ** 60]) assert.equal(parseSeq(number), undefined);
});

test("a filter's namespace without call id means all calls, one with call id that call", () => {
  const at = (...namespace: string[]): Draft => ({ method: 'values', namespace, data: null });
  const found = (wanted: Partial<Subscription>, draft: Draft): boolean =>
    select({ channels: ['values'], ...wanted }, draft) === draft;
  assert.ok(found({ namespaces: [['a']] }, at('a:1', 'b:2')));
  assert.ok(found({ namespaces: [['a:1', 'b']] }, at('a:1', 'b:2')));
  assert.ok(!found({ namespaces: [['a:2']] }, at('a:1')));
  assert.ok(!found({ namespaces: [['a:']] }, at('a:1')));
  assert.ok(!found({ namespaces: [['a', 'b']] }, at('a:1')));
  assert.ok(!found({ namespaces: [['a']] }, at('ab:1')));
  assert.ok(found({ namespaces: [] }, at('x')));
  assert.ok(found({ namespaces: [['x'], ['a']], depth: 1 }, at('a:1', 'b:2')));
  assert.ok(!found({ namespaces: [['a']], depth: 0 }, at('a:1', 'b:2')));
  const custom: Draft = { method: 'custom', namespace: [], data: null, name: 'x' };
  assert.deepEqual(
    [['custom'], ['custom:x'], ['custom:y'], ['values'], ['input']].map(
      (channels) => select({ channels }, custom) === custom,
    ),
    [true, true, false, false, false],
  );
  assert.ok(select({ channels: ['input'] }, { ...custom, method: 'input.requested' }));
  assert.deepEqual(['values', 'custom:x', 'custom:', 'input.requested', 'debug', ''].map(isChannel), [
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('with depth 0 messages and tool calls of nodes directly below a graph are those of the graph', () => {
  const channels = ['messages', 'tools', 'values'];
  const found = (wanted: Partial<Subscription>, method: Draft['method'], ...namespace: string[]) =>
    select({ channels, ...wanted }, { method, namespace, data: null })?.namespace;
  for (const method of ['messages', 'tools'] as const) {
    assert.deepEqual(found({ namespaces: [[]], depth: 0 }, method, 'a:1'), []);
    assert.deepEqual(found({ namespaces: [['a']], depth: 0 }, method, 'a:1', 'b:2'), ['a:1']);
    assert.deepEqual(found({ namespaces: [[], ['a:1']], depth: 0 }, method, 'a:1'), ['a:1']);
    assert.deepEqual(found({ namespaces: [[]], depth: 0 }, method), []);
    assert.equal(found({ namespaces: [[]], depth: 0 }, method, 'a:1', 'b:2'), undefined);
    assert.equal(found({ namespaces: [['b']], depth: 0 }, method, 'a:1'), undefined);
    assert.deepEqual(found({ namespaces: [[]], depth: 1 }, method, 'a:1'), ['a:1']);
    assert.deepEqual(found({ namespaces: [[]] }, method, 'a:1'), ['a:1']);
    assert.deepEqual(found({ byGraph: true }, method, 'a:1'), []);
    assert.deepEqual(found({ byGraph: true }, method, 'a:1', 'b:2'), ['a:1']);
    assert.equal(found({ byGraph: true, namespaces: [['a', 'b']] }, method, 'a:1', 'b:2'), undefined);
  }
  assert.deepEqual(found({ byGraph: true }, 'values', 'a:1'), ['a:1']);
  assert.equal(found({ namespaces: [[]], depth: 0 }, 'values', 'a:1'), undefined);
});

test('normalised state has one form of messages for every library and provider', () => {
  const state: Json = {
    __interrupt__: [{ id: 'q' }],
    count: 1,
    deep: [{ __interrupt__: 1, note: { type: 'ai', text: 'no message' } }],
    messages: [
      { type: 'user', content: 'hi', id: 'h', additional_kwargs: {}, response_metadata: {}, name: null },
      {
        type: 'assistant',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAA' } },
          { type: 'image_url', image_url: 'https://pictures.example/1' },
          { type: 'audio', mimeType: 'audio/wav', base64: 'B' },
          { type: 'odd', x: 1 },
          'plain',
        ],
        response_metadata: { model: 'm' },
        additional_kwargs: {
          tool_calls: [
            { id: '1', function: { name: 'add', arguments: '{"a":1}' } },
            { id: '2', function: { name: 'add', arguments: '{' } },
          ],
          audio: { data: 'SOUND', transcript: 't' },
          tool_outputs: [{ type: 'image_generation_call', result: 'PIC' }, { type: 'other' }],
        },
      },
      { type: 'tool', content: '3', tool_call_id: '1', status: 'success', artifact: null, extra: 1 },
      { type: 'remove', id: 'h' },
    ],
  };
  assert.deepEqual(normalise(state), {
    count: 1,
    deep: [{ note: { type: 'ai', text: 'no message' } }],
    messages: [
      { type: 'human', content: 'hi', id: 'h' },
      {
        type: 'ai',
        content: [
          { type: 'image', mime_type: 'image/png', base64: 'AAA' },
          { type: 'image', url: 'https://pictures.example/1' },
          { type: 'audio', mime_type: 'audio/wav', base64: 'B' },
          { type: 'non_standard', value: { type: 'odd', x: 1 } },
          { type: 'text', text: 'plain' },
          { type: 'audio', base64: 'SOUND', transcript: 't' },
          { type: 'image', mime_type: 'image/png', base64: 'PIC' },
        ],
        tool_calls: [{ type: 'tool_call', id: '1', name: 'add', args: { a: 1 } }],
        invalid_tool_calls: [
          { type: 'invalid_tool_call', id: '2', name: 'add', args: '{', error: 'Malformed args.' },
        ],
        response_metadata: { model: 'm' },
      },
      { type: 'tool', content: '3', tool_call_id: '1', status: 'success' },
      { type: 'remove', content: '', id: 'h' },
    ],
  });
  for (const plain of [null, 1, 'x', [], {}] as Json[]) assert.deepEqual(normalise(plain), plain);
});

test.run();

import * as assert from 'node:assert/strict';
import {
  AIMessage,
  AIMessageChunk,
  type AIMessageFields,
  ChatMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { Command, Send, StateGraph, MessagesAnnotation } from '@langchain/langgraph';
import type { Json, JsonObject } from '../../../src/kernel/json.ts';
import { flatten } from '../../../src/kernel/tagged.ts';
import { createDecoder, encode, type Reviver } from '../../../src/graphs/codec.ts';
import { openUserLibraries } from '../../../src/graphs/user-library.ts';
import { toWire } from '../../../src/graphs/wire.ts';
import fc from '../../support/properties.ts';
import { suite } from '../../support/suite.ts';

const test = suite('graph codec');

const graph = new StateGraph(MessagesAnnotation)
  .addNode('a', () => ({}))
  .addEdge('__start__', 'a')
  .compile();
const library = async (): Promise<Reviver> => openUserLibraries(import.meta.filename)(graph as never);
const roundTrip = async (value: unknown): Promise<unknown> => createDecoder(await library())(encode(value));
const stored = (value: unknown): Json => JSON.parse(encode(value)) as Json;

test('given the kinds that JSON lacks, when stored and read, then they are what they were', async () => {
  const value = {
    map: new Map<unknown, unknown>([
      ['a', 1],
      [{ k: 1 }, new Set([1n])],
    ]),
    date: new Date(86_400_000),
    bytes: new Uint8Array([0, 255, 7]),
    patterns: [/a\/b+/gi, new RegExp(''), /[/]\n/u],
    missing: undefined,
    list: [undefined, null, -1.5, 'text', true],
  };
  assert.deepEqual(await roundTrip(value), value);
  assert.ok(Number.isNaN(((await roundTrip(new Date(Number.NaN))) as Date).getTime()));
  const error = (await roundTrip(Object.assign(new Error('no'), { name: 'Odd' }))) as Error;
  assert.ok(error instanceof Error);
  assert.deepEqual([error.name, error.message], ['Odd', 'no']);
});

test('given data that looks like a mark, when stored and read, then it is still data and revives nothing', async () => {
  const value = {
    lc: 1,
    type: 'constructor',
    id: ['langchain_core', 'messages', 'HumanMessage'],
    kwargs: { content: 'x', lc: 2 },
    __type: 'Map',
    nested: [
      { $: 'message', v: { type: 'human', content: 'x' } },
      { $: 'object', v: { $: 'date', v: '2026' } },
      { lg_name: 'Send', node: 'n', args: {} },
      { lg_name: 'Command', goto: 'x' },
      { toDict: 'no', _getType: 'no' },
    ],
  };
  assert.deepEqual(await roundTrip(value), value);
  assert.deepEqual(flatten(stored(value)), value);
  const poisoned = JSON.parse('{"__proto__": {"polluted": true}, "a": 1}') as object;
  const back = (await roundTrip(poisoned)) as object;
  assert.ok(Object.hasOwn(back, '__proto__'));
  assert.equal((back as { polluted?: boolean }).polluted, undefined);
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
});

test('given any JSON value, when stored and read, then it is the same and so is its wire form', async () => {
  const decode = createDecoder(await library());
  const key = fc.oneof(fc.string(), fc.constantFrom('$', 'v', 'lc', '__type', 'type', 'lg_name', 'toJSON'));
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.string(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(key, tie('tree'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(tree, (value) => {
      assert.deepEqual(decode(encode(value)), value);
      assert.deepEqual(toWire(value), value);
    }),
  );
});

test('given any mixture of kinds, when turned into wire form, then it equals the stored form flattened', () => {
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.string(),
      fc.integer(),
      fc.bigInt(),
      fc.constant(undefined),
      fc.date(),
      fc.constantFrom(/a+/g, /\/$/),
      fc.uint8Array({ maxLength: 4 }),
      fc.string().map((content) => new HumanMessage({ content, id: 'h' })),
      fc.string().map((name) => new Send(name, { x: 1 })),
      fc.string().map((message) => new RangeError(message)),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.array(tie('tree'), { maxLength: 3 }).map((items) => new Set(items)),
      fc
        .array(fc.tuple(fc.oneof(fc.string(), fc.integer()), tie('tree')), { maxLength: 3 })
        .map((entries) => new Map(entries)),
      fc.dictionary(fc.oneof(fc.string(), fc.constant('$')), tie('tree'), {
        maxKeys: 3,
        noNullPrototype: true,
      }),
    ),
  }));
  fc.assert(fc.property(tree, (value) => assert.deepEqual(toWire(value), flatten(stored(value)))));
});

test('given a human message, when on the wire, then it is flat and has nothing that was not set', () => {
  assert.deepEqual(toWire([new HumanMessage({ content: 'SF', id: 'initial-message' })]), [
    { content: 'SF', additional_kwargs: {}, response_metadata: {}, type: 'human', id: 'initial-message' },
  ]);
  const late = new HumanMessage('no id yet');
  late.id = 'later';
  assert.equal((toWire(late) as JsonObject)['id'], 'later');
});

test('given messages of every kind, when stored and read, then they are of the user classes and equal', async () => {
  const messages = [
    new HumanMessage({ content: [{ type: 'text', text: 'hi' }], id: '1', name: 'ann' }),
    new AIMessage({
      content: 'a',
      id: '2',
      tool_calls: [{ id: 'c1', name: 't', args: { lc: 1, $: 'x' }, type: 'tool_call' }],
      usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    } as unknown as AIMessageFields),
    new SystemMessage('s'),
    new ToolMessage({ content: 't', tool_call_id: 'c1', artifact: { raw: new Date(0) }, status: 'error' }),
    new ChatMessage({ content: 'c', role: 'critic' }),
    new RemoveMessage({ id: '1' }),
  ];
  const back = (await roundTrip(messages)) as AIMessage[];
  back.forEach((message, index) => {
    assert.equal(message.constructor, messages[index]?.constructor);
    assert.deepEqual(toWire(message), toWire(messages[index]));
  });
  assert.deepEqual(back[1]?.tool_calls?.[0]?.args, { lc: 1, $: 'x' });
  assert.ok((back[3] as unknown as ToolMessage).artifact.raw instanceof Date);
});

test('given a chunk in wire form, when read back by its class name, then it can be appended to', async () => {
  const text = JSON.stringify({ $: 'message', v: { type: 'AIMessageChunk', content: 'a', id: '1' } });
  const chunk = createDecoder(await library())(text) as AIMessageChunk;
  assert.equal(chunk.concat(new AIMessageChunk('b')).content, 'ab');
  assert.equal((toWire(new AIMessageChunk('x')) as JsonObject)['type'], 'ai');
});

test('given commands and sends, when stored and read, then the runtime knows them again', async () => {
  const value = new Command({
    goto: [new Send('n', { m: new HumanMessage('x') }), 'other'],
    update: { a: 1 },
  });
  const back = (await roundTrip(value)) as Command;
  assert.ok(back instanceof Command);
  const [send, other] = back.goto as [Send, string];
  assert.ok(send instanceof Send);
  assert.ok((send.args as { m: HumanMessage }).m instanceof HumanMessage);
  assert.equal(other, 'other');
});

test('given no library, when messages are read, then they are plain objects in wire form', () => {
  assert.deepEqual(createDecoder()(encode({ m: new HumanMessage({ content: 'x', id: '1' }) })), {
    m: toWire(new HumanMessage({ content: 'x', id: '1' })),
  });
});

test('given what cannot be stored, when encoded, then the error names the place', () => {
  const loop: Record<string, unknown> = { a: [{}] };
  (loop['a'] as Record<string, unknown>[])[0]!['self'] = loop;
  for (const [value, message] of [
    [{ tools: [{ run: () => 1 }] }, 'tools[0].run is a function and cannot be stored'],
    [loop, 'a[0].self contains itself and cannot be stored'],
    [{ s: Symbol('x') }, 's is a symbol and cannot be stored'],
    [{ later: Promise.resolve() }, 'later is a promise; is an await missing? and cannot be stored'],
    [() => 1, 'The value is a function and cannot be stored'],
  ] as const)
    assert.throws(() => encode(value), { name: 'UnstorableValue', message });
  assert.throws(() => encode(loop, 'state'), {
    message: 'state.a[0].self contains itself and cannot be stored',
  });
  let deep: unknown = 1;
  for (let i = 0; i < 100_000; i++) deep = [deep];
  assert.throws(() => encode(deep), /nested deeper than/);
  // What an export could not carry is not stored either.
  assert.throws(() => encode('é'.repeat(34_000_000), 'text'), {
    message: /^text has 68000002 bytes as JSON, where at most 67108864 are expected, and cannot be stored$/,
  });
});

test('given what cannot be stored, when streamed, then the rest of it still reaches the client', () => {
  const loop: Record<string, unknown> = { run: () => 1, list: [() => 1], n: Number.NaN };
  loop['self'] = loop;
  assert.deepEqual(toWire(loop), { list: [null], n: null, self: '[Circular]' });
});

test('given one object in two places, when encoded, then it is no cycle', () => {
  const shared = { x: 1 };
  assert.deepEqual(stored([shared, { shared }]), [{ x: 1 }, { shared: { x: 1 } }]);
});

test('given a message of typed blocks, when on the wire, then its content is there once', () => {
  const wire = toWire(
    new AIMessage({ contentBlocks: [{ type: 'text', text: 'hi' }], id: '1' }),
  ) as JsonObject;
  assert.deepEqual(wire['content'], [{ type: 'text', text: 'hi' }]);
  assert.ok(!('contentBlocks' in wire) && !('content_blocks' in wire));
});

test("a message built from another's members has no bookkeeping of the library, stored or on the wire", () => {
  const rebuilt = (message: AIMessage): AIMessage => new AIMessage({ ...message } as never);
  const again = rebuilt(rebuilt(new AIMessage({ content: 'hi', id: '1' })));
  const plain = toWire(new AIMessage({ content: 'hi', id: '1' })) as JsonObject;
  assert.deepEqual(toWire({ m: again }), { m: plain });
  assert.deepEqual(stored({ m: again }), stored({ m: new AIMessage({ content: 'hi', id: '1' }) }));
});

test.run();

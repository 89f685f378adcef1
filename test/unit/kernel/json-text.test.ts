import assert from 'node:assert/strict';
import { encodeJson, JsonText, writeJson } from '../../../src/kernel/json-text.ts';
import { suite } from '../../support/suite.ts';

const test = suite('kernel/json-text');

const text = (value: unknown): JsonText => new JsonText(JSON.stringify(value));

test('given texts anywhere in a value, when it is written, then they are in it as they were', () => {
  const value = { a: text({ b: [1, '$&"\\'] }), c: [text('x'), { d: text(null), e: 'plain' }] };
  assert.equal(writeJson(value), '{"a":{"b":[1,"$&\\"\\\\"]},"c":["x",{"d":null,"e":"plain"}]}');
  assert.equal(writeJson({ spaced: new JsonText('{ "a" : 1 }') }), '{"spaced":{ "a" : 1 }}');
  assert.equal(writeJson(text([])), '[]');
  assert.equal(writeJson([]), '[]');
});

test('given a value that cannot be written, when the next one is, then it has its own texts only', () => {
  const fails = {
    a: text(1),
    get b(): never {
      throw new Error('no');
    },
  };
  assert.throws(() => writeJson(fails), /^Error: no$/);
  assert.equal(writeJson({ a: text(2), b: text(3) }), '{"a":2,"b":3}');
});

test('given a text within a value, when somebody else writes it, then it is the same JSON', () => {
  const value = { a: new JsonText('{ "b" : [1, 2] }') };
  assert.equal(JSON.stringify(value), '{"a":{"b":[1,2]}}');
  assert.deepEqual(value.a.parse(), { b: [1, 2] });
});

test('S3 a long text sent to several is encoded once when the replies are equal', () => {
  const values = text('ü'.repeat(100_000));
  const value = (more = {}) => ({ id: 1, values, ...more });
  const bytes = encodeJson(value());
  assert.ok(bytes instanceof Uint8Array);
  assert.equal(Buffer.from(bytes).toString(), JSON.stringify(value()));
  assert.equal(encodeJson(value()), bytes);
  for (const other of [value({ id: 2 }), value({ values: text('ü'.repeat(100_000)) }), [values, values]])
    assert.equal(Buffer.from(encodeJson(other) as Uint8Array).toString(), JSON.stringify(other));
  const other = encodeJson(value({ id: 2 }));
  assert.notEqual(other, bytes);
  // Both, in whichever order they are asked for.
  assert.deepEqual([encodeJson(value()) === bytes, encodeJson(value({ id: 2 })) === other], [true, true]);
});

test('given what is short, or long by itself, when it is sent, then it is what would be written', () => {
  const short = { values: text('ü') };
  assert.equal(encodeJson(short), writeJson(short));
  const long = { plain: 'ü'.repeat(100_000) };
  assert.equal(Buffer.from(encodeJson(long) as Uint8Array).toString(), writeJson(long));
});

test.run();

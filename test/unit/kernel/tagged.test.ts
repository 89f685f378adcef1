import * as assert from 'uvu/assert';
import type { Json } from '../../../src/kernel/json.ts';
import { flatten, tagged, tagOf, type TaggedKind } from '../../../src/kernel/tagged.ts';
import { suite } from '../../support/suite.ts';

const test = suite('kernel/tagged');

const FLAT: Record<TaggedKind, [v: Json | undefined, flat: Json]> = {
  message: [
    { type: 'ai', content: [tagged('date', '2026-01-01')] },
    { type: 'ai', content: ['2026-01-01'] },
  ],
  command: [
    { goto: 'a', update: tagged('bigint', '7') },
    { goto: 'a', update: '7' },
  ],
  send: [
    { node: 'a', args: tagged('set', [1]) },
    { node: 'a', args: [1] },
  ],
  date: ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
  bigint: ['12345678901234567890', '12345678901234567890'],
  bytes: ['AAEC', 'AAEC'],
  regexp: ['/a+/g', '/a+/g'],
  map: [
    [
      ['k', tagged('date', 'd')],
      [1, 'number'],
      [tagged('bigint', '2'), 'two'],
    ],
    { k: 'd', '1': 'number', '2': 'two' },
  ],
  set: [
    [1, tagged('map', [['a', 1]])],
    [1, { a: 1 }],
  ],
  error: [
    { name: 'TypeError', message: 'no' },
    { name: 'TypeError', message: 'no' },
  ],
  undefined: [undefined, null],
  object: [
    { $: 'date', v: 'mine' },
    { $: 'date', v: 'mine' },
  ],
};

for (const [kind, [v, flat]] of Object.entries(FLAT) as [TaggedKind, [Json | undefined, Json]][])
  test(`given a stored ${kind}, when it is flattened, then clients see its plain form`, () => {
    const stored = tagged(kind, v);
    assert.is(tagOf(stored), kind);
    assert.equal(flatten(stored), flat);
    assert.equal(flatten({ list: [stored] }), { list: [flat] });
  });

test('flattened maps as keys of maps get short names that differ where the keys do', () => {
  const nest = (innermost: Json): Json => {
    let key = innermost;
    for (let level = 0; level < 60; level++) key = tagged('map', [[key, 1]]);
    return key;
  };
  const [one, other] = [flatten(nest(1)), flatten(nest(2))];
  assert.ok(JSON.stringify(one).length < 3_000);
  assert.not.equal(one, other);
  const text = 'x'.repeat(5_000);
  assert.equal(flatten(tagged('map', [[text, 1]])), { [text]: 1 });
});

test('given plain JSON with something tagged in it, when it is flattened, then all but that is as it was', () => {
  const stored: Json = { a: [1, 'x', null, { b: true }], c: {}, d: tagged('date', 'now') };
  assert.equal(flatten(stored), { a: [1, 'x', null, { b: true }], c: {}, d: 'now' });
  assert.is(tagOf({ a: 1 }), undefined);
});

test('an undefined property is dropped from an object and null in a list', () => {
  assert.equal(Object.keys(flatten({ a: tagged('undefined'), b: 1 }) as object), ['b']);
  assert.equal(flatten([tagged('undefined'), 1]), [null, 1]);
});

test('given user data that looks like a tag, when it was wrapped as an object, then it stays data', () => {
  const posing: Json = { $: 'map', v: [['a', 1]], $x: tagged('object', { $: 'undefined' }) };
  assert.equal(flatten(tagged('object', posing)), { $: 'map', v: [['a', 1]], $x: { $: 'undefined' } });
});

test('given a tag inherited and not owned, when the object is asked for its kind, then it has none', () => {
  assert.is(tagOf(Object.create({ $: 'date' })), undefined);
});

test('given a map with the key __proto__, when it is flattened, then no prototype changes', () => {
  const flat = flatten(tagged('map', [['__proto__', { polluted: true }]])) as object;
  assert.is(Object.getPrototypeOf(flat), Object.prototype);
  assert.equal(Object.keys(flat), ['__proto__']);
});

test('given an object with the own key __proto__, when it is flattened, then no prototype changes', () => {
  const flat = flatten(JSON.parse('{"__proto__": {"polluted": true}}') as Json) as Record<string, unknown>;
  assert.is(flat['polluted'], undefined);
  assert.is(Object.getPrototypeOf(flat), Object.prototype);
});

test.run();

import * as assert from 'uvu/assert';
import {
  canonical,
  findJsonProblem,
  findTextProblem,
  isObject,
  MAX_DEPTH,
} from '../../../src/kernel/json.ts';
import { createRandom, seedFromEnv } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';

const test = suite('kernel/json');

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

test('given values of every kind, when asked for an object, then only plain records count', () => {
  assert.equal([{}, { a: 1 }].map(isObject), [true, true]);
  assert.equal([null, undefined, [], 'x', 1, true].map(isObject), [false, false, false, false, false, false]);
});

test('given ordinary JSON, when it is searched for problems, then there is none', () => {
  for (const value of [null, 1, 'text', [], {}, { a: [{ b: null }], 'c d': '\u0000 in a value', é: '😀' }])
    assert.is(findJsonProblem(value), undefined);
});

test('given nesting up to the limit, when it is searched, then it passes; one level more does not', () => {
  assert.is(findJsonProblem(nested(MAX_DEPTH)), undefined);
  assert.is(findJsonProblem(nested(MAX_DEPTH + 1))?.problem, `nested deeper than ${MAX_DEPTH} levels`);
  assert.is(findJsonProblem({ a: { b: 1 } }, { maxDepth: 2 }), undefined);
  assert.is(findJsonProblem({ a: { b: {} } }, { maxDepth: 2 })?.path, 'a.b');
});

test('given a million levels, when they are searched, then a problem comes back and no overflow', () => {
  let lists: unknown = null;
  let records: unknown = null;
  for (let i = 0; i < 1_000_000; i++) {
    lists = [lists];
    records = { key: records };
  }
  for (const deep of [lists, records]) {
    const found = findJsonProblem(deep);
    assert.match(found?.problem ?? '', /nested deeper/);
    assert.ok(found!.path.length <= 80);
  }
});

test('only a key that sets a prototype is named with its place; words of the language are data', () => {
  assert.equal(findJsonProblem(JSON.parse('{"__proto__": 1}')), {
    path: 'body',
    problem: 'the key "__proto__" is not allowed',
  });
  assert.is(findJsonProblem(JSON.parse('{"a": [0, {"b": {"__proto__": {}}}]}'))?.path, 'a[1].b');
  assert.is(findJsonProblem(JSON.parse('{"constructor": {"prototype": {"a": 1}}}')), undefined);
});

test('given a number beyond all that can be kept, when it is searched, then it is named with its place', () => {
  const found = findJsonProblem(JSON.parse('{"a": [0, {"b": -1e400}]}'));
  assert.equal(found, { path: 'a[1].b', problem: 'a number too large to be kept' });
  assert.is(findJsonProblem(JSON.parse('1e400'))?.path, 'body');
});

test('given a key with a NUL or half a surrogate pair, when it is searched, then that is the problem', () => {
  assert.equal(findJsonProblem({ a: { 'x\u0000': 1 } }), {
    path: 'a',
    problem: 'a key holds a NUL character',
  });
  assert.equal(findJsonProblem({ '\ud800': 1 }), { path: 'body', problem: 'a key holds a lone surrogate' });
  // Texts are searched on demand.
  const texts = { a: ['😀', 'x\udc00'] };
  assert.is(findJsonProblem(texts), undefined);
  const found = findJsonProblem(texts, { checksTexts: true });
  assert.equal(found, { path: 'a[1]', problem: 'a lone surrogate' });
});

test('given text, when it is searched, then NUL and lone surrogates are named and pairs pass', () => {
  assert.is(findTextProblem('a\u0000b'), 'a NUL character');
  assert.is(findTextProblem('\udc00'), 'a lone surrogate');
  assert.is(findTextProblem('😀 ok'), undefined);
});

test('given equal values with their keys in any order, when written canonically, then the texts are equal', () => {
  const random = createRandom(seedFromEnv());
  const value = { b: [1, { z: null, y: 'é' }], a: true, '10': 0, '9': { d: 1.5, c: '"' } };
  const text = '{"10":0,"9":{"c":"\\"","d":1.5},"a":true,"b":[1,{"y":"é","z":null}]}';
  for (let i = 0; i < 20; i++)
    assert.is(canonical(Object.fromEntries(random.shuffle(Object.entries(value)))), text);
  assert.equal(JSON.parse(canonical(value)), value);
});

test('given different values, when written canonically, then the texts differ', () => {
  const values = [null, undefined, 0, '0', false, '', [], {}, [null], [[]], { a: 1 }, { a: '1' }, { b: 1 }];
  assert.is(new Set(values.map(canonical)).size, values.length);
});

test.run();

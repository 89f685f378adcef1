import * as assert from 'node:assert/strict';
import { allowsWrite, parseAuthFilter as parseFilter } from '../../../src/auth/filters.ts';
import { ToldFault } from '../../../src/auth/refusal.ts';
import { MAX_FILTER_OPERANDS } from '../../../src/kernel/filter-syntax.ts';
import { matchesFilter, type Filter } from '../../../src/kernel/filter.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { suite } from '../../support/suite.ts';

const test = suite('auth: filters');

const matches = (metadata: JsonObject, raw: unknown) => matchesFilter(metadata, parseFilter(raw));
const nest = (levels: number): unknown => (levels === 0 ? { owner: 'a' } : { $or: [nest(levels - 1)] });

const negate = (levels: number): unknown => (levels === 0 ? { owner: 'a' } : { $not: negate(levels - 1) });
const negateOperator = (levels: number): unknown =>
  levels === 0 ? { $eq: 'a' } : { $not: negateOperator(levels - 1) };

const MALFORMED: Record<string, unknown> = {
  null: null,
  true: true,
  'a string': 'owner',
  'an array': [{ owner: 'alice' }],
  'a map': new Map([['owner', 'alice']]),
  'a date': new Date(0),
  'an instance of a class': new (class {
    owner = 'alice';
  })(),
  'an inherited key': Object.create({ owner: 'alice' }),
  'a key inherited from an object without prototype': Object.create(
    Object.assign(Object.create(null), { owner: 'alice' }),
  ),
  'a symbol as operator at the top': { [Symbol('or')]: [{ owner: 'alice' }] },
  'a symbol as operator': { owner: { [Symbol('eq')]: 'alice' } },
  'an undefined value': { owner: undefined },
  'a NaN': { owner: NaN },
  'an infinite number': { owner: Infinity },
  'a bigint': { owner: 1n },
  'a function as value': { owner: () => 'alice' },
  'an array of objects as value': { owner: [{}] },
  'a date as value': { at: new Date(0) },
  'no operator': { owner: {} },
  'two operators': { owner: { $eq: 'alice', $contains: 'alice' } },
  'a known and an unknown operator': { owner: { $eq: 'alice', $ne: 'bob' } },
  '$in of a scalar': { owner: { $in: 'alice' } },
  '$in of objects': { owner: { $in: [{}] } },
  '$in with a hole': { owner: { $in: [, 'alice'] } },
  '$in of 100,000 values': { owner: { $in: Array.from({ length: 100_000 }, (_, i) => i) } },
  '$exists of a text': { owner: { $exists: 'true' } },
  '$exists of undefined': { owner: { $exists: undefined } },
  '$not of a scalar': { owner: { $not: 'alice' } },
  '$not without an operator': { owner: { $not: {} } },
  '$not of an unknown operator': { owner: { $not: { $near: 'alice' } } },
  '$not of an operator beside a member': { owner: { $not: { $eq: 'alice', name: 'alice' } } },
  'an empty $not': { $not: {} },
  '$not of a list': { $not: [{ owner: 'alice' }] },
  '$exists at the top': { $exists: true },
  'the unknown operator $ne': { owner: { $ne: 'bob' } },
  'an operator without its dollar': { owner: { eq: 'alice' } },
  'an unknown operator at the top': { $nor: [{ owner: 'alice' }] },
  '$eq at the top': { $eq: 'alice' },
  '$eq of undefined': { owner: { $eq: undefined } },
  '$eq of an object': { owner: { $eq: {} } },
  '$eq of an array of arrays': { owner: { $eq: [['alice']] } },
  '$eq of NaN': { owner: { $eq: NaN } },
  '$contains of undefined': { owner: { $contains: undefined } },
  '$contains of an object': { owner: { $contains: { id: 1 } } },
  '$contains of arrays': { owner: { $contains: [['alice']] } },
  '$contains with a hole': { owner: { $contains: [, 'alice'] } },
  'an empty $or': { $or: [] },
  'an empty $and': { $and: [] },
  '$or of an object': { $or: { owner: 'alice' } },
  '$or of undefined': { $or: undefined },
  '$or with an empty branch': { $or: [{ owner: 'alice' }, {}] },
  '$and with an empty branch': { $and: [{}] },
  '$or with a hole': { $or: [, { owner: 'alice' }] },
  '$or with a scalar branch': { $or: ['alice'] },
  '$or with a malformed branch': { $or: [{ owner: 'alice' }, { owner: undefined }] },
  '$or below a key': { owner: { $or: ['alice', 'bob'] } },
  'nine levels': nest(9),
  'fifty levels': nest(50),
  'fifty levels of $not': negate(50),
  'fifty levels of $not below a key': { owner: negateOperator(50) },
  'a good key beside a malformed one': { owner: 'alice', team: { $near: ['x'] } },
};

for (const [kind, raw] of Object.entries(MALFORMED))
  test(`given a filter that is or has ${kind}, when parsed, then a ToldFault (A2)`, () => {
    assert.throws(() => parseFilter(raw), ToldFault);
  });

test('given a malformed filter, when parsed, then the error names the place and no value (A4)', () => {
  assert.throws(
    () => parseFilter({ $or: [{ owner: 'canary' }, { team: { $eq: [['canary']] } }] }),
    (error) => {
      assert.match(String(error), /"\$or\[1\]\.team\.\$eq"/);
      return !String(error).includes('canary');
    },
  );
});

test('given nothing or {}, when parsed, then the filter restricts nothing', () => {
  for (const raw of [undefined, {}, Object.create(null)]) {
    assert.deepEqual(parseFilter(raw), []);
    assert.equal(matches({}, raw), true);
  }
});

test("given alice's thread, when filters for others are matched, then none passes (A2)", () => {
  const metadata = { owner: 'alice', tags: ['a', 'b'], level: 1, gone: null, flag: false };
  const refusing: unknown[] = [
    { owner: 'bob' },
    { owner: null },
    { owner: '' },
    { owner: { $eq: '' } },
    { owner: { $eq: 'Alice' } },
    { owner: { $contains: '' } },
    { owner: { $contains: 'alice' } },
    { owner: { $contains: 'ali' } },
    { owner: 'alice', team: 'x' },
    { missing: null },
    { missing: '' },
    { missing: { $eq: null } },
    { missing: { $contains: null } },
    { level: '1' },
    { level: true },
    { flag: 0 },
    { flag: null },
    { flag: '' },
    { gone: '' },
    { tags: 'a' },
    { tags: ['a'] },
    { tags: ['b', 'a'] },
    { tags: ['a', 'b', 'c'] },
    { tags: { $eq: [] } },
    { owner: ['alice'] },
    { owner: { $contains: [] } },
    { missing: [] },
    { tags: { $contains: 'c' } },
    { tags: { $contains: ['a', 'c'] } },
    { toString: 'x' },
    { constructor: null },
    { length: 0 },
    { $or: [{ owner: 'bob' }, { owner: { $eq: '' } }] },
    { $and: [{ owner: 'alice' }, { level: 2 }] },
    { owner: 'bob', $or: [{ owner: 'alice' }] },
    { $or: [{ owner: 'alice' }], $and: [{ owner: 'bob' }] },
    { $or: [{ owner: 'alice', level: 2 }] },
    { owner: { $in: [] } },
    { owner: { $in: ['bob', null] } },
    { missing: { $in: [null] } },
    { level: { $in: ['1', true] } },
    { $not: { owner: 'alice' } },
    { owner: { $exists: false } },
    { toString: { $exists: true } },
    { owner: { $not: { $exists: true } } },
  ];
  for (const raw of refusing) assert.equal(matches(metadata, raw), false, JSON.stringify(raw));
});

test('given keys of Object.prototype, when matched, then only own ones of the metadata count (A2)', () => {
  const inherited = Object.create({ owner: 'alice', tags: ['a'] }) as JsonObject;
  assert.equal(matches(inherited, { owner: 'alice' }), false);
  assert.equal(matches(inherited, { tags: { $contains: 'a' } }), false);
  assert.equal(matches(JSON.parse('{"__proto__":"x"}') as JsonObject, JSON.parse('{"__proto__":"x"}')), true);
  assert.equal(matches({}, JSON.parse('{"__proto__":null}')), false);
});

test('given a normal form that this version does not know, when matched, then it throws (A2)', () => {
  const unknown = [{ op: 'near', key: 'owner', value: 'alice' }] as unknown as Filter;
  for (const filter of [unknown, [{ op: 'not', of: unknown }], [{ op: 'near', of: [] }]] as Filter[])
    assert.throws(() => matchesFilter({ owner: 'alice' }, filter), /unknown condition/);
  assert.throws(() => matchesFilter({ owner: 'alice' }, { owner: 'bob' } as unknown as Filter));
});

test('a write to one key of a filter must leave metadata that passes all of it (A2)', () => {
  const filter = parseFilter({ owner: 'alice', $or: [{ team: 'a' }, { team: 'b' }] });
  const allows = (written: JsonObject) =>
    allowsWrite(written, { owner: 'alice', team: 'a', note: 'old', ...written }, filter);
  // given: metadata that passes; when: keys that the filter does not name, or names, are written
  assert.equal(allows({ note: 'new' }), true);
  assert.equal(allows({ team: 'b' }), true);
  assert.equal(allows({ owner: 'alice' }), true);
  // then: one foreign value is enough for a refusal
  assert.equal(allows({ owner: 'bob' }), false);
  assert.equal(allows({ team: 'c' }), false);
  assert.equal(allows({ owner: 'bob', team: 'a' }), false);
  // and a key that the filter does not name can be written whatever the rest is
  assert.equal(allowsWrite({ note: 'new' }, { owner: 'bob', note: 'new' }, filter), true);
});

test('a write to a key below a $not must leave metadata that passes the filter (A2)', () => {
  const filter = parseFilter({ $not: { team: 'b' } });
  assert.equal(allowsWrite({ team: 'a' }, { team: 'a' }, filter), true);
  assert.equal(allowsWrite({ team: 'b' }, { team: 'b' }, filter), false);
});

test('a list of the maximum length is a filter', () => {
  const $in = Array.from({ length: MAX_FILTER_OPERANDS }, (_, i) => i);
  assert.equal(matches({ level: $in.length - 1 }, { level: { $in } }), true);
});

test.run();

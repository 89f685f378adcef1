import assert from 'node:assert/strict';
import { encode } from '../../../src/graphs/codec.ts';
import type { Json } from '../../../src/kernel/json.ts';
import { toWire } from '../../../src/graphs/wire.ts';
import { shownValues } from '../../../src/store/sql/payloads/shown-values.ts';
import { suite } from '../../support/suite.ts';

const test = suite('store, shown-values');

const LONG = 'x'.repeat(70_000);
const channelOf = (channel: string, data: string) => ({ channel, version: '1', data });
const parse = (data: string): unknown => JSON.parse(data);
const refuse = (): never => assert.fail('it is parsed');

/** What clients see of values that were kept as these channels. */
const shown = (values: Record<string, unknown>, read = parse, names = Object.keys(values)): Json =>
  shownValues(
    names,
    Object.entries(values).map(([channel, value]) => channelOf(channel, encode(value))),
    read,
  ).parse();

test('given a long text without tags, when it is shown, then nobody parses it', () => {
  const posing = { long: LONG, posing: '{"$":"date","v":"x"}' };
  assert.deepEqual(shown({ posing }, refuse), { posing });
  assert.equal(shown({ __root__: LONG }, refuse), LONG);
});

test('given values of all kinds, long and short, when they are shown, then they are what streams show', () => {
  const kinds = {
    date: new Date(0),
    map: new Map([['a', [1n]]]),
    set: new Set([1]),
    own: { $: 'date', v: 'x' },
    missing: [undefined, { missing: undefined }],
    text: '{"$":"date","v":"x"}',
  };
  for (const size of [0, 70_000]) {
    const values = {
      kinds: { ...kinds, filler: 'x'.repeat(size) },
      __proto__x: 1,
      list: [LONG.slice(0, size)],
    };
    assert.deepEqual(shown(values), toWire(values));
    assert.deepEqual(shown({ __end__: values }), toWire(values));
  }
});

test('given members that are named like a state of one value, when they are shown, then they are members', () => {
  const members = { __root__: 1, __end__: null };
  assert.deepEqual(shown(members), members);
  assert.deepEqual(shown({ __root__: 1 }, parse, ['__root__', 'never written']), { __root__: 1 });
});

test('given a short text that is no JSON, when it is shown, then that is told', () => {
  assert.throws(() => shownValues(['a'], [channelOf('a', '{"broken')], parse), SyntaxError);
});

test.run();

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { fromDifference, toBase, toDifference } from '../../../src/store/sqlite/payloads/token-difference.ts';
import { suite } from '../../support/suite.ts';

const test = suite('store, differences of pieces');

test('P3 a text kept as its difference from another is reassembled', () => {
  const piece = fc.oneof(
    fc.constantFrom('', ':', ',', '{', '}', 'a', 'b', '01', '02', '"', 'name'),
    fc.string({ unit: 'binary', maxLength: 100 }).map((text) => text.toWellFormed()),
  );
  const text = fc.array(piece, { maxLength: 80 }).map((pieces) => pieces.join('"'));
  fc.assert(
    fc.property(text, text, fc.array(piece, { maxLength: 4 }), (before, after, names) => {
      const base = toBase(before);
      const difference = toDifference(after, base, names);
      assert.equal(difference.toWellFormed(), difference, 'UTF-8 cannot carry it');
      assert.equal(fromDifference(difference, base, names), after);
    }),
    { numRuns: 1_000 },
  );
});

test('P3 the difference of texts of one make has little more than their ids and times', () => {
  const text = (step: number, added = ''): string =>
    JSON.stringify({
      run_id: `run-${step}`,
      step,
      versions: {
        __start__: `00${step - 1}.x`,
        messages: `00${step}.y`,
        ...(added && { [added]: `00${step}.z` }),
      },
      seen: { reply: { messages: `00${step - 1}.y` } },
      source: 'loop',
      parents: {},
    });
  const base = toBase(text(117));
  const sizes = [text(118), text(118, 'more')].map((each) => toDifference(each, base, ['run-118']).length);
  assert.ok(sizes[0]! < 40 && sizes[1]! < 60, `${sizes.join(' and ')} characters`);
});

test.run();

/** Texts that pass the scan are those that `JSON.parse` accepts, within bounds. */
import assert from 'node:assert/strict';
import { findFaultIn, scanJson } from '../../../src/kernel/json-scan.ts';
import fc from '../../support/properties.ts';
import { suite } from '../../support/suite.ts';

const test = suite('kernel/json-scan');

const LIMITS = { maxDepth: 100, maxWeight: 1_000_000 };

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** JSON, JSON with an edit, and pieces of JSON in any order. */
const pieces = fc.constantFrom(
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '"a"',
    '\\',
    '\\u00e9',
    '\\ud800',
    '\\x',
    'e',
    '.',
    '-',
    '0',
    '01',
    '1e5',
  ],
  ...[
    '1.',
    '1.5E-3',
    'true',
    'nul',
    'null',
    ' ',
    '\n',
    '\u00a0',
    '\u2028',
    '\u0000',
    '\u001f',
    '"\\n"',
    '-0',
    'é',
  ],
);
const anyText = fc.oneof(
  fc.json(),
  fc.json({ stringUnit: 'binary' }),
  fc.array(pieces, { maxLength: 8 }).map((all) => all.join('')),
  fc.tuple(fc.json(), fc.nat(), pieces).map(([text, at, piece]) => {
    const cut = at % (text.length + 1);
    return text.slice(0, cut) + piece + text.slice(cut + (at % 3));
  }),
);

test('a text passes exactly if JSON.parse accepts it', () => {
  fc.assert(
    fc.property(anyText, (text) => assert.equal(findFaultIn(text, LIMITS) === undefined, isJson(text))),
    { numRuns: 3_000 },
  );
});

test('depth and weight are bounded, and long texts are checked in slices', () => {
  const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
  assert.equal(findFaultIn(deep(100), LIMITS), undefined);
  assert.match(findFaultIn(deep(101), LIMITS)!.reason, /^nested deeper than 100 levels$/);
  const at = findFaultIn(`{"a":[[],{"b":1,"c":${deep(2)}}]}`, { ...LIMITS, maxDepth: 4 });
  assert.deepEqual([at?.kind, at?.path], ['depth', 'a[1].c[0]']);
  // Two objects and a list of 5, two new members of 16, two known ones of 1, four values of 1.
  // The spaces make the table of shapes so large that the two names have slots of their own.
  const members = `[{"a":1,"b":2},{"a":1,"b":2}]${' '.repeat(65_536)}`;
  assert.equal(findFaultIn(members, { ...LIMITS, maxWeight: 53 }), undefined);
  assert.match(findFaultIn(members, { ...LIMITS, maxWeight: 52 })!.reason, /more than 52 values/);
  for (const text of [`["${'x'.repeat(5_000_000)}"]`, `[${'0,'.repeat(900_000)}0]`, ' '.repeat(3_000_000)])
    assert.ok([...scanJson(text, LIMITS)].length >= 1);
});

test.run();

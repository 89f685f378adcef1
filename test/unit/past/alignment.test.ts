import * as assert from 'node:assert/strict';
import { align } from '../../../src/past/compare/alignment.ts';
import { suite } from '../../support/suite.ts';

const test = suite('past/alignment');

const paired = (a: string, b: string): string =>
  align([...a], [...b])
    .map(({ a: i, b: j }) => `${i === undefined ? '' : a[i]}${j === undefined ? '' : b[j]}`)
    .join(' ');

test('equal members are paired in order, and the others stand alone', () => {
  assert.equal(paired('', ''), '');
  assert.equal(paired('abc', 'abc'), 'aa bb cc');
  assert.equal(paired('abc', ''), 'a b c');
  assert.equal(paired('xabcy', 'xbcdy'), 'xx a bb cc d yy');
  assert.equal(paired('abab', 'baba'), 'a bb aa bb a');
  assert.equal(paired('a', 'b'), 'a b');
});

test('sequences that are too long for a table are paired by index', () => {
  const [a, b] = ['a'.repeat(2_100), 'b'.repeat(2_000)].map((text) => [...text]);
  const pairs = align(a!, b!);
  assert.deepEqual(
    [pairs.length, pairs[0], pairs.at(-1)],
    [2_100, { a: 0, b: 0 }, { a: 2_099, b: undefined }],
  );
});

test.run();

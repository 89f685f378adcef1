import * as assert from 'node:assert/strict';
import {
  MAX_STACK_BYTES,
  causesIn,
  foreignFrames,
  projectFrames,
  stackOf,
  userPlaceOf,
} from '../../../src/kernel/stack.ts';
import { suite } from '../../support/suite.ts';

const test = suite('kernel/stack');

test('a stack keeps its frames however long the message is, and ends at the limit', () => {
  const long = stackOf(new Error('x'.repeat(100_000))) ?? '';
  assert.match(long, /^Error: x+…\n +at .*stack\.test\.ts/);
  const error = new Error('many');
  error.stack = `Error: many\n${'    at f (/päth/file.ts:1:1)\n'.repeat(10_000)}`;
  const cut = stackOf(error) ?? '';
  assert.ok(Buffer.byteLength(cut) <= MAX_STACK_BYTES);
  assert.ok(cut.isWellFormed() && !cut.includes('\uFFFD'));
});

test('a thrown value without a stack, or with one that throws, has none', () => {
  const hostile = {
    get stack(): string {
      throw new Error('no');
    },
  };
  for (const thrown of ['text', null, undefined, 7, {}, hostile]) assert.equal(stackOf(thrown), undefined);
});

test('a stack has the causes of an error, and all errors that it stands for', () => {
  const both = new AggregateError([
    new Error('left', { cause: new Error('below') }),
    new RangeError('right'),
  ]);
  assert.deepEqual(causesIn(stackOf(both)!), ['Error: left', 'Error: below', 'RangeError: right']);
});

test('the place of a failure is its first frame outside of packages and of this program', () => {
  const own = new URL('../../../src/main.ts', import.meta.url).href;
  const stack = `Error: no
    at inner (/app/node_modules/lib/index.js:1:2)
    at ${own}:3:4
    at async Object.think (file:///app/src/agent%20x.ts:12:34)
    at outer (/app/src/other.ts:5:6)`;
  assert.deepEqual(userPlaceOf(stack), { file: '/app/src/agent x.ts', line: 12, column: 34 });
  assert.equal(userPlaceOf('Error: no\n    at node:internal/x:1:2'), undefined);
  const foreign = [
    'at inner (/app/node_modules/lib/index.js:1:2)',
    'at async Object.think (file:///app/src/agent%20x.ts:12:34)',
  ];
  assert.deepEqual(foreignFrames(stack, 2), foreign);
  assert.deepEqual(projectFrames(stack, 3), [
    'at async Object.think (file:///app/src/agent%20x.ts:12:34)',
    'at outer (/app/src/other.ts:5:6)',
  ]);
  assert.deepEqual(projectFrames('Error: no\n    at node:internal/x:1:2', 3), ['at node:internal/x:1:2']);
});

test.run();

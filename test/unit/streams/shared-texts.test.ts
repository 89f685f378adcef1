import assert from 'node:assert/strict';
import { createSharedTexts } from '../../../src/streams/shared-texts.ts';
import { suite } from '../../support/suite.ts';
import { collectGarbage } from '../../support/garbage.ts';

const test = suite('streams/shared-texts');

const LONG = 'ü'.repeat(100_000);

test('S3 given a long text, when it is asked for again under its key, then it is the same bytes, made once', () => {
  const texts = createSharedTexts();
  let made = 0;
  const ask = (key: string) =>
    texts.of(key, () => {
      made += 1;
      return `${LONG} ${key}`;
    });
  const first = ask('a');
  assert.ok(typeof first !== 'string');
  assert.equal(Buffer.from(first).toString(), `${LONG} a`);
  assert.equal(ask('a'), first);
  assert.equal(made, 1);
  assert.notEqual(ask('b'), first);
});

test('given a short text, then it stays a text and is not remembered', () => {
  const texts = createSharedTexts();
  assert.equal(
    texts.of('a', () => 'one'),
    'one',
  );
  assert.equal(
    texts.of('a', () => 'two'),
    'two',
  );
});

test('S3 given a long text that nobody has any more, then it is not kept', async () => {
  const texts = createSharedTexts();
  const seen = new WeakRef(texts.of('a', () => LONG) as Uint8Array);
  await collectGarbage();
  assert.equal(seen.deref(), undefined);
  const again = texts.of('a', () => `${LONG} again`) as Uint8Array;
  assert.equal(Buffer.from(again).toString(), `${LONG} again`);
});

test.run();

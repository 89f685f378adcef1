import * as assert from 'uvu/assert';
import { createRandom, seedFromEnv } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';

const test = suite('support/random');

const draw = (seed: number) => {
  const random = createRandom(seed);
  return Array.from({ length: 50 }, () => random.int(0, 1_000_000));
};

test('given the same seed, when numbers are drawn, then they are the same; another seed gives others', () => {
  assert.equal(draw(7), draw(7));
  assert.not.equal(draw(7), draw(8));
  assert.equal(draw(1).slice(0, 3), [627074, 2735, 527447]);
});

test('given a range, when integers are drawn, then both ends occur and nothing beyond', () => {
  const random = createRandom(1);
  const seen = new Set(Array.from({ length: 500 }, () => random.int(-2, 3)));
  assert.equal(
    [...seen].sort((a, b) => a - b),
    [-2, -1, 0, 1, 2, 3],
  );
});

test('given a probability, when chances are taken, then about that share succeeds; 0 never and 1 always', () => {
  const random = createRandom(2);
  const hits = (probability: number) =>
    Array.from({ length: 2_000 }, () => random.chance(probability)).filter(Boolean).length;
  assert.is(hits(0), 0);
  assert.is(hits(1), 2_000);
  const third = hits(0.3);
  assert.ok(third > 500 && third < 700, `${third} of 2000`);
});

test('given a list, when it is shuffled, then a copy holds the same items and every order occurs', () => {
  const random = createRandom(3);
  const list = ['a', 'b', 'c'] as const;
  const orders = new Set(Array.from({ length: 200 }, () => random.shuffle(list).join('')));
  assert.equal([...orders].sort(), ['abc', 'acb', 'bac', 'bca', 'cab', 'cba']);
  assert.equal(list, ['a', 'b', 'c']);
});

test('given a list, when items are picked, then each is picked sometimes, and an empty list is an error', () => {
  const random = createRandom(4);
  assert.is(new Set(Array.from({ length: 100 }, () => random.pick([1, 2, 3]))).size, 3);
  assert.throws(() => random.pick([]), /nothing to pick/);
});

test('given a length, when bytes are drawn, then so many come and they spread over the whole range', () => {
  const bytes = createRandom(5).bytes(5_000);
  assert.is(bytes.length, 5_000);
  assert.is(new Set(bytes).size, 256);
});

test('SEED in the environment is the seed, and nonsense is refused', () => {
  const before = process.env['SEED'];
  try {
    process.env['SEED'] = '42';
    assert.is(seedFromEnv(), 42);
    process.env['SEED'] = 'many';
    assert.throws(seedFromEnv, /SEED must be an integer/);
    delete process.env['SEED'];
    assert.ok(Number.isInteger(seedFromEnv()));
  } finally {
    if (before === undefined) delete process.env['SEED'];
    else process.env['SEED'] = before;
  }
});

test.run();

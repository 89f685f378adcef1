import assert from 'node:assert/strict';
import { openGate } from '../../../src/kernel/gate.ts';
import { suite } from '../../support/suite.ts';

const test = suite('kernel/gate');

test("callers beyond a gate's capacity enter in order as others finish or fail", async () => {
  const { enter } = openGate(3);
  const entered: number[] = [];
  let inside = 0;
  let most = 0;
  const work = (n: number) => async () => {
    entered.push(n);
    most = Math.max(most, ++inside);
    for (let turns = 0; turns < n % 4; turns++) await undefined;
    inside -= 1;
    if (n % 5 === 0) throw new RangeError(String(n));
    return n;
  };
  const ask = (from: number) => Array.from({ length: 50 }, (_, i) => enter(work(from + i)));
  const first = await Promise.allSettled(ask(0));
  const second = await Promise.allSettled(ask(50));
  assert.deepEqual(
    entered,
    Array.from({ length: 100 }, (_, i) => i),
  );
  assert.deepEqual([most, inside], [3, 0]);
  for (const [n, answer] of [...first, ...second].entries())
    assert.equal(
      answer.status === 'fulfilled' ? answer.value : answer.reason.message,
      n % 5 === 0 ? String(n) : n,
    );
});

test.run();

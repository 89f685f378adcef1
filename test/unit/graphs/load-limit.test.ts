import assert from 'node:assert/strict';
import type { GraphProblem } from '../../../src/graphs/loader.ts';
import { createLoadLimit } from '../../../src/graphs/pool/load-limit.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';

const test = suite('graphs/load-limit');

/** Of a module that had not loaded when its time was over. */
const LATE: GraphProblem = { graphId: 'a', file: '/a.ts', reason: 'it is slow', isLate: true };

/** The limits of workers that take so long one after the other, the next one's at last; undefined does not come up. */
async function limitsOf(times: readonly (number | undefined)[], isLate = false): Promise<number[]> {
  const clock = createManualClock();
  const limit = createLoadLimit(clock);
  const limits = [limit.ms];
  for (const ms of times) {
    let end: (how: Promise<{ problems: GraphProblem[] }>) => void = () => undefined;
    limit.watch(new Promise((resolve) => (end = resolve)));
    await clock.advance(ms ?? limit.ms);
    end(
      ms === undefined
        ? isLate
          ? Promise.resolve({ problems: [LATE] })
          : Promise.reject(new Error('it took too long'))
        : Promise.resolve({ problems: [] }),
    );
    await new Promise((resolve) => setImmediate(resolve));
    limits.push(limit.ms);
  }
  return limits;
}

test('X4 given a first worker that loads fast, when later ones load, then they have 10 s, whatever those before took', async () => {
  assert.deepEqual(await limitsOf([300, 9_000]), [120_000, 10_000, 10_000]);
});

test('given a first worker that is slow, when later ones load, then they have twenty times as long, and never more than the first', async () => {
  assert.deepEqual(await limitsOf([2_000]), [120_000, 40_000]);
  assert.deepEqual(await limitsOf([60_000]), [120_000, 120_000]);
});

test('given later workers that do not come up, when others are tried, then each has twice as long, until one comes up', async () => {
  const found = await limitsOf([300, undefined, undefined, undefined, undefined, undefined, 300]);
  assert.deepEqual(found, [120_000, 10_000, 20_000, 40_000, 80_000, 120_000, 120_000, 10_000]);
  assert.deepEqual(
    await limitsOf([300, undefined, undefined, 300], true),
    [120_000, 10_000, 20_000, 40_000, 10_000],
  );
});

test.run();

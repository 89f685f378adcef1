import * as assert from 'uvu/assert';
import { tendIdleMemory, type IdleMemoryOptions } from '../../../src/kernel/idle-memory.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';

const test = suite('kernel/idle-memory');

const LOOKS = 10;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function tend(options: Partial<IdleMemoryOptions>, looks = LOOKS): Promise<void> {
  const clock = createManualClock();
  const stop = tendIdleMemory({ clock, ...options });
  for (let i = 0; i < looks; i++) {
    await clock.advance(1_000);
    await nextTurn();
  }
  stop();
  assert.equal(clock.pending(), []);
}

const MIB = 2 ** 20;

async function collections(busy: () => number): Promise<number> {
  let count = 0;
  await tend({ busy, heapTotal: () => 40 * MIB, collect: () => count++ });
  return count;
}

test('given a thread, when it works all the time or rests for moments only, then nothing is collected', async () => {
  assert.is(await collections(() => 0.5), 0);
  let looks = 0;
  assert.is(await collections(() => (++looks % 2) / 2), 0);
});

test('given a thread that rests, when nothing has come since it was collected, then it is left in peace', async () => {
  assert.is(await collections(() => 0), 1);
});

test('an idle process collects garbage at once, or after a minute once it worked for seconds', async () => {
  const at: number[] = [];
  let looks = 0;
  let heapTotal = 40 * MIB;
  const busy = (): number => {
    looks += 1;
    // More than is worth a collection, each time.
    if (looks === 10 || looks === 24) heapTotal += 10 * MIB;
    return looks === 10 || (looks > 20 && looks <= 24) ? 0.9 : 0;
  };
  await tend({ busy, heapTotal: () => heapTotal, collect: () => at.push(looks) }, 100);
  assert.equal(at, [2, 10 + 2, 24 + 60]);
});

test('given a thread that rests, when its heap has hardly grown or is large, then it is left in peace', async () => {
  const sizes = [40 * MIB, 40 * MIB, 30 * MIB, 31 * MIB, 31 * MIB, 31 * MIB, 100 * MIB];
  const at: number[] = [];
  let looks = 0;
  const heapTotal = (): number => sizes[Math.min(looks++, sizes.length - 1)]!;
  await tend({ busy: () => 0, heapTotal, collect: () => at.push(looks) });
  assert.equal(at, [2]);
});

test('given garbage, when its thread rests, then it is gone', async () => {
  // Nothing else knows of it, so that it goes with the next collection.
  const garbage = new WeakRef(Array.from({ length: 1_000 }, (_, i) => ({ i })));
  await nextTurn();
  // Files that ran before may have left a large heap.
  await tend({ busy: () => 0, heapTotal: () => 40 * MIB });
  assert.is(garbage.deref(), undefined);
});

test.run();

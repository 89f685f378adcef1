import * as assert from 'node:assert/strict';
import { MessageChannel } from 'node:worker_threads';
import type { PackedWrites } from '../../../src/log/write-shapes.ts';
import {
  createCounters,
  helpWithWindows,
  stopHelping,
  writeWindows,
} from '../../../src/log/sqlite/rebuild-windows.ts';
import { suite } from '../../support/suite.ts';

const test = suite('log/sqlite, rebuild windows');

const COUNT = 20;
const packedOf = (window: number): PackedWrites => ({ shapes: [], order: [window], cells: [] });
const inOrder = Array.from({ length: COUNT }, (_, window) => window);

/** Writes all windows beside a helper that `before` was in the hands of the test; tells what happened. */
function run(
  before: (given: { counters: Int32Array; help(make?: (window: number) => PackedWrites): void }) => void,
): { written: number[]; made: number[]; helped: number } {
  const counters = createCounters();
  const { port1, port2 } = new MessageChannel();
  const [written, made]: [number[], number[]] = [[], []];
  try {
    before({ counters, help: (make = packedOf) => helpWithWindows(counters, port2, COUNT, make) });
    const helped = writeWindows({
      count: COUNT,
      make(window) {
        made.push(window);
        return packedOf(window);
      },
      write: ({ order }) => written.push(...order),
      helper: { counters, port: port1 },
      patienceMs: 1,
    });
    return { written, made, helped };
  } finally {
    port1.close();
    port2.close();
  }
}

test('P2 given windows that a helper made, when all are written, then in order and each once', () => {
  const { written, made, helped } = run(({ counters, help }) =>
    help((window) => {
      if (window === 2) stopHelping(counters);
      return packedOf(window);
    }),
  );
  assert.deepEqual(written, inOrder);
  assert.deepEqual(made, inOrder.slice(3));
  assert.equal(helped, 3);
});

test('P2 given a helper that died with a window in its hands, when all are written, then none is missing', () => {
  const { written, made } = run(({ counters }) => void Atomics.add(counters, 0, 2));
  assert.deepEqual(written, inOrder);
  assert.deepEqual(
    made.toSorted((a, b) => a - b),
    inOrder,
  );
});

test('P2 the writer meets the error of a window that its helper could not make', () => {
  const broken = (window: number): PackedWrites => {
    throw new Error(`window ${window}`);
  };
  const { written, made, helped } = run(({ counters, help }) =>
    help((window) => {
      stopHelping(counters);
      return broken(window);
    }),
  );
  assert.deepEqual([written, made, helped], [inOrder, inOrder, 0]);
  assert.throws(() => writeWindows({ count: COUNT, make: broken, write: () => undefined }), /window 0/);
});

test.run();

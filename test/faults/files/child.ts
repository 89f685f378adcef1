/**
 * A process of its own that has no file left to open: `idle` gives back memory meanwhile, `guard` is at it to find out
 * who has some. Prints what came of it, and ends badly with what nobody catches.
 */
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { createMemoryGuard } from '../../../src/graphs/pool/memory-guard.ts';
import { tendIdleMemory } from '../../../src/kernel/idle-memory.ts';
import { openWorkerMemory } from '../../../src/kernel/worker-memory.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const MB = 2 ** 20;
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function takeFiles(): () => void {
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync(devNull, 'r'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EMFILE') throw error;
  }
  return () => taken.forEach((file) => closeSync(file));
}

async function idle(): Promise<string> {
  const clock = createManualClock();
  let count = 0;
  const stop = tendIdleMemory({ clock, busy: () => 0, collect: () => count++ });
  const giveBack = takeFiles();
  for (let looks = 0; looks < 10; looks++) await clock.advance(1_000);
  stop();
  giveBack();
  return `collections: ${count}`;
}

async function guard(): Promise<string> {
  const memory = openWorkerMemory();
  const guard = createMemoryGuard(1, createManualClock(), memory, () => [], new Set());
  const ballast = Buffer.alloc(64 * MB, 1);
  guard.look();
  // It reads what the process has a moment later.
  const giveBack = takeFiles();
  for (let turns = 0; turns < 10; turns++) await nextTurn();
  giveBack();
  memory.close();
  return `ballast: ${ballast.length / MB}`;
}

console.log(await (process.argv[2] === 'idle' ? idle : guard)());

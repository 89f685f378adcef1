/** A process of its own that gives back memory while it has no file left to open. Prints how often it collected. */
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { tendIdleMemory } from '../../../src/kernel/idle-memory.ts';
import { createManualClock } from '../../support/manual-clock.ts';

function takeFiles(): () => void {
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync(devNull, 'r'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EMFILE') throw error;
  }
  return () => taken.forEach((file) => closeSync(file));
}

const clock = createManualClock();
let count = 0;
const stop = tendIdleMemory({ clock, busy: () => 0, collect: () => count++ });
const giveBack = takeFiles();
for (let looks = 0; looks < 10; looks++) await clock.advance(1_000);
stop();
giveBack();
console.log(`collections: ${count}`);

/**
 * Random lives of a few threads on a real log. `SEED` repeats a run; `MODEL_SEEDS` (30) and `MODEL_STEPS` (60) make
 * it longer. A failure prints the seed and all that was done.
 */
import assert from 'node:assert/strict';
import { seedFromEnv } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { withLog } from '../support/with-log.ts';
import { startLife } from './life.ts';

const test = suite('model/thread-fuzz');

function numberFromEnv(name: string, otherwise: number): number {
  const value = Number(process.env[name] ?? otherwise);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name} must be a whole number`);
  return value;
}

const LIVES = numberFromEnv('MODEL_SEEDS', 30);
const STEPS = numberFromEnv('MODEL_STEPS', 60);

const HAPPENS = [
  ...[
    'refused',
    'reopened',
    'ThreadDeleted',
    'StateUpdated',
    'RunCancelRequested',
    'ThreadPruned',
    'RunDeleted',
    'RunRequeued',
    'RunStarted again',
    'WebhookOwed',
  ],
  ...['success', 'error', 'cancelled', 'rolled-back', 'a checkpoint rolled back'],
];

test(
  'L2 L3 D3 X1 X2 X3 X5 P2 A4 W1 random commands with restarts keep every invariant',
  async () => {
    const first = seedFromEnv();
    const total: Record<string, number> = {};
    for (let seed = first; seed < first + LIVES; seed++)
      await withLog(async (given) => {
        const life = startLife(given, seed);
        try {
          for (let step = 0; step < STEPS; step++) await life.step();
          await given.past((history) => life.observer.verify(history));
        } catch (error) {
          console.error(`SEED=${seed} MODEL_SEEDS=1 MODEL_STEPS=${STEPS}\n${life.done.join('\n')}`);
          throw error;
        }
        for (const [name, count] of Object.entries(life.observer.counts))
          total[name] = (total[name] ?? 0) + count;
        assert.deepEqual(given.faults, []);
      });
    console.log(JSON.stringify(total));
    // One short life may well miss something; in thirty each is expected nine times and more.
    if (LIVES * STEPS >= 1_800)
      for (const name of HAPPENS) assert.ok((total[name] ?? 0) > 0, `"${name}" never happened`);
  },
  120_000 + LIVES * STEPS * 200,
);

test.run();

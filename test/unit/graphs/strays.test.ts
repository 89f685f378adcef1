import assert from 'node:assert/strict';
import { limitStrays } from '../../../src/graphs/pool/strays.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';

const test = suite('graphs/strays');

test('X4 given a flood of what nothing hears, when it goes on for seconds, then each second tells of a few, and of how many more there were', async () => {
  const clock = createManualClock();
  const heard: string[] = [];
  const tell = limitStrays((thrown, context) => heard.push(`${context}: ${String(thrown)}`), clock);
  for (let i = 0; i < 100_000; i++) tell(i, 'a run');
  assert.deepEqual(heard.splice(0), ['a run: 0', 'a run: 1', 'a run: 2', 'a run: 3', 'a run: 4']);
  await clock.advance(1_000);
  assert.deepEqual(heard.splice(0), ['graph code that nothing hears: Error: 99995 more within 1 s']);
  for (let i = 0; i < 5; i++) tell(i, 'another run');
  assert.equal(heard.splice(0).length, 5);
  await clock.advance(1_000);
  assert.deepEqual(heard, []);
  assert.deepEqual(clock.pending(), []);
});

test.run();

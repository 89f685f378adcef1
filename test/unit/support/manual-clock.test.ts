import * as assert from 'uvu/assert';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';

const test = suite('support/manual-clock');

test('given a manual clock, when nobody advances it, then time stands still and timers wait', async () => {
  const clock = createManualClock(1_000);
  let fired = false;
  clock.after(0, () => (fired = true));
  await new Promise((resolve) => setImmediate(resolve));
  assert.is(clock.now(), 1_000);
  assert.is(clock.monotonic(), 0);
  assert.is(fired, false);
  assert.equal(clock.pending(), [1_000]);
});

test('given timers set in any order, when time advances, then the due ones fire in order at their own time', async () => {
  const clock = createManualClock(0);
  const fired: string[] = [];
  for (const [name, ms] of Object.entries({ c: 30, a: 10, b: 20, late: 31 }))
    clock.after(ms, () => fired.push(`${name}@${clock.now()}`));
  clock.after(10, () => fired.push(`a2@${clock.now()}`));
  await clock.advance(30);
  assert.equal(fired, ['a@10', 'a2@10', 'b@20', 'c@30']);
  assert.equal(clock.pending(), [31]);
  assert.is(clock.now(), 30);
  assert.is(clock.monotonic(), 30);
});

test('one advance runs all due timers of a chain of promises and timers', async () => {
  const clock = createManualClock(0);
  const ticks: number[] = [];
  const tick = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await null;
    ticks.push(clock.now());
    clock.after(10, () => void tick());
  };
  void tick();
  await clock.advance(35);
  assert.equal(ticks, [0, 10, 20, 30]);
  assert.equal(clock.pending(), [40]);
});

test('given a timer of a fraction, when time advances, then it fires at a whole millisecond and not early', async () => {
  const clock = createManualClock(0);
  const fired: number[] = [];
  clock.after(9.2, () => fired.push(clock.now()));
  await clock.advance(9);
  assert.equal(fired, []);
  await clock.advance(1);
  assert.equal(fired, [10]);
});

test('given a cancelled timer, when time passes it, then it does not fire; cancelling again is harmless', async () => {
  const clock = createManualClock(0);
  const fired: string[] = [];
  const cancelB = clock.after(20, () => fired.push('b'));
  clock.after(10, () => {
    fired.push('a');
    cancelB();
  });
  await clock.advance(100);
  cancelB();
  assert.equal(fired, ['a']);
  assert.equal(clock.pending(), []);
});

test('given a timer that throws, when time passes it, then advance rejects', async () => {
  const clock = createManualClock(0);
  clock.after(-5, () => {
    throw new Error('boom');
  });
  const error: unknown = await clock.advance(0).catch((thrown: unknown) => thrown);
  assert.match(String(error), 'boom');
});

test.run();

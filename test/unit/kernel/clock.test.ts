import * as assert from 'uvu/assert';
import { dueTime, systemClock, toTimestamp } from '../../../src/kernel/clock.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';

const test = suite('kernel/clock');

test('given milliseconds, when they become a timestamp, then it has microseconds and an offset', () => {
  assert.is(toTimestamp(Date.UTC(2026, 10, 20, 23, 49, 50, 868)), '2026-11-20T23:49:50.868000+00:00');
  assert.is(toTimestamp(0), '1970-01-01T00:00:00.000000+00:00');
  assert.is(Date.parse(toTimestamp(1_234_567_890_123)), 1_234_567_890_123);
});

test('given a number that is no time, when it should become a timestamp, then that is an error', () => {
  assert.throws(() => toTimestamp(NaN), /Invalid time value/);
});

test('given the system clock, when timers are set, then each fires once and not before it is due', async () => {
  const clock = systemClock();
  let fired = 0;
  const early: number[] = [];
  const timers: Promise<void>[] = [];
  for (let i = 0; i < 300; i++) {
    // At any part of a millisecond.
    await new Promise((resolve) => setImmediate(resolve));
    const [ms, start] = [5 + i / 70, clock.monotonic()];
    const timer = new Promise<void>((resolve) =>
      clock.after(ms, () => {
        fired += 1;
        const missing = ms - (clock.monotonic() - start);
        if (missing >= 1) early.push(missing);
        resolve();
      }),
    );
    timers.push(timer);
  }
  await Promise.all(timers);
  assert.equal(early, []);
  assert.is(fired, 300);
  assert.ok(Math.abs(clock.now() - Date.now()) < 1_000);
});

test('given a delay beyond what Node allows or a cancelled timer, when the loop turns, then neither fires', async () => {
  const clock = systemClock();
  let fired = 0;
  const cancelFar = clock.after(2 ** 31 + 5, () => fired++);
  clock.after(0, () => fired++)();
  await new Promise((resolve) => setTimeout(resolve, 5));
  cancelFar();
  assert.is(fired, 0);
});

test('due time follows forward jumps of the wall clock and never goes back', async () => {
  const clock = createManualClock(1_000_000);
  const asked = [dueTime(clock)];
  for (const jump of [-5_000, 0, 20_000, -86_400_000, 3_000]) {
    clock.jump(jump);
    await clock.advance(1_000);
    asked.push(dueTime(clock));
  }
  assert.equal(asked, [1_000_000, 1_001_000, 1_002_000, 1_018_000, 1_019_000, 1_020_000]);
  // Each process has its own.
  assert.is(dueTime({ ...clock }), clock.now());
});

test.run();

import * as assert from 'node:assert/strict';
import type { Recorded } from '../../src/store/port/events.ts';
import { suite } from '../support/suite.ts';
import { DAY, history, make, MINUTE, next, quiet, SECOND, slot, START, withClock } from './cron-scene.ts';

const test = suite('conformance: crons and clocks that jump');

const replanned =
  (cronId: string) =>
  ({ type, data }: Recorded): boolean =>
    type === 'CronUpdated' && data.cronId === cronId;

test('one run catches up with the slots of a clock that went back by a day and forward by months', () =>
  withClock(async (s, clock) => {
    const cron = await make(s, '/runs/crons');
    for (const minutes of [1, 2]) {
      clock.leap(MINUTE);
      await slot(s, cron, minutes);
    }
    clock.leap(-DAY);
    for (let i = 0; i < 2; i++) {
      clock.leap(MINUTE);
      await quiet(s);
    }
    assert.deepEqual(await history(s, cron), ['+1', '+2']);
    // The start and the change trust the clock.
    await s.restart();
    await s.request('PATCH', `/runs/crons/${cron}`, { schedule: '*/1 * * * *' });
    const soonest = 3 - DAY / MINUTE + 2;
    assert.equal(Date.parse(String(await next(s, cron))), START + soonest * MINUTE);
    const months = 100 * DAY;
    clock.leap(DAY - 2 * MINUTE + months + 20 * SECOND);
    const last = 2 + months / MINUTE;
    await slot(s, cron, last);
    await quiet(s);
    assert.deepEqual(await history(s, cron), ['+1', '+2', `+${last}~${soonest}`]);
  }));

test('crons that a clock years ahead made and fired come again once it is right and the server starts', () =>
  withClock(async (s, clock) => {
    // Given a clock that is four years ahead, when crons are made, and one fires
    const years = 4 * 365 * DAY;
    clock.leap(years);
    const fired = await make(s, '/runs/crons');
    clock.leap(MINUTE);
    await slot(s, fired, years / MINUTE + 1);
    const [made, paused] = [await make(s, '/runs/crons'), await make(s, '/runs/crons', { enabled: false })];
    await s.stop();
    // When the clock is right at the next start, and one is enabled
    clock.leap(-years - MINUTE);
    await s.restart();
    await s.request('PATCH', `/runs/crons/${paused}`, { enabled: true });
    for (const cron of [fired, made]) await s.until(replanned(cron));
    for (const minutes of [1, 2]) {
      clock.leap(MINUTE);
      // Then all of them fire
      for (const cron of [fired, made, paused]) await slot(s, cron, minutes);
    }
    assert.deepEqual(await history(s, made), ['+1', '+2']);
    // A start that finds nothing wrong changes nothing; a stop waits until it has looked.
    for (let starts = 0; starts < 2; starts++) await s.restart();
    assert.equal((await s.events()).filter(replanned(made)).length, 1);
  }));

test.run();

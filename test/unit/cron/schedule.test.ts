import * as assert from 'node:assert/strict';
import { findScheduleProblem, findZoneProblem, lastSlots, nextSlot } from '../../../src/cron/schedule.ts';
import fc from '../../support/properties.ts';
import { suite } from '../../support/suite.ts';

const test = suite('cron: schedules');

const BERLIN = 'Europe/Berlin';
const at = (text: string): number => Date.parse(`${text}Z`);

function slots(schedule: string, timezone: string | null, after: string, until: string): string[] {
  const found: string[] = [];
  for (let slot = nextSlot({ schedule, timezone }, at(after)); slot !== null && slot <= at(until);) {
    found.push(new Date(slot).toISOString().slice(0, 19));
    slot = nextSlot({ schedule, timezone }, slot);
  }
  return found;
}

test('given five and six fields, names and lists, when slots are looked for, then each comes at its time', () => {
  const day = ['2026-01-05T00:00:00', '2026-01-06T00:00:00'] as const;
  assert.deepEqual(slots('0 9,17 * * MON-FRI', null, ...day), ['2026-01-05T09:00:00', '2026-01-05T17:00:00']);
  assert.deepEqual(slots('30 15 6 * * *', null, ...day), ['2026-01-05T06:15:30']);
  assert.deepEqual(slots('*/20 * * * * *', null, '2026-01-05T00:00:00', '2026-01-05T00:01:00'), [
    '2026-01-05T00:00:20',
    '2026-01-05T00:00:40',
    '2026-01-05T00:01:00',
  ]);
  // Both days, as cron has it, when neither is a star.
  assert.deepEqual(slots('0 0 13 * FRI', null, '2026-01-01T00:00:00', '2026-01-17T00:00:00'), [
    '2026-01-02T00:00:00',
    '2026-01-09T00:00:00',
    '2026-01-13T00:00:00',
    '2026-01-16T00:00:00',
  ]);
  assert.deepEqual(slots('0 0 29 2 *', null, '2026-01-01T00:00:00', '2033-01-01T00:00:00'), [
    '2028-02-29T00:00:00',
    '2032-02-29T00:00:00',
  ]);
  assert.equal(nextSlot({ schedule: '0 0 30 2 *', timezone: null }, 0), null);
});

test('names of schedules stand for their slots (official 5.2)', () => {
  // given: the first of January 2026, a Thursday
  for (const [schedule, slot] of [
    ['@hourly', '2026-01-01T01:00'],
    ['@daily', '2026-01-02T00:00'],
    ['@midnight', '2026-01-02T00:00'],
    ['@weekly', '2026-01-04T00:00'],
    ['@monthly', '2026-02-01T00:00'],
    ['@yearly', '2027-01-01T00:00'],
    ['@annually', '2027-01-01T00:00'],
  ] as const)
    assert.equal(
      nextSlot({ schedule, timezone: null }, at('2026-01-01T00:00:00')),
      at(`${slot}:00`),
      schedule,
    );
});

test('a time of day skipped when clocks go forward comes once, at the end of the gap', () => {
  const night = ['2026-03-28T12:00:00', '2026-03-30T12:00:00'] as const;
  assert.deepEqual(slots('30 2 * * *', BERLIN, ...night), ['2026-03-29T01:00:00', '2026-03-30T00:30:00']);
  assert.deepEqual(slots('10,30 2 * * *', BERLIN, ...night), [
    '2026-03-29T01:00:00',
    '2026-03-30T00:10:00',
    '2026-03-30T00:30:00',
  ]);
  assert.deepEqual(slots('0 3 * * *', BERLIN, ...night), ['2026-03-29T01:00:00', '2026-03-30T01:00:00']);
  assert.deepEqual(slots('0 0 0 * * *', 'America/Santiago', '2026-09-05T12:00:00', '2026-09-07T12:00:00'), [
    '2026-09-06T04:00:00',
    '2026-09-07T03:00:00',
  ]);
  assert.deepEqual(slots('*/30 * * * *', BERLIN, '2026-03-29T00:00:00', '2026-03-29T02:00:00'), [
    '2026-03-29T00:30:00',
    '2026-03-29T01:00:00',
    '2026-03-29T01:30:00',
    '2026-03-29T02:00:00',
  ]);
});

test('when clocks go back a time of day comes once, and hourly slots come in both hours', () => {
  const night = ['2026-10-24T12:00:00', '2026-10-26T12:00:00'] as const;
  assert.deepEqual(slots('30 2 * * *', BERLIN, ...night), ['2026-10-25T00:30:00', '2026-10-26T01:30:00']);
  assert.deepEqual(slots('0,30 2 * * *', BERLIN, ...night), [
    '2026-10-25T00:00:00',
    '2026-10-25T00:30:00',
    '2026-10-26T01:00:00',
    '2026-10-26T01:30:00',
  ]);
  assert.deepEqual(slots('30 * * * *', BERLIN, '2026-10-24T23:40:00', '2026-10-25T02:40:00'), [
    '2026-10-25T00:30:00',
    '2026-10-25T01:30:00',
    '2026-10-25T02:30:00',
  ]);
});

const SCHEDULES = [
  '*/7 * * * *',
  '30 2 * * *',
  '0,30 1-3 * * *',
  '15 */2 * * MON',
  '10 0 2 L * *',
  '0 0 29 2 *',
];
const ZONES = [null, BERLIN, 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'America/Santiago'];

test('slots searched before and after any moment are the same', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...SCHEDULES),
      fc.constantFrom(...ZONES),
      fc.integer({ min: at('2026-01-01T00:00:00'), max: at('2027-12-31T00:00:00') }),
      (schedule, timezone, now) => {
        const found = lastSlots({ schedule, timezone }, now, 5);
        assert.equal(found.length, 5);
        for (const [index, slot] of found.entries()) {
          const next = nextSlot({ schedule, timezone }, slot)!;
          if (index < 4) assert.equal(next, found[index + 1]);
          else assert.ok(slot <= now && next > now, `${slot} ${now} ${next}`);
          assert.equal(nextSlot({ schedule, timezone }, slot - 1), slot);
        }
      },
    ),
    { numRuns: 200 },
  );
});

test('hourly slots follow the local clock across daylight saving changes', () => {
  for (const [timezone, from] of [
    [BERLIN, '2026-03-28T22:00:00'],
    [BERLIN, '2026-10-24T22:00:00'],
    ['America/New_York', '2026-03-08T03:00:00'],
    ['America/New_York', '2026-11-01T03:00:00'],
    ['Australia/Lord_Howe', '2026-04-04T12:00:00'],
    ['Australia/Lord_Howe', '2026-10-03T12:00:00'],
    ['Asia/Kolkata', '2026-05-05T12:00:00'],
  ] as const) {
    const wall = new Intl.DateTimeFormat('en-GB', {
      timeZone: timezone,
      ...{ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
    });
    const until = new Date(at(from) + 8 * 3_600_000).toISOString().slice(0, 19);
    const wanted: string[] = [];
    for (let moment = at(from) + 60_000; moment <= at(until); moment += 60_000) {
      const [hour, minute] = wall.format(moment).split(':').map(Number);
      if (minute! % 20 === 5 && hour! % 2 === 0) wanted.push(new Date(moment).toISOString().slice(0, 19));
    }
    assert.deepEqual(slots('5/20 */2 * * *'.replace('5/20', '5,25,45'), timezone, from, until), wanted);
  }
});

test('given texts that are no schedule or no zone, when they are looked at, then the problem is told', () => {
  for (const schedule of ['* * * * *', '0 0 1 1 *', '*/5 9-17 * * MON-FRI', '1,2,3 * * * * *', '0 0 L * *'])
    assert.equal(findScheduleProblem(schedule), undefined, schedule);
  for (const schedule of [
    '',
    '* * * *',
    '* * * * * * *',
    '61 * * * *',
    ...['@reboot', '@never', '@', 'daily'],
    '? * * * *',
    '* * * * X',
    '*\t* * * *',
  ])
    assert.match(findScheduleProblem(schedule) ?? '', /^expected/, schedule);
  for (const zone of ['UTC', BERLIN, 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'])
    assert.equal(findZoneProblem(zone), undefined, zone);
  for (const zone of ['', 'Mars/Phobos', '+02:00', 'Europe/ Berlin', 'Z'])
    assert.match(findZoneProblem(zone) ?? '', /^expected/, zone);
});

test.run();

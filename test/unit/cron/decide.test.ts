import * as assert from 'node:assert/strict';
import { decide, findDueSlot, type CatchUp, type CronCommand } from '../../../src/cron/decide.ts';
import type { CronContent, CronEvent } from '../../../src/cron/events.ts';
import { canFollow, evolve, initial, type CronState, type LivingCron } from '../../../src/cron/state.ts';
import { scaled } from '../../support/scaled.ts';
import { suite } from '../../support/suite.ts';

const test = suite('cron: decisions');

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 0, 1);

const content = (more: Partial<CronContent> = {}): CronContent => ({
  ...{
    assistantId: 'a',
    threadId: null,
    schedule: '* * * * *',
    timezone: null,
    endTime: null,
    enabled: true,
  },
  ...{ onRunCompleted: 'delete', userId: null, payload: {}, metadata: {} },
  ...more,
});
const catchUp = (mode: CatchUp['mode'], limit = 100): CatchUp => ({ mode, limit });

function decided(
  command: CronCommand,
  state: CronState,
  now: number,
): { event: CronEvent; state: LivingCron } {
  const done = decide(command, state, now);
  assert.ok(done.ok, JSON.stringify(done));
  assert.ok(canFollow(state, done.event));
  const after = evolve(state, done.event);
  assert.ok(after.status === 'living');
  return { event: done.event, state: after };
}
const create = (more: Partial<CronContent> = {}, now = START): LivingCron =>
  decided({ type: 'CreateCron', cronId: 'c', content: content(more) }, initial, now).state;
const update = (state: LivingCron, changes: Partial<CronContent>, now: number): LivingCron =>
  decided({ type: 'UpdateCron', changes }, state, now).state;

/** Deals with everything that is due; `+minutes` is a run, `-minutes` a slot without one, `~minutes` what it stands for. */
function look(state: LivingCron, now: number, policy: CatchUp): { state: LivingCron; did: string[] } {
  const did: string[] = [];
  for (let due = findDueSlot(state, now, policy); due !== undefined; due = findDueSlot(state, now, policy)) {
    const by = due.runs ? { runId: 'r', threadId: 't' } : { reason: 'missed' };
    const minutes = (at: number): number => (at - START) / MINUTE;
    const since = due.since === null ? '' : `~${minutes(due.since)}`;
    did.push(`${due.runs ? '+' : '-'}${minutes(due.slot)}${since}`);
    ({ state } = decided({ type: 'TakeSlot', due, by }, state, now));
  }
  return { state, did };
}

test('each slot has one run, also when it is noticed a little late', () => {
  for (const mode of ['one', 'none', 'all'] as const) {
    let state = create();
    const all: string[] = [];
    for (let now = START; now <= START + 5 * MINUTE; now += 7_000) {
      const seen = look(state, now, catchUp(mode));
      state = seen.state;
      all.push(...seen.did);
    }
    assert.deepEqual(all, ['+1', '+2', '+3', '+4']);
  }
  const seconds = look(create({ schedule: '*/2 * * * * *' }), START + 6_500, catchUp('one'));
  assert.equal(seconds.did.length, 3);
});

test('after a downtime one run stands for all missed slots, or none, or each up to a cap', () => {
  const now = START + 10.5 * MINUTE;
  assert.deepEqual(look(create(), now, catchUp('one')).did, ['+10~1']);
  assert.deepEqual(look(create(), now, catchUp('none')).did, ['-10~1']);
  const all = Array.from({ length: 10 }, (_, i) => `+${i + 1}`);
  assert.deepEqual(look(create(), now, catchUp('all')).did, all);
  assert.deepEqual(look(create(), now, catchUp('all', 3)).did, ['+8~1', '+9', '+10']);
  // The newest one is not late.
  assert.deepEqual(look(create(), START + 10 * MINUTE, catchUp('none')).did, ['+10~1']);
  assert.deepEqual(look(create({ schedule: '0 * * * *' }), START + 61 * MINUTE, catchUp('one')).did, ['+60']);
});

test('given a clock that jumps by months, when it is looked at, then slots are not counted one by one', () => {
  const began = performance.now();
  const state = create({ schedule: '* * * * * *' });
  const { did } = look(state, START + 200 * DAY, catchUp('all', 50));
  assert.equal(did.length, 50);
  assert.ok(performance.now() - began < scaled(10_000));
});

test('given a clock that goes back, when slots come again, then none is dealt with twice', () => {
  const first = look(create(), START + 3 * MINUTE, catchUp('all'));
  assert.deepEqual(first.did, ['+1', '+2', '+3']);
  for (const now of [START, START - DAY, START + MINUTE, START + 3 * MINUTE])
    assert.deepEqual(look(first.state, now, catchUp('all')).did, []);
});

test('given a slot that is taken, when it is taken again, then it is refused', () => {
  const state = create();
  const due = findDueSlot(state, START + MINUTE, catchUp('one'))!;
  const by = { runId: 'r', threadId: 't' };
  const { state: after, event } = decided({ type: 'TakeSlot', due, by }, state, START);
  assert.deepEqual(decide({ type: 'TakeSlot', due, by }, after, START), {
    ok: false,
    refusal: { code: 'slot-taken' },
  });
  assert.equal(canFollow(after, event), false);
});

test('given an end, when it comes, then slots up to it have their runs and nothing is caught up after it', () => {
  const endTime = START + 2 * MINUTE;
  const punctual = look(create({ endTime }), START + MINUTE, catchUp('one'));
  assert.equal(punctual.state.nextAt, endTime);
  const last = look(punctual.state, endTime + 50, catchUp('one'));
  assert.deepEqual([last.did, last.state.nextAt], [['+2'], null]);
  for (const mode of ['one', 'none', 'all'] as const) {
    const late = look(create({ endTime }), START + HOUR, catchUp(mode));
    assert.deepEqual([late.did, late.state.nextAt], [['-2~1'], null], mode);
  }
  assert.equal(create({ endTime: START + 30_000 }).nextAt, null);
});

test('changes apart from the schedule keep a waiting slot; a pause skips the slots within it', () => {
  const late = START + 5 * MINUTE;
  const state = create();
  assert.equal(update(state, { metadata: { a: 1 } }, late).nextAt, START + MINUTE);
  assert.equal(update(state, { schedule: '* * * * *' }, late).nextAt, START + MINUTE);
  assert.equal(update(state, { schedule: '0 * * * *' }, late).nextAt, START + HOUR);
  assert.equal(
    update(state, { timezone: 'Asia/Kolkata', schedule: '0 6 * * *' }, late).nextAt,
    START + 30 * MINUTE,
  );
  assert.equal(update(state, { endTime: late + DAY }, late).nextAt, START + MINUTE);
  const paused = update(state, { enabled: false }, late);
  assert.equal(paused.nextAt, state.nextAt);
  assert.deepEqual(look(paused, late + DAY, catchUp('all')).did, []);
  assert.equal(update(paused, { enabled: true }, late + DAY).nextAt, late + DAY + MINUTE);
  const merged = update(
    create({ metadata: { a: 1, b: 1 }, payload: { input: 1, config: {} } }),
    {
      metadata: { b: 2 },
      payload: { input: 2 },
    },
    late,
  );
  assert.deepEqual(merged.content.metadata, { a: 1, b: 2 });
  assert.deepEqual(merged.content.payload, { input: 2, config: {} });
  const ended = look(create({ endTime: START + MINUTE }), START + MINUTE, catchUp('one')).state;
  assert.equal(update(ended, { endTime: null }, late).nextAt, late + MINUTE);
});

test('a plan of a clock that was ahead is made anew on a change, on enabling and at a start', () => {
  for (const ms of [3 * MINUTE, 3 * HOUR, DAY, 4 * 365 * DAY]) {
    const ahead = START + ms;
    // Given a cron that was made then, one that even fired then, and one whose end seemed to be past
    const made = create({}, ahead);
    const fired = look(made, ahead + MINUTE, catchUp('one')).state;
    assert.equal(fired.lastSlot, ahead + MINUTE);
    const over = look(create({ endTime: ahead }), ahead + MINUTE, catchUp('one')).state;
    assert.equal(over.nextAt, null);
    for (const state of [made, fired, over]) {
      // When the clock is right again
      const changed = update(state, { metadata: { a: 1 } }, START);
      const woken = update(update(state, { enabled: false }, START), { enabled: true }, START);
      const replanned = decided({ type: 'ReplanCron' }, state, START).state;
      // Then its slots come
      for (const after of [changed, woken, replanned]) {
        assert.equal(after.nextAt, START + MINUTE);
        const seen = look(after, START + 2 * MINUTE, catchUp('all'));
        assert.deepEqual(seen.did, ['+1', '+2']);
      }
    }
  }
});

test('a plan that fits the clock holds, also of a disabled cron', () => {
  const holds = { ok: false, refusal: { code: 'plan-holds' } };
  const replan = (state: CronState, now: number) => decide({ type: 'ReplanCron' }, state, now);
  const state = create({ schedule: '0 0 1 1 *' });
  assert.deepEqual(replan(state, START), holds);
  assert.deepEqual(replan(state, START + 400 * DAY), holds);
  assert.deepEqual(replan(create({ enabled: false }, START + 400 * DAY), START), holds);
  const over = create({ endTime: START + 30_000 });
  assert.deepEqual(replan(over, START), holds);
});

test('given a cron that is deleted or was never there, when anything is asked of it, then it is missing', () => {
  const deleted = evolve(create(), { type: 'CronDeleted', data: { cronId: 'c' } });
  const missing = { ok: false, refusal: { code: 'cron-missing' } };
  for (const state of [initial, deleted]) {
    assert.deepEqual(decide({ type: 'DeleteCron' }, state, START), missing);
    assert.deepEqual(decide({ type: 'UpdateCron', changes: {} }, state, START), missing);
  }
  const again = decide({ type: 'CreateCron', cronId: 'c', content: content() }, deleted, START);
  assert.deepEqual(again, { ok: false, refusal: { code: 'cron-exists' } });
});

test.run();

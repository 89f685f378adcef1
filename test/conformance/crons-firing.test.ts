import * as assert from 'node:assert/strict';
import type { Recorded } from '../../src/store/port/events.ts';
import { suite } from '../support/suite.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';
import {
  history,
  HOUR,
  make,
  MINUTE,
  next,
  quiet,
  SECOND,
  slot,
  START,
  withClock,
  type Fired,
  DAY,
} from './cron-scene.ts';
import { ended, leapingClock, newThread, startGated, textsOf, config } from './scene.ts';
import { sharedServer } from '../support/shared-server.ts';

const test = suite('conformance: crons as they fire');

test('L1 given a cron on a thread, when its slots come, then each has one run on it, made in one commit with the slot', () =>
  withClock(async (s, clock) => {
    const thread = await newThread(s, { metadata: { of: 'thread' } });
    const cron = await make(s, `/threads/${thread}/runs/crons`, { metadata: { of: 'cron', n: 1 } });
    for (const minutes of [1, 2, 3]) {
      clock.leap(MINUTE - 1);
      await quiet(s);
      assert.equal((await history(s, cron)).length, minutes - 1);
      clock.leap(1);
      const fired = (await slot(s, cron, minutes)) as Fired;
      await s.until(ended(fired.data.runId));
      const created = (await s.events()).find(
        ({ type, data }) => type === 'RunCreated' && data.runId === fired.data.runId,
      );
      assert.equal(created?.meta.commandId, fired.meta.commandId);
      const run = await s.client.runs.get(thread, fired.data.runId);
      const { of, n, cron_id: id } = run.metadata ?? {};
      assert.deepEqual({ of, n, id }, { of: 'cron', n: 1, id: cron });
      assert.equal(await next(s, cron), `2026-01-01T00:0${minutes + 1}:00.000000+00:00`);
    }
    assert.equal((await s.client.runs.list(thread)).length, 3);
    const { values } = await s.client.threads.get(thread);
    assert.deepEqual(textsOf(values), ['tick', 'echo: tick', 'tick', 'echo: tick', 'tick', 'echo: tick']);
  }));

test('given stateless crons, when they fire, then each run has a thread of its own, which goes with it or is kept', () =>
  withClock(async (s, clock) => {
    const gone = await make(s, '/runs/crons', { metadata: { n: 1 } });
    const kept = await make(s, '/runs/crons', { on_run_completed: 'keep', metadata: { n: 2 } });
    const threads: string[][] = [[], []];
    for (const minutes of [1, 2]) {
      clock.leap(MINUTE);
      for (const [index, cron] of [gone, kept].entries()) {
        const { data } = (await slot(s, cron, minutes)) as Fired;
        await s.until(ended(data.runId));
        threads[index]!.push(data.threadId);
      }
    }
    assert.equal(new Set(threads.flat()).size, 4);
    const found = await s.client.threads.search({ metadata: { cron_id: kept } });
    assert.deepEqual(found.map(({ thread_id: id }) => id).sort(), threads[1]!.sort());
    assert.deepEqual(textsOf(found[0]?.values), ['tick', 'echo: tick']);
    assert.equal(await s.client.threads.count({ metadata: { cron_id: gone } }), 0);
    await s.request('DELETE', `/runs/crons/${gone}`);
    // As with every stateless run, its frames can be read for a while.
    const isGone = async (): Promise<boolean> =>
      (await s.events()).some(
        ({ type, data }) => type === 'ThreadDeleted' && data.threadId === threads[0]![0],
      );
    await s.request('DELETE', `/runs/crons/${kept}`);
    clock.leap(2 * HOUR);
    // A sweep that was under way when the clock was moved makes room for the next one first.
    for (; !(await isGone()); clock.leap(MINUTE)) await quiet(s);
  }));

test('given a restart, when slots were missed meanwhile, then one run stands for them by default, and each slot has one at most', () =>
  withClock(async (s, clock) => {
    const thread = await newThread(s);
    const cron = await make(s, `/threads/${thread}/runs/crons`);
    clock.leap(MINUTE);
    await slot(s, cron, 1);
    await s.restart();
    await quiet(s);
    assert.deepEqual(await history(s, cron), ['+1']);
    await s.stop();
    clock.leap(10 * MINUTE + 30 * SECOND);
    await s.restart();
    await slot(s, cron, 11);
    await s.restart();
    await quiet(s);
    assert.deepEqual(await history(s, cron), ['+1', '+11~2']);
    clock.leap(30 * SECOND);
    await slot(s, cron, 12);
    assert.deepEqual(await history(s, cron), ['+1', '+11~2', '+12']);
    assert.equal((await s.client.runs.list(thread)).length, 3);
  }));

test('given crons that are paused, ended, changed or deleted, when their slots come, then these do not fire', () =>
  withClock(async (s, clock) => {
    const [paused, ending, moved, deleted, other] = [
      await make(s, '/runs/crons'),
      await make(s, '/runs/crons', { end_time: new Date(START + 2 * MINUTE).toISOString() }),
      await make(s, '/runs/crons'),
      await make(s, '/runs/crons'),
      await make(s, '/runs/crons'),
    ];
    const unborn = await make(s, '/runs/crons', { enabled: false });
    await s.request('PATCH', `/runs/crons/${paused}`, { enabled: false });
    await s.request('PATCH', `/runs/crons/${moved}`, { schedule: '0 12 * * *' });
    await s.request('DELETE', `/runs/crons/${deleted}`);
    for (const minutes of [1, 2, 3]) {
      clock.leap(MINUTE);
      await slot(s, other, minutes);
      if (minutes < 3) await slot(s, ending, minutes);
    }
    await s.request('PATCH', `/runs/crons/${paused}`, { enabled: true });
    clock.leap(MINUTE);
    await slot(s, paused, 4);
    await slot(s, other, 4);
    assert.deepEqual(await history(s, ending), ['+1', '+2']);
    assert.equal(await next(s, ending), null);
    assert.deepEqual(await history(s, paused), ['+4']);
    for (const cron of [moved, deleted, unborn]) assert.deepEqual(await history(s, cron), []);
  }));

test('given a thread that is busy, when crons on it fire, then one waits its turn and one that rejects leaves the slot with the reason', () =>
  withClock(async (s, clock) => {
    const thread = await newThread(s);
    const { open } = await startGated(s, thread);
    const waits = await make(s, `/threads/${thread}/runs/crons`);
    const rejects = await make(s, `/threads/${thread}/runs/crons`, { multitask_strategy: 'reject' });
    clock.leap(MINUTE);
    const fired = (await slot(s, waits, 1)) as Fired;
    const passed = await slot(s, rejects, 1);
    assert.ok(passed.type === 'CronSlotPassed');
    assert.match(passed.data.reason, /^409: Thread is already running/);
    assert.equal((await s.client.runs.get(thread, fired.data.runId)).status, 'pending');
    open();
    await s.until(ended(fired.data.runId));
    clock.leap(MINUTE);
    const second = (await slot(s, rejects, 2)) as Recorded;
    assert.ok(second.type === 'CronFired' || second.type === 'CronSlotPassed');
  }));

test('given a cron with a webhook, when its run ends, then the receiver hears of it', () =>
  withWebhookSink((sink) =>
    withClock(async (s, clock) => {
      const cron = await make(s, '/runs/crons', { webhook: sink.url('/cron'), metadata: { n: 7 } });
      clock.leap(MINUTE);
      const [request] = await sink.next(1);
      const body = JSON.parse(request!.body.toString('utf8')) as Record<string, unknown>;
      assert.equal(body['status'], 'success');
      const { assistant_id: _, ...metadata } = body['metadata'] as Record<string, unknown>;
      assert.deepEqual(metadata, { created_by: 'system', n: 7, cron_id: cron });
      assert.deepEqual(textsOf(body['values']), ['tick', 'echo: tick']);
      await s.until(({ type }) => type === 'WebhookDelivered');
    }),
  ));

test('given many crons of one slot, when it comes, then each fires once, however often the server looks', () =>
  withClock(async (s, clock) => {
    const crons = await Promise.all(Array.from({ length: 40 }, () => make(s, '/runs/crons')));
    clock.leap(MINUTE);
    await Promise.all(crons.map((cron) => slot(s, cron, 1)));
    clock.leap(SECOND);
    await quiet(s);
    for (const cron of crons) assert.deepEqual(await history(s, cron), ['+1']);
  }));

const clock = leapingClock();

const server = sharedServer(test, { config: config('platform.modes.json'), clock });

test('graph code knows its cron by settings and metadata, on each slot (official 5.2)', async () => {
  // given: a cron by the day, with settings and metadata of its own and a forged id
  const s = server();
  const thread = await newThread(s);
  const order = {
    ...{ assistant_id: 'tells', schedule: '@daily', input: {}, metadata: { of: 'cron' } },
    config: { tags: ['t'], configurable: { k: 1, cron_id: 'forged' } },
  };
  const { json: cron } = await s.request('POST', `/threads/${thread}/runs/crons`, order);
  assert.deepEqual(cron.payload.config.configurable, { k: 1, cron_id: cron.cron_id });
  for (const slot of [START + DAY, START + 2 * DAY]) {
    // when
    clock.leap(DAY);
    const fired = (await s.until(
      ({ type, data }) => type === 'CronFired' && data.cronId === cron.cron_id && data.slot === slot,
    )) as Fired;
    await s.until(ended(fired.data.runId));
    // then
    const { told } = (await s.request('GET', `/threads/${thread}/state`)).json.values;
    assert.deepEqual([told.configurable.k, told.configurable.cron_id], [1, cron.cron_id]);
    assert.equal(told.context.k, 1);
    assert.deepEqual([told.metadata.of, told.metadata.cron_id], ['cron', cron.cron_id]);
    const run = await s.client.runs.get(thread, fired.data.runId);
    assert.equal((run as any).kwargs.config.configurable.cron_id, cron.cron_id);
  }
});

const replanned =
  (cronId: string) =>
  ({ type, data }: Recorded): boolean =>
    type === 'CronUpdated' && data.cronId === cronId;

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

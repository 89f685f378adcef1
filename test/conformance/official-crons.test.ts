/** Crons; the numbers name sections of the official server's behaviour. */
import * as assert from 'node:assert/strict';
import { sharedServer } from '../support/shared-server.ts';
import { suite } from '../support/suite.ts';
import { DAY, START, type Fired } from './cron-scene.ts';
import { config, ended, leapingClock, newThread } from './scene.ts';

const test = suite('conformance: crons as the official server has them');
const clock = leapingClock();
const server = sharedServer(test, { config: config('platform.modes.json'), clock });

const at = (text: string): string => `${text}:00.000000+00:00`;

test('schedules have names, and a name that is none is refused (official 5.2)', async () => {
  // given: the first of January 2026, a Thursday
  const s = server();
  assert.equal(clock.now(), START);
  for (const [schedule, slot] of [
    ['@hourly', '2026-01-01T01:00'],
    ['@daily', '2026-01-02T00:00'],
    ['@midnight', '2026-01-02T00:00'],
    ['@weekly', '2026-01-04T00:00'],
    ['@monthly', '2026-02-01T00:00'],
    ['@yearly', '2027-01-01T00:00'],
    ['@annually', '2027-01-01T00:00'],
  ] as const) {
    // when
    const { json } = await s.request('POST', '/runs/crons', { assistant_id: 'tells', schedule });
    // then
    assert.deepEqual([json.schedule, json.next_run_date], [schedule, at(slot)]);
    await s.request('DELETE', `/runs/crons/${json.cron_id}`);
  }
  for (const schedule of ['@reboot', '@never', '@', 'daily']) {
    const { status, json } = await s.request('POST', '/runs/crons', { assistant_id: 'tells', schedule });
    assert.deepEqual([status, json.detail.startsWith('schedule: ')], [422, true], schedule);
  }
});

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

test.run();

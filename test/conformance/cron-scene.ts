/** Crons on a clock that leaps, and what became of their slots. */
import * as assert from 'node:assert/strict';
import type { Config } from '../../src/config/config.ts';
import type { Recorded } from '../../src/store/port/events.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { leapingClock, say } from './scene.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const START = Date.UTC(2026, 0, 1);
const MINUTELY = '* * * * *';

type Clock = ReturnType<typeof leapingClock>;
export type Fired = Extract<Recorded, { type: 'CronFired' }>;

export function withClock(
  use: (s: TestServer, clock: Clock) => Promise<void>,
  overrides: Partial<Config> = {},
) {
  const clock = leapingClock();
  return withServer({ clock, overrides }, (s) => use(s, clock));
}

export const make = async (s: TestServer, path: string, more: object = {}): Promise<string> => {
  const body = { assistant_id: 'echo', schedule: MINUTELY, input: say('tick'), ...more };
  const { status, json, text } = await s.request('POST', path, body);
  assert.equal(status, 200, text);
  return json.cron_id as string;
};
export const next = async (s: TestServer, cronId: string): Promise<unknown> =>
  (await s.request('GET', `/runs/crons/${cronId}`)).json.next_run_date;

/** Resolves when the cron is done with this slot, minutes after the start. */
export const slot = (s: TestServer, cronId: string, minutes: number): Promise<Recorded> =>
  s.until(
    ({ type, data }) =>
      (type === 'CronFired' || type === 'CronSlotPassed') &&
      data.cronId === cronId &&
      data.slot === START + minutes * MINUTE,
  );
/** `+minutes` is a run, `-minutes` a slot without one, `~minutes` the oldest that it stands for. */
export async function history(s: TestServer, cronId: string): Promise<string[]> {
  return (await s.events()).flatMap((event) => {
    if (event.type !== 'CronFired' && event.type !== 'CronSlotPassed') return [];
    if (event.data.cronId !== cronId) return [];
    const minutes = (at: number): number => (at - START) / MINUTE;
    const { slot, since } = event.data;
    const rest = since === null ? '' : `~${minutes(since)}`;
    return [`${event.type === 'CronFired' ? '+' : '-'}${minutes(slot)}${rest}`];
  });
}
/** Something else that came later is done: whatever was to happen before it has happened. */
export async function quiet(s: TestServer): Promise<void> {
  await s.client.runs.wait(null, 'echo', { input: say('later') });
}

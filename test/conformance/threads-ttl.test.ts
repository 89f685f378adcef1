import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/config.ts';
import type { Recorded } from '../../src/store/port/events.ts';
import { suite } from '../support/suite.ts';
import { withServer, PROJECT, type TestServer } from '../support/with-server.ts';
import { withTempDir } from '../support/temp-dir.ts';
import { ended, leapingClock, newThread, say, startGated, textsOf } from './scene.ts';

const test = suite('conformance: the time threads have to live');

const MINUTE = 60_000;
const byDefault = (strategy: 'delete' | 'keep-latest', minutes: number): Partial<Config> => ({
  threadTtl: { byDefault: { strategy, minutes }, sweepIntervalMinutes: 1, sweepLimit: 1000 },
});
const ttlOf = async (s: TestServer, id: string) =>
  (await s.request('GET', `/threads/${id}?include=ttl`)).json.ttl as
    { strategy: string; ttl_minutes: number; expires_at: string | null } | undefined;
const deleted =
  (id: string) =>
  ({ type, data }: Recorded): boolean =>
    type === 'ThreadDeleted' && data.threadId === id;
const pruned =
  (id: string) =>
  ({ type, data }: Recorded): boolean =>
    type === 'ThreadPruned' && data.threadId === id;
async function withLeaps(
  overrides: Partial<Config>,
  use: (s: TestServer, clock: ReturnType<typeof leapingClock>) => Promise<void>,
): Promise<void> {
  const clock = leapingClock();
  await withServer({ clock, overrides }, (s) => use(s, clock));
}

const history = async (s: TestServer, id: string) => (await s.client.threads.getHistory(id)).length;

test('client.threads.create: given a time to live, when it is over, then the thread is deleted and others stay', async () => {
  await withLeaps({}, async (s, clock) => {
    const { threads } = s.client;
    const { thread_id: id } = await threads.create({ ttl: 10 });
    const kept = await newThread(s);
    const longer = await newThread(s, { ttl: { ttl: 1000 } });
    assert.deepEqual(await ttlOf(s, id), {
      ...{ strategy: 'delete', ttl_minutes: 10, expires_at: '2026-01-01T00:10:00.000000+00:00' },
    });
    assert.equal(await ttlOf(s, kept), undefined);
    assert.equal('ttl' in (await threads.get(id)), false);
    clock.leap(9 * MINUTE);
    assert.equal((await s.request('GET', `/threads/${id}`)).status, 200);
    const gone = s.until(deleted(id));
    clock.leap(6 * MINUTE);
    await gone;
    assert.deepEqual(
      (await threads.search({ sortBy: 'created_at' })).map((t) => t.thread_id).sort(),
      [kept, longer].sort(),
    );
  });
});

test('client.threads.update: given a thread with a time to live, when it is set anew, then it counts from then on', async () => {
  await withLeaps({}, async (s, clock) => {
    const id = await newThread(s, { ttl: 10, metadata: { a: 1 } });
    clock.leap(4 * MINUTE);
    const patched = await s.client.threads.update(id, { ttl: { ttl: 30, strategy: 'keep_latest' } } as never);
    assert.deepEqual((patched as { metadata: unknown }).metadata, { a: 1 });
    const ttl = { strategy: 'keep_latest', ttl_minutes: 30, expires_at: '2026-01-01T00:34:00.000000+00:00' };
    assert.deepEqual(await ttlOf(s, id), ttl);
    await s.client.threads.update(id, { metadata: { b: 2 } });
    assert.deepEqual(await ttlOf(s, id), ttl);
    const minimal = await s.request(
      'PATCH',
      `/threads/${id}`,
      { metadata: { c: 3 } },
      { prefer: 'return=minimal' },
    );
    assert.deepEqual([minimal.status, minimal.text], [204, '']);
    assert.equal(
      await s.client.threads.update(id, { metadata: { d: 4 }, returnMinimal: true } as never),
      undefined,
    );
    assert.deepEqual((await s.client.threads.get(id)).metadata, { a: 1, b: 2, c: 3, d: 4 });
  });
});

test('given keep_latest by default, when it is over, then implicit threads too are pruned, and again only after the next run', async () => {
  await withLeaps(byDefault('keep-latest', 10), async (s, clock) => {
    const id = '0198aaaa-0000-7000-8000-000000000001';
    const run = () => s.client.runs.wait(id, 'agent', { input: say('hi'), ifNotExists: 'create' });
    await run();
    clock.leap(5 * MINUTE);
    await run();
    assert.equal((await ttlOf(s, id))?.expires_at, '2026-01-01T00:15:00.000000+00:00');
    const before = await s.client.threads.get(id);
    const gone = s.until(pruned(id));
    clock.leap(12 * MINUTE);
    await gone;
    assert.equal(await history(s, id), 1);
    assert.deepEqual(await s.client.threads.get(id), before);
    assert.deepEqual(await ttlOf(s, id), { strategy: 'keep_latest', ttl_minutes: 10, expires_at: null });
    clock.leap(60 * MINUTE);
    await run();
    assert.ok((await history(s, id)) > 1);
    const again = s.until((event) => pruned(id)(event) && event.meta.version > 20);
    clock.leap(12 * MINUTE);
    await again;
    assert.equal(await history(s, id), 1);
    const copy = await s.client.threads.copy(id);
    assert.equal((await ttlOf(s, copy.thread_id))?.ttl_minutes, 10);
    await s.client.runs.wait(null, 'echo', { input: {} });
  });
});

test('X5 given a busy thread whose time is over, when threads are swept, then it is passed over until its run has ended', async () => {
  await withLeaps(byDefault('delete', 10), async (s, clock) => {
    const [busy, idle] = [await newThread(s), await newThread(s)];
    const { runId, open } = await startGated(s, busy);
    const gone = s.until(deleted(idle));
    clock.leap(11 * MINUTE);
    await gone;
    assert.equal((await s.request('GET', `/threads/${busy}`)).json.status, 'busy');
    open();
    await s.until(ended(runId));
    assert.deepEqual(textsOf((await s.client.threads.get(busy)).values), ['gated', 'through: gated']);
    const then = s.until(deleted(busy));
    clock.leap(2 * MINUTE);
    await then;
  });
});

test('given checkpointer.ttl in the file, when it is loaded, then it is read, and wrong values are told', () =>
  withTempDir(async (dir) => {
    const load = (ttl: unknown) => {
      writeFileSync(
        join(dir, 'platform.json'),
        JSON.stringify({ graphs: { echo: `${PROJECT}functions.ts:echo` }, checkpointer: { ttl } }),
      );
      return loadConfig({}, {}, dir);
    };
    assert.deepEqual(load(undefined).threadTtl, {
      byDefault: null,
      sweepIntervalMinutes: 5,
      sweepLimit: 1000,
    });
    const { threadTtl, warnings } = load({
      ...{ strategy: 'keep_latest', default_ttl: 43200, sweep_interval_minutes: 0.5, sweep_limit: 7 },
    });
    assert.deepEqual(threadTtl, {
      ...{ byDefault: { strategy: 'keep-latest', minutes: 43200 }, sweepIntervalMinutes: 0.5, sweepLimit: 7 },
    });
    assert.deepEqual(
      warnings.filter((text) => text.includes('ttl')),
      [],
    );
    for (const wrong of [
      { strategy: 'x' },
      { default_ttl: 0 },
      { sweep_interval_minutes: '5' },
      { sweep_limit: 0 },
      5,
    ])
      assert.throws(() => load(wrong), /checkpointer\.ttl/, JSON.stringify(wrong));
  }));

test.run();

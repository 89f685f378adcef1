import * as assert from 'node:assert/strict';
import type { Cron } from '@langchain/langgraph-sdk';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, leapingClock, MISSING, newThread, say } from './scene.ts';

const test = suite('conformance: crons as records');

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const YEARLY = '0 0 1 1 *';
const NEXT_YEAR = '2027-01-01T00:00:00.000000+00:00';
/** What the client's types leave out. */
type Told = Cron & Record<string, unknown>;
const asCron = (answer: unknown): Told => answer as Told;

const withClock = (use: (s: TestServer, clock: ReturnType<typeof leapingClock>) => Promise<void>) => {
  const clock = leapingClock();
  return withServer({ clock }, (s) => use(s, clock));
};

test('client.crons.create: given everything a cron can be told, when it is made, then all of it is answered and kept', () =>
  withClock(async ({ client, request }) => {
    const asked = {
      input: say('hi'),
      config: { tags: ['t'], recursion_limit: 7, configurable: { a: 1 } },
      context: { b: 2 },
      interruptBefore: ['x'],
      interruptAfter: '*' as const,
      multitaskStrategy: 'reject' as const,
      durability: 'exit' as const,
      streamMode: ['values' as const],
      streamSubgraphs: true,
      streamResumable: true,
      webhook: 'https://example.com/hook?token=abcdefgh',
    };
    const made = asCron(
      await client.crons.create('echo', {
        ...asked,
        schedule: '30 8 * * MON-FRI',
        timezone: 'Europe/Berlin',
        endTime: '2026-06-01T00:00:00+02:00',
        enabled: true,
        onRunCompleted: 'keep',
        metadata: { team: 'a' },
      }),
    );
    const { assistant_id: assistant } = await client.assistants.get('echo');
    const { cron_id: id, payload, ...rest } = made;
    assert.deepEqual(rest, {
      assistant_id: assistant,
      thread_id: null,
      on_run_completed: 'keep',
      schedule: '30 8 * * MON-FRI',
      timezone: 'Europe/Berlin',
      end_time: '2026-05-31T22:00:00.000000+00:00',
      enabled: true,
      created_at: '2026-01-01T00:00:00.000000+00:00',
      updated_at: '2026-01-01T00:00:00.000000+00:00',
      next_run_date: '2026-01-01T07:30:00.000000+00:00',
      user_id: null,
      metadata: { team: 'a' },
    });
    assert.deepEqual(payload, {
      ...{ assistant_id: assistant, input: asked.input, context: asked.context },
      config: { ...asked.config, configurable: { ...asked.config.configurable, cron_id: id } },
      ...{ interrupt_before: ['x'], interrupt_after: '*', multitask_strategy: 'reject', durability: 'exit' },
      ...{ stream_mode: ['values'], stream_subgraphs: true, stream_resumable: true },
      ...{ schedule: '30 8 * * MON-FRI', timezone: 'Europe/Berlin', enabled: true },
      ...{ end_time: '2026-06-01T00:00:00+02:00', on_run_completed: 'keep', metadata: { team: 'a' } },
      // As in the records of runs.
      webhook: 'https://example.com/hook?token=***',
    });
    assert.deepEqual((await request('GET', `/runs/crons/${id}`)).json, made);
    const plain = asCron(await client.crons.create('echo', { schedule: YEARLY }));
    assert.deepEqual(
      [plain['on_run_completed'], plain['timezone'], plain.end_time, plain['enabled'], plain.metadata],
      ['delete', null, null, true, {}],
    );
    const none = await request('POST', '/runs/crons', { assistant_id: 'nothing', schedule: YEARLY });
    assert.equal(none.status, 404);
    assert.match(none.json.detail, /^No assistant found for "nothing"/);
  }));

test('client.crons.createForThread: given a thread, when a cron is made on it, then it is of that thread; a missing one is a 404', () =>
  withClock(async (s) => {
    const thread = await newThread(s);
    const made = asCron(await s.client.crons.createForThread(thread, 'echo', { schedule: YEARLY }));
    assert.deepEqual([made.thread_id, made['on_run_completed']], [thread, null]);
    assert.equal(made.next_run_date, NEXT_YEAR);
    await assert.rejects(s.client.crons.createForThread(MISSING, 'echo', { schedule: YEARLY }), /HTTP 404/);
    const alias = { assistant_id: 'echo', schedule: YEARLY, on_run_completed: 'keep' };
    const { json } = await s.request('POST', `/thread/${thread}/runs/crons`, alias);
    assert.deepEqual([json.thread_id, json.on_run_completed], [thread, null]);
    assert.equal(await s.client.crons.count({ threadId: thread }), 2);
  }));

test('client.crons.update: given a cron, when it is changed, then what was given replaces, metadata is merged, and the rest stays', () =>
  withClock(async ({ client, request }, clock) => {
    const { cron_id: id } = asCron(
      await client.crons.create('echo', {
        schedule: YEARLY,
        endTime: '2030-01-01T00:00:00Z',
        input: { n: 1 },
        config: { tags: ['t'] },
        metadata: { a: 1, b: 1 },
      }),
    );
    clock.leap(MINUTE);
    const patch = async (body: object) => (await request('PATCH', `/runs/crons/${id}`, body)).json as Told;
    const changed = asCron(await client.crons.update(id, { metadata: { b: 2 }, input: { n: 2 } }));
    assert.deepEqual(changed.metadata, { a: 1, b: 2 });
    const { assistant_id: own, ...payload } = changed.payload;
    assert.equal(own, changed.assistant_id);
    assert.deepEqual(payload, {
      ...{ schedule: YEARLY, end_time: '2030-01-01T00:00:00Z', input: { n: 2 }, metadata: { b: 2 } },
      config: { tags: ['t'], configurable: { cron_id: id } },
    });
    assert.deepEqual(
      [changed.next_run_date, changed.end_time, changed.updated_at],
      [NEXT_YEAR, '2030-01-01T00:00:00.000000+00:00', '2026-01-01T00:01:00.000000+00:00'],
    );
    const moved = await patch({ schedule: '0 12 * * *', timezone: 'America/New_York' });
    assert.equal(moved.next_run_date, '2026-01-01T17:00:00.000000+00:00');
    assert.equal((await patch({ schedule: null, timezone: null, enabled: null })).schedule, '0 12 * * *');
    const paused = await patch({ enabled: false });
    // The next slot stays to be seen (official 5.2).
    assert.deepEqual([paused['enabled'], paused.next_run_date], [false, moved.next_run_date]);
    assert.equal((await patch({ enabled: true })).next_run_date, '2026-01-01T17:00:00.000000+00:00');
    // No slot fits in.
    assert.equal((await patch({ end_time: '2026-01-01T16:00:00Z' })).next_run_date, null);
    assert.equal((await patch({ metadata: {} })).end_time, '2026-01-01T16:00:00.000000+00:00');
    const open = await patch({ end_time: null });
    assert.deepEqual([open.end_time, open.next_run_date], [null, '2026-01-01T17:00:00.000000+00:00']);
    const { assistant_id: other } = await client.assistants.create({ graphId: 'steps' });
    const given = await patch({ assistant_id: other, on_run_completed: 'keep' });
    assert.deepEqual([given['assistant_id'], given.payload.assistant_id], [other, other]);
    const past = await request('PATCH', `/runs/crons/${id}`, { end_time: '2026-01-01T00:00:30Z' });
    assert.deepEqual([past.status, past.json.detail.split(':')[0]], [422, 'end_time']);
    for (const [body, field] of [
      [{ schedule: '0 0 30 2 *' }, 'schedule'],
      [{ schedule: 'never' }, 'schedule'],
      [{ timezone: 'Mars/Phobos' }, 'timezone'],
      [{ webhook: 'ftp://example.com' }, 'webhook'],
    ] as const) {
      const { status, json } = await request('PATCH', `/runs/crons/${id}`, body);
      assert.deepEqual([status, json.detail.split(':')[0]], [422, field]);
    }
    const empty = await request('PATCH', `/runs/crons/${id}`, {});
    assert.deepEqual([empty.status, empty.json], [400, { detail: 'Request body cannot be empty' }]);
    assert.equal((await request('PATCH', `/runs/crons/${MISSING}`, { enabled: true })).status, 404);
    assert.equal((await request('PATCH', `/runs/crons/${id}`, { assistant_id: 'none' })).status, 404);
  }));

test('client.crons.delete: given a cron, when it is deleted, then it is gone for good with all its facts held', () =>
  withClock(async ({ client, request, events }) => {
    const made = asCron(
      await client.crons.create('echo', { schedule: YEARLY, input: { secret: 'canary-of-a-cron' } }),
    );
    await client.crons.update(made.cron_id, { enabled: false });
    await client.crons.delete(made.cron_id);
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { enabled: true } : undefined;
      assert.equal((await request(method, `/runs/crons/${made.cron_id}`, body)).status, 404, method);
    }
    assert.equal(await client.crons.count(), 0);
    const own = (await events()).filter(({ meta }) => meta.stream === `cron-${made.cron_id}`);
    assert.deepEqual(
      own.map(({ type, data }) => [type, data]),
      [['CronDeleted', { cronId: made.cron_id }]],
    );
    await assert.rejects(client.crons.delete(made.cron_id), /HTTP 404/);
  }));

test('client.crons.search and client.crons.count: given many crons, when they are looked for, then conditions, order, pages and fields are as asked', () =>
  withClock(async (s, clock) => {
    const { client, request } = s;
    const thread = await newThread(s);
    const ids: string[] = [];
    for (const [i, more] of [
      { schedule: '0 3 * * *', metadata: { team: 'a', n: [1, 2] } },
      { schedule: '0 2 * * *', metadata: { team: 'b' }, enabled: false },
      { schedule: '0 1 * * *', metadata: { team: 'a' }, endTime: '2026-03-01T00:00:00Z' },
    ].entries()) {
      ids.push(asCron(await client.crons.create(i === 1 ? 'steps' : 'echo', more)).cron_id);
      clock.leap(1_000);
    }
    const onThread = await client.crons.createForThread(thread, 'echo', { schedule: YEARLY });
    ids.push(asCron(onThread).cron_id);
    const [a, b, c, d] = ids as [string, string, string, string];
    const idsOf = (found: readonly unknown[]): string[] => found.map((each) => asCron(each).cron_id);
    const search = async (query: Parameters<typeof client.crons.search>[0]) =>
      idsOf(await client.crons.search(query));
    assert.deepEqual(await search({}), [d, c, b, a]);
    assert.deepEqual(await search({ assistantId: 'steps' }), [b]);
    assert.deepEqual(await search({ threadId: thread }), [d]);
    assert.deepEqual(await search({ enabled: false }), [b]);
    assert.deepEqual(await search({ metadata: { team: 'a' } }), [c, a]);
    assert.deepEqual(await search({ metadata: { n: [2] } }), [a]);
    assert.deepEqual(await search({ sortBy: 'next_run_date', sortOrder: 'asc' }), [c, b, a, d]);
    assert.deepEqual(await search({ sortBy: 'cron_id', sortOrder: 'asc' }), [a, b, c, d]);
    for (const sort_by of ['assistant_id', 'thread_id', 'end_time', 'updated_at'] as const)
      assert.equal((await request('POST', '/runs/crons/search', { sort_by })).json.length, 4);
    const page = await request('POST', '/runs/crons/search', {
      limit: 2,
      offset: 1,
      select: ['cron_id', 'now'],
    });
    const now = '2026-01-01T00:00:03.000000+00:00';
    assert.deepEqual(page.json, [
      { cron_id: c, now },
      { cron_id: b, now },
    ]);
    assert.deepEqual(
      [page.headers.get('x-pagination-total'), page.headers.get('x-pagination-next')],
      ['4', '3'],
    );
    const last = await request('POST', '/runs/crons/search', { offset: 3 });
    assert.deepEqual([last.json.length, last.headers.get('x-pagination-next')], [1, null]);
    assert.equal(await client.crons.count(), 4);
    assert.equal(await client.crons.count({ assistantId: 'echo', metadata: { team: 'a' } }), 2);
    assert.equal(await client.crons.count({ threadId: MISSING }), 0);
  }));

test('given crons of a thread and of an assistant, when these are deleted, then their crons go in the same commit and others stay', () =>
  withClock(async (s) => {
    const { client } = s;
    const thread = await newThread(s);
    const kept = asCron(await client.crons.create('echo', { schedule: YEARLY }));
    const { assistant_id: assistant } = await client.assistants.create({ graphId: 'echo' });
    const gone = [
      asCron(await client.crons.createForThread(thread, 'echo', { schedule: YEARLY })),
      asCron(await client.crons.create(assistant, { schedule: YEARLY })),
    ].map(({ cron_id: id }) => id);
    await client.threads.delete(thread);
    assert.equal(await client.crons.count(), 2);
    await client.assistants.delete(assistant);
    assert.deepEqual(
      (await client.crons.search()).map((each) => asCron(each).cron_id),
      [kept.cron_id],
    );
    const events = await s.events();
    for (const [index, type] of (['ThreadDeleted', 'AssistantDeleted'] as const).entries()) {
      const cause = events.find((event) => event.type === type);
      const tombstone = events.find(({ meta }) => meta.stream === `cron-${gone[index]}`);
      assert.equal(tombstone?.type, 'CronDeleted');
      assert.equal(tombstone?.meta.commandId, cause?.meta.commandId);
    }
  }));

test('given webhooks to this network, when they are not allowed, then a cron with one is refused as a run is', () =>
  withServer(
    { config: config('platform.modes.json'), env: { PLATFORM_ALLOW_PRIVATE_WEBHOOKS: '0' } },
    async (s) => {
      const graph = s.server.graphIds[0]!;
      const body = { assistant_id: graph, schedule: YEARLY, webhook: 'http://127.0.0.1:9/x' };
      const { status, json } = await s.request('POST', '/runs/crons', body);
      assert.deepEqual([status, json.detail.split(':')[0]], [422, 'webhook']);
      assert.equal(await s.client.crons.count(), 0);
    },
  ));

test('client.crons.update: given many changes at once, when each is answered, then with what it has changed', () =>
  withClock(async ({ client }) => {
    const { cron_id: id } = asCron(await client.crons.create('echo', { schedule: YEARLY, input: {} }));
    const schedules = Array.from({ length: 20 }, (_, hour) => `0 ${hour} 1 1 *`);
    const answers = await Promise.all(schedules.map((schedule) => client.crons.update(id, { schedule })));
    assert.deepEqual(
      answers.map((answer) => asCron(answer).schedule),
      schedules,
    );
  }));

test('given crons switched off, when anything is asked of them, then nothing is there and none starts a run', async () => {
  const clock = leapingClock();
  await withServer({ clock }, async (s) => {
    const thread = await newThread(s);
    const { json } = await s.request('POST', `/threads/${thread}/runs/crons`, {
      ...{ assistant_id: 'echo', schedule: '* * * * *' },
    });
    await s.restart({ http: { ...s.config.http, disabled: new Set(['crons']) } });
    for (const [method, path] of [
      ['POST', '/runs/crons'],
      ['POST', `/threads/${thread}/runs/crons`],
      ['GET', `/runs/crons/${json.cron_id}`],
      ['POST', '/runs/crons/search'],
    ] as const)
      assert.equal((await s.request(method, path, method === 'GET' ? undefined : {})).status, 404, path);
    assert.equal((await s.request('GET', '/info')).json.flags.crons, false);
    clock.leap(DAY);
    await s.client.runs.wait(thread, 'echo', { input: say('x') });
    assert.equal((await s.client.runs.list(thread)).length, 1);
    await s.restart();
    const fired = await s.until(({ type }) => type === 'CronFired');
    assert.ok(fired.type === 'CronFired' && fired.data.since !== null);
  });
});

test.run();

import * as assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { placesOf } from '../support/stored.ts';
import { suite } from '../support/suite.ts';
import { PROJECT, withServer, type TestServer } from '../support/with-server.ts';
import { config, ended, leapingClock, say, newThread } from './scene.ts';

const test = suite('conformance: crons and their makers');

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);
const MINUTELY = { assistant_id: 'sees', schedule: '* * * * *' };
const digest = (token: string): string => createHash('sha256').update(JSON.stringify(token)).digest('hex');

interface Scene {
  readonly s: TestServer;
  readonly clock: ReturnType<typeof leapingClock>;
  as(name: string, token?: string): Record<string, string>;
  /** What the handler was asked since the last time. */
  calls(): { event: string; by: string; value: Record<string, unknown> }[];
  /** From now on the handler does so when it is asked for this event; the result ends it. */
  steer(what: 'denies' | 'breaks', event: string): () => void;
}

function withScene(use: (scene: Scene) => Promise<void>, allowFaults = false): Promise<void> {
  const clock = leapingClock();
  const auth = { file: `${PROJECT}auth-crons.ts`, exportName: 'auth' };
  return withServer(
    { config: config('platform.auth.json'), overrides: { auth }, clock, allowFaults },
    async (s) => {
      const file = join(s.dir, 'calls');
      let read = 0;
      writeFileSync(file, '');
      await use({
        s,
        clock,
        as: (name, token = `canary-${name}`) => ({ 'x-name': name, 'x-token': token, 'x-calls': file }),
        calls() {
          const lines = readFileSync(file, 'utf8').trim().split('\n').slice(read);
          read += lines.length;
          return lines.map((line) => JSON.parse(line) as ReturnType<Scene['calls']>[number]);
        },
        steer(what, event) {
          const sign = `${file}.${what} ${event}`;
          writeFileSync(sign, '');
          return () => rmSync(sign);
        },
      });
    },
  );
}

const send = async (
  s: TestServer,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string>,
) => {
  const { status, json, text } = await s.request(method, path, body, headers);
  assert.ok(status < 300, `${method} ${path}: ${text}`);
  return json;
};
const done = (s: TestServer, cronId: string, minutes: number) =>
  s.until(
    ({ type, data }) =>
      (type === 'CronFired' || type === 'CronSlotPassed') &&
      data.cronId === cronId &&
      data.slot === START + minutes * MINUTE,
  );

/** The settings that a cron's runs get of the server. */
const settings = ({ cron_id }: { cron_id: string }) => ({ config: { configurable: { cron_id } } });

test('A1 given a handler, when crons are made, read, changed, found and deleted, then it is asked for each with what it is about (official 4)', () =>
  withScene(async ({ s, as, calls }) => {
    const alice = as('alice');
    const { thread_id: thread } = await send(s, 'POST', '/threads', {}, alice);
    const own = { graph_id: 'echo' };
    const { assistant_id: assistant } = await send(s, 'POST', '/assistants', own, alice);
    calls();
    const asked = { schedule: '0 0 1 1 *', input: { n: 1 }, end_time: '2030-01-01', metadata: { m: 1 } };
    const path = `/threads/${thread}/runs/crons`;
    const made = await send(s, 'POST', path, { ...asked, assistant_id: assistant }, alice);
    assert.deepEqual([made.user_id, made.metadata], ['alice', { m: 1, owner: 'alice' }]);
    const [read, create, ofThread, ...none] = calls();
    assert.deepEqual(none, []);
    assert.deepEqual([read?.event, read?.value], ['assistants:read', { assistant_id: assistant }]);
    assert.deepEqual([ofThread?.event, ofThread?.value], ['threads:read', { thread_id: thread }]);
    assert.deepEqual(create, {
      event: 'crons:create',
      by: 'alice',
      value: {
        ...{ cron_id: made.cron_id, thread_id: thread, user_id: 'alice', schedule: asked.schedule },
        ...{ end_time: made.end_time, payload: { ...asked, assistant_id: assistant, ...settings(made) } },
        metadata: { m: 1 },
      },
    });
    const url = `/runs/crons/${made.cron_id}`;
    for (const [method, at, body, event, value, ...ofThreads] of [
      ['GET', url, undefined, 'crons:read', { cron_id: made.cron_id }],
      [
        'PATCH',
        url,
        { schedule: '0 0 2 1 *', input: 1 },
        'crons:update',
        {
          ...{ cron_id: made.cron_id, schedule: '0 0 2 1 *', metadata: {} },
          ...{ end_time: null, enabled: null, on_run_completed: null },
          payload: { schedule: '0 0 2 1 *', input: 1 },
        },
      ],
      [
        'PATCH',
        url,
        { end_time: '2031-01-01T00:00:00Z', enabled: false, on_run_completed: 'keep', metadata: { z: 1 } },
        'crons:update',
        {
          ...{ cron_id: made.cron_id, schedule: null, end_time: '2031-01-01T00:00:00.000000+00:00' },
          ...{ enabled: false, on_run_completed: 'keep', metadata: { z: 1 } },
          payload: {
            ...{ end_time: '2031-01-01T00:00:00Z', enabled: false, on_run_completed: 'keep' },
            metadata: { z: 1 },
          },
        },
      ],
      [
        'POST',
        '/runs/crons/search',
        { thread_id: thread, metadata: { z: 1 } },
        'crons:search',
        { assistant_id: null, thread_id: thread, metadata: { z: 1 }, limit: 10, offset: 0 },
        { event: 'threads:read', by: 'alice', value: { thread_id: thread } },
      ],
      [
        'POST',
        '/runs/crons/count',
        { assistant_id: assistant },
        'crons:search',
        { assistant_id: assistant, thread_id: null, metadata: {}, limit: 0, offset: 0 },
        { event: 'threads:search', by: 'alice', value: {} },
      ],
      ['DELETE', url, undefined, 'crons:delete', { cron_id: made.cron_id }],
    ] as const) {
      await send(s, method, at, body, alice);
      assert.deepEqual(calls(), [{ event, by: 'alice', value }, ...ofThreads]);
    }
  }));

test('A2 A4 given crons of two users, when they fire, then the handler is asked for each as its maker, and only the graph has the secrets', () =>
  withScene(async ({ s, clock, as, calls }) => {
    const crons = new Map<string, string>();
    for (const name of ['alice', 'bob']) {
      const body = { ...MINUTELY, on_run_completed: 'keep', input: say('x') };
      crons.set(name, (await send(s, 'POST', '/runs/crons', body, as(name))).cron_id);
    }
    // Kept over a restart, and not in what anybody can read.
    await s.restart();
    calls();
    clock.leap(MINUTE);
    for (const [name, cron] of crons) {
      const fired = await done(s, cron, 1);
      assert.ok(fired.type === 'CronFired');
      await s.until(ended(fired.data.runId));
      const { threadId: thread } = fired.data;
      const { values } = await send(s, 'GET', `/threads/${thread}`, undefined, as(name));
      assert.deepEqual(
        [values.identity, values.secret, values.user_id],
        [name, digest(`canary-${name}`), name],
      );
      const other = name === 'alice' ? 'bob' : 'alice';
      assert.equal((await s.request('GET', `/threads/${thread}`, undefined, as(other))).status, 404);
      assert.equal(await s.server.log.payloads.secret(fired.data.runId), undefined);
    }
    const asked = calls().filter(({ event }) => event === 'threads:create_run');
    assert.deepEqual(asked.map(({ by }) => by).sort(), ['alice', 'bob']);
    for (const { by, value } of asked)
      assert.deepEqual(value['metadata'], { owner: by, cron_id: crons.get(by) });
    // A newer secret of the maker counts from then on; somebody else's never does.
    const alices = crons.get('alice')!;
    await send(s, 'PATCH', `/runs/crons/${alices}`, { metadata: { m: 1 } }, as('alice', 'canary-new'));
    assert.equal(
      (await s.request('PATCH', `/runs/crons/${alices}`, { enabled: true }, as('bob'))).status,
      404,
    );
    clock.leap(MINUTE);
    const second = await done(s, alices, 2);
    assert.ok(second.type === 'CronFired');
    await s.until(ended(second.data.runId));
    const { values } = await send(s, 'GET', `/threads/${second.data.threadId}`, undefined, as('alice'));
    assert.equal(values.secret, digest('canary-new'));
    const fired = await done(s, crons.get('bob')!, 2);
    assert.ok(fired.type === 'CronFired');
    await s.until(ended(fired.data.runId));
    assert.ok(!JSON.stringify(await s.events()).includes('canary-'));
    for (const [name, cron] of crons) {
      assert.ok((await s.server.log.payloads.cronSecret(cron))?.includes('canary-'));
      await send(s, 'DELETE', `/runs/crons/${cron}`, undefined, as(name));
      assert.equal(await s.server.log.payloads.cronSecret(cron), undefined);
    }
    await s.stop();
    assert.deepEqual(await placesOf(s, 'canary-'), []);
  }));

test('A2 given a maker who may no more, when the cron fires, then the slot is left with the reason and the next one is asked anew', () =>
  withScene(async ({ s, clock, as, steer }) => {
    const { thread_id: thread } = await send(s, 'POST', '/threads', {}, as('alice'));
    const { cron_id: cron } = await send(s, 'POST', `/threads/${thread}/runs/crons`, MINUTELY, as('alice'));
    const end = steer('denies', 'threads:create_run');
    clock.leap(MINUTE);
    const passed = await done(s, cron, 1);
    assert.ok(passed.type === 'CronSlotPassed');
    assert.equal(passed.data.reason, '403: Not any more');
    assert.equal((await send(s, 'GET', `/threads/${thread}/runs`, undefined, as('alice'))).length, 0);
    end();
    clock.leap(MINUTE);
    assert.equal((await done(s, cron, 2)).type, 'CronFired');
  }));

test('given a handler that is out of order, when crons fire, then the slot waits for it, is tried again later, and others go on', () =>
  withScene(async ({ s, clock, as, steer }) => {
    const { cron_id: cron } = await send(s, 'POST', '/runs/crons', MINUTELY, as('alice'));
    const end = steer('breaks', 'threads:create_run');
    clock.leap(MINUTE);
    while (s.faults.length === 0) await s.request('GET', '/ok');
    end();
    // Held for some seconds of the clock that does not jump.
    for (let i = 0; i < 20 && (await s.events()).every(({ type }) => type !== 'CronFired'); i++) {
      clock.leap(500);
      await send(s, 'POST', '/runs/wait', { assistant_id: 'echo' }, as('alice'));
    }
    const fired = await done(s, cron, 1);
    assert.equal(fired.type, 'CronFired');
    assert.ok(fired.meta.at >= START + MINUTE + 5_000);
    assert.ok(s.faults.length > 0);
  }, true));

test('crons on threads are found with their threads (official 4, A2)', () =>
  withServer(
    {
      config: config('platform.auth.json'),
      overrides: { auth: { file: `${PROJECT}auth-variants.ts`, exportName: 'steered' } },
    },
    async (s) => {
      // given: crons on threads of two owners, and one without a thread
      const cronOn = async (owner: string) => {
        const thread = await newThread(s, { metadata: { owner } });
        const body = { assistant_id: 'sees', schedule: '0 0 1 1 *' };
        const { json } = await s.request('POST', `/threads/${thread}/runs/crons`, body);
        return [thread, json.cron_id];
      };
      const [[, mine], [theirs, foreign]] = [await cronOn('alice'), await cronOn('bob')];
      const free = { assistant_id: 'sees', schedule: '0 0 1 1 *' };
      const { cron_id: own } = (await s.request('POST', '/runs/crons', free)).json;
      // when: the handler restricts threads and says nothing about crons
      const scoped = async (path: string, body: object = {}) =>
        (await s.request('POST', path, body, { 'x-verdict': 'scopes threads' })).json;
      // then
      const found = (await scoped('/runs/crons/search')).map((cron: { cron_id: string }) => cron.cron_id);
      assert.deepEqual(found.sort(), [mine, own].sort());
      assert.equal(await scoped('/runs/crons/count'), 2);
      assert.deepEqual(await scoped('/runs/crons/search', { thread_id: theirs }), []);
      assert.equal((await s.request('POST', '/runs/crons/count', {})).json, 3, foreign);
    },
  ));

test.run();

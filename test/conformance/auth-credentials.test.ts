import * as assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isStudioUser } from '@langchain/langgraph-sdk/auth';
import { WebSocket } from 'ws';
import { suite } from '../support/suite.ts';
import { PROJECT, withServer, type TestServer, type TestServerOptions } from '../support/with-server.ts';
import { config, leapingClock, MISSING, say } from './scene.ts';

const test = suite('conformance: keys, studios, caches and the end of credentials');

const SESSIONS: TestServerOptions = {
  config: config('platform.auth.json'),
  overrides: { auth: { file: `${PROJECT}auth-sessions.ts`, exportName: 'auth' } },
};
const statusOf = async (s: TestServer, headers: Record<string, string>) =>
  (await s.request('GET', '/threads', undefined, headers)).status;

test('given several API keys, when any of them is sent, then it opens, and neither the list nor a part of it does', () =>
  withServer({ env: { PLATFORM_API_KEY: 'key-one, key-two' } }, async (s) => {
    for (const [key, status] of [
      ...[['key-one', 200] as const, ['key-two', 200] as const],
      ...['key-one, key-two', 'key-one,', 'key', '', ',', 'KEY-ONE'].map((wrong) => [wrong, 401] as const),
    ])
      assert.equal(await statusOf(s, { 'x-api-key': key }), status, key);
  }));

test('given a studio key, when the studio calls, then only that key makes it a user, whom handlers restrict like any', () =>
  withServer({ ...SESSIONS, env: { PLATFORM_STUDIO_KEY: 'studio-one,studio-two' } }, async (s) => {
    const studio = { 'x-auth-scheme': 'langsmith' };
    const alice = { 'x-name': 'alice' };
    const made = await s.request('POST', '/threads', {}, alice);
    for (const key of ['studio-one', 'studio-two']) {
      assert.equal(await statusOf(s, { ...studio, 'x-api-key': key }), 200);
      const path = `/threads/${made.json.thread_id}`;
      assert.equal((await s.request('GET', path, undefined, { ...studio, 'x-api-key': key })).status, 404);
    }
    for (const headers of [{}, { 'x-api-key': '' }, { 'x-api-key': 'studio-on' }, alice]) {
      const answer = await s.request('GET', '/threads', undefined, { ...studio, ...headers });
      assert.deepEqual([answer.status, answer.json], [401, { detail: 'Invalid or missing studio key' }]);
    }
    // The key alone is no credential.
    assert.equal(await statusOf(s, { 'x-api-key': 'studio-one' }), 401);
    const run = { assistant_id: 'sees', input: {} };
    const { json } = await s.request('POST', '/runs/wait', run, { ...studio, 'x-api-key': 'studio-one' });
    assert.ok(isStudioUser({ identity: json.identity } as never), JSON.stringify(json));
  }));

test('given no studio key, or one with disable_studio_auth, when anybody calls as the studio, then it counts for nothing', async () => {
  const studio = { 'x-auth-scheme': 'langsmith', 'x-api-key': 'studio-one' };
  await withServer(SESSIONS, async (s) => {
    assert.equal(await statusOf(s, studio), 401);
    assert.equal(await statusOf(s, { ...studio, 'x-name': 'alice' }), 200);
  });
  await withServer({ env: { PLATFORM_STUDIO_KEY: 'studio-one' } }, async (s) => {
    assert.equal(s.config.studioKeys, undefined);
    assert.match(s.config.warnings.join(), /PLATFORM_STUDIO_KEY has no effect/);
  });
});

test('given a cache of callers, when they come again, then the handler is asked anew only after the time, for others, and after errors', () => {
  const clock = leapingClock();
  const overrides = {
    ...SESSIONS.overrides,
    authCache: { keys: ['x-name', 'x-exp'], ttlMs: 60_000, maxEntries: 2 },
  };
  return withServer({ ...SESSIONS, overrides, clock, allowFaults: true }, async (s) => {
    const calls = join(s.dir, 'calls');
    writeFileSync(calls, '');
    const asked = () => readFileSync(calls, 'utf8').trim().split('\n').join(' ');
    const ask = (name: string, exp?: object) =>
      statusOf(s, { 'x-calls': calls, 'x-name': name, ...(exp && { 'x-exp': JSON.stringify(exp) }) });
    for (const name of ['a', 'a', 'b', 'a']) assert.equal(await ask(name), 200);
    assert.equal(asked(), 'a b');
    clock.leap(59_000);
    await ask('a');
    assert.equal(asked(), 'a b', 'within its time');
    clock.leap(1_000);
    await ask('a');
    assert.equal(asked(), 'a b a', 'its time is over');
    for (const name of ['c', 'b', 'c', 'b']) await ask(name);
    assert.equal(asked(), 'a b a c b', 'two are remembered');
    await ask('a');
    assert.equal(asked(), 'a b a c b a', 'who was not seen for the longest time was forgotten');
    assert.deepEqual([await ask('breaks'), await ask('breaks')], [500, 500]);
    assert.equal(asked(), 'a b a c b a breaks breaks', 'errors are not remembered');
    // Nobody in particular: no header that tells callers apart.
    for (let i = 0; i < 2; i++) assert.equal(await statusOf(s, { 'x-calls': calls }), 401);
    assert.equal(asked().split(' ').length, 10);
    const exp = { exp: (clock.now() + 10_000) / 1000 };
    assert.deepEqual([await ask('d', exp), await ask('d', exp)], [200, 200]);
    assert.equal(asked().split(' ').length, 11);
    clock.leap(10_000);
    assert.equal(await ask('d', exp), 401, 'the cache keeps nobody longer than their credentials');
  });
});

test('given auth.cache of the file, when it is read, then names are lower case and what is left out has a default', () =>
  withServer({ config: config('platform.sessions.json') }, async (s) => {
    assert.deepEqual(s.config.authCache, { keys: ['x-name', 'x-exp'], ttlMs: 60_000, maxEntries: 1000 });
    assert.deepEqual(s.config.warnings, []);
  }));

test('given users with an end of their credentials, when it is over or cannot be read, then they are denied (A2)', () =>
  withServer({ ...SESSIONS, clock: leapingClock(), allowFaults: true }, async (s) => {
    // The clock stands at the first of January 2026.
    for (const [exp, status] of [
      ['{"exp":1767225600}', 401],
      ['{"exp":1767225601}', 200],
      ['{"exp":1767225600001}', 200],
      ['{"expires_at":"2026-01-01T00:00:00Z"}', 401],
      ['{"expires_at":"2026-01-01T01:00:00+00:30"}', 200],
      ['{"expires_at":"2026-01-02","exp":1}', 401],
      ['{"exp":null,"expires_at":null}', 200],
      ...['"soon"', 'true', '-1', '[]', '{}', '"1767225601"', '"2026-13-01"'].map((each) => [
        `{"exp":${each}}`,
        500,
      ]),
    ] as [string, number][])
      assert.equal(await statusOf(s, { 'x-name': 'alice', 'x-exp': exp }), status, exp);
  }));

/** Resolves when the connection was cut. */
async function isCut(response: Response): Promise<boolean> {
  try {
    await response.text();
    return false;
  } catch {
    return true;
  }
}

test('given open streams of every kind, when the credentials of their readers end, then they break off, others go on, and nothing comes back', () => {
  const clock = leapingClock();
  return withServer({ ...SESSIONS, clock }, async (s) => {
    const mine = { 'x-name': 'alice' };
    const exp = (clock.now() + 60_000) / 1000;
    const until = { ...mine, 'x-exp': JSON.stringify({ exp }), 'content-type': 'application/json' };
    const gate = join(s.dir, 'gate');
    const thread = (await s.request('POST', '/threads', {}, mine)).json.thread_id as string;
    const body = { assistant_id: 'gate', input: say('x'), config: { configurable: { gate } } };
    const { run_id: run } = (await s.request('POST', `/threads/${thread}/runs`, body, mine)).json;
    await s.until(({ type, data }) => type === 'CheckpointSaved' && data.runId === run);
    const open = (method: string, path: string, asked?: object) =>
      fetch(s.url + path, { method, headers: until, ...(asked && { body: JSON.stringify(asked) }) });
    const path = `/threads/${thread}`;
    const later = { ...body, multitask_strategy: 'enqueue' };
    const streams = await Promise.all([
      open('GET', `${path}/runs/${run}/stream`),
      open('GET', `/runs/${run}/stream`),
      open('GET', `${path}/runs/${run}/join`),
      open('GET', `/runs/${run}/join`),
      open('GET', `${path}/stream`),
      open('POST', `${path}/stream/events`, { channels: ['values', 'lifecycle'] }),
      open('POST', `/threads/${MISSING}/stream/events`, { channels: ['values'] }),
      open('POST', `${path}/runs/stream`, later),
      open('POST', `${path}/runs/wait`, later),
    ]);
    assert.deepEqual(new Set(streams.map(({ status }) => status)), new Set([200]));
    const socket = new WebSocket(`${s.url.replace('http', 'ws')}${path}/stream/events`, { headers: until });
    await once(socket, 'open');
    const others = await fetch(`${s.url}${path}/runs/${run}/stream`, { headers: mine });
    const goesOn = others.text();

    const closed = once(socket, 'close');
    const cut = streams.map(isCut);
    clock.leap(60_000);
    assert.deepEqual(new Set(await Promise.all(cut)), new Set([true]));
    const [code, reason] = (await closed) as [number, Buffer];
    assert.deepEqual([code, reason.toString()], [4401, 'The credentials have expired.']);
    const again = await s.request('GET', `${path}/runs/${run}/stream`, undefined, until);
    assert.deepEqual([again.status, again.json], [401, { detail: 'Credentials have expired' }]);
    const socketAgain = new WebSocket(`${s.url.replace('http', 'ws')}${path}/stream/events`, {
      headers: until,
    });
    const [, refusal] = (await once(socketAgain, 'unexpected-response')) as [unknown, { statusCode: number }];
    assert.equal(refusal.statusCode, 401);
    // Runs go on without their readers.
    writeFileSync(gate, '');
    assert.match(await goesOn, /through: x/);
    const runs = (await s.request('GET', `${path}/runs`, undefined, mine)).json as { run_id: string }[];
    for (const { run_id: id } of runs) await s.request('GET', `${path}/runs/${id}/join`, undefined, mine);
    const ends = await s.request('GET', `${path}/runs`, undefined, mine);
    assert.deepEqual(
      new Set((ends.json as { status: string }[]).map(({ status }) => status)),
      new Set(['success']),
    );
  });
});

test('given handlers for some operations only, when the server starts, then it names those that are open to every caller', () =>
  withServer(SESSIONS, async (s) => {
    assert.equal(s.warnings.length, 1);
    const [warning = ''] = s.warnings;
    assert.match(warning, /^auth: no handler covers assistants:create, /);
    assert.match(warning, /store:put/);
    assert.doesNotMatch(warning, /threads:|:read|store:get/);
    await withServer({ config: config('platform.auth.json') }, async (all) => {
      assert.deepEqual(all.warnings, []);
    });
    await withServer({}, async (none) => assert.deepEqual(none.warnings, []));
  }));

test.run();

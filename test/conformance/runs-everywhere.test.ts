import * as assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { as } from '../isolation/requests.ts';
import { config, say } from './scene.ts';

const test = suite('conformance: runs of all threads');

const idsOf = (runs: any): string[] => runs.map(({ run_id }: any) => run_id);

async function list(s: TestServer, query = '', headers = {}): Promise<any[]> {
  const { status, json, text } = await s.request('GET', `/runs${query}` as '/runs', undefined, headers);
  assert.equal(status, 200, text);
  return json;
}

test('runs of all threads are listed newest first and paged from both ends', () =>
  withServer({}, async (s) => {
    for (let index = 0; index < 5; index++) {
      const { thread_id: thread } = await s.client.threads.create();
      await s.client.runs
        .wait(thread, index % 2 === 0 ? 'echo' : 'fails', { input: say(`run ${index}`) })
        .catch(() => 0);
    }
    const all = await list(s);
    assert.deepEqual(
      all.map(({ title, graph_id, status, attempt }: any) => [title, graph_id, status, attempt]),
      [4, 3, 2, 1, 0].map((index) =>
        index % 2 === 0 ? [`run ${index}`, 'echo', 'success', 1] : [`run ${index}`, 'fails', 'error', 1],
      ),
    );
    const ids = idsOf(all);
    assert.ok(
      all.every(({ queued_ms, started_at, ended_at }: any) => queued_ms >= 0 && started_at <= ended_at),
    );
    assert.deepEqual(idsOf(await list(s, '?limit=2')), ids.slice(0, 2));
    assert.deepEqual(idsOf(await list(s, `?limit=2&after=${ids[1]}`)), ids.slice(2, 4));
    assert.deepEqual(idsOf(await list(s, `?limit=2&before=${ids[4]}`)), ids.slice(2, 4));
    assert.deepEqual(idsOf(await list(s, `?after=${ids[0]}&before=${ids[3]}`)), ids.slice(1, 3));
    assert.deepEqual(idsOf(await list(s, '?status=error')), [ids[1], ids[3]]);
    assert.deepEqual(await list(s, '?status=pending,running'), []);
    assert.deepEqual(Object.keys((await list(s, '?select=run_id,title'))[0]), ['run_id', 'title']);
    for (const [query, name] of [
      ['after=x', 'after'],
      ['before=1', 'before'],
      ['status=x', 'status'],
      ['limit=0', 'limit'],
    ]) {
      const { status, json } = await s.request('GET', `/runs?${query}` as '/runs');
      assert.equal(status, 422);
      assert.ok(json.detail.startsWith(`${name}`), json.detail);
    }
  }));

test('a run that executes names its worker, and one that waits the time it has waited', () =>
  withServer({ workers: 1 }, async (s) => {
    const { thread_id: thread } = await s.client.threads.create();
    const gate = join(s.dir, 'gate');
    const start = (assistant: string) =>
      s.client.runs.create(thread, assistant, {
        input: say('a'),
        config: { configurable: { gate } },
        multitaskStrategy: 'enqueue',
      });
    const running = await start('gate');
    await s.until(({ type, data }) => type === 'CheckpointSaved' && data.runId === running.run_id);
    const waiting = await start('echo');
    const open = await list(s, '?status=pending,running');
    assert.deepEqual(idsOf(open), [waiting.run_id, running.run_id]);
    const { json: server } = await s.request('GET', '/server');
    const worker = server.workers.find(({ run_ids }: any) => run_ids.includes(running.run_id));
    assert.deepEqual(
      open.map(({ status, attempt, worker }: any) => [status, attempt, worker]),
      [
        ['pending', 0, null],
        ['running', 1, worker.pid],
      ],
    );
    process.kill(worker.pid, 0);
    assert.deepEqual([server.queue.pending, server.queue.running], [1, 1]);
    await writeFile(gate, '');
    await s.client.runs.join(thread, waiting.run_id);
    assert.deepEqual(await list(s, '?status=pending,running'), []);
  }));

test('a stateless run is listed while it is open', () =>
  withServer({}, async (s) => {
    const gate = join(s.dir, 'gate');
    const created = await s.client.runs.create(null, 'gate', {
      input: say('a'),
      config: { configurable: { gate } },
    });
    assert.deepEqual(idsOf(await list(s)), [created.run_id]);
    await writeFile(gate, '');
    await s.until(({ type }) => type === 'RunCompleted');
    assert.deepEqual(await list(s), []);
  }));

test('users list the runs of their own threads, in full pages (A2, A3)', () =>
  withServer({ config: config('platform.auth.json') }, async (s) => {
    for (const name of ['alice', 'bob']) {
      const { json } = await s.request('POST', '/threads', {}, as(name));
      const body = { assistant_id: 'echo', input: say(name) };
      await s.request('POST', `/threads/${json.thread_id}/runs/wait`, body, as(name));
    }
    const titles = async (headers: object) =>
      (await list(s, '?limit=1', headers)).map(({ title }: any) => title);
    assert.deepEqual(await titles(as('alice')), ['alice']);
    assert.deepEqual(await titles(as('bob')), ['bob']);
  }));

test('the state of the server is for the operator: users of a handler get 403, the studio key opens it', () =>
  withServer({ config: config('platform.auth.json'), env: { PLATFORM_STUDIO_KEY: 'the-key' } }, async (s) => {
    assert.equal((await s.request('GET', '/server')).status, 401);
    assert.equal((await s.request('GET', '/server', undefined, as('alice'))).status, 403);
    const studio = { 'x-auth-scheme': 'langsmith', 'x-api-key': 'the-key' };
    const { status, json, text } = await s.request('GET', '/server', undefined, studio);
    assert.equal(status, 200, text);
    assert.doesNotMatch(text, /the-key/);
    const of = (name: string) => json.settings.find((setting: any) => setting.name === name)?.value;
    assert.deepEqual([of('PLATFORM_STUDIO_KEY'), of('PLATFORM_CONCURRENCY')], ['***', 64]);
    assert.ok(json.graphs.includes('echo') && json.log.bytes > 0 && json.development === false);
  }));

test('the state of the server shows warnings and graphs that are not served', () =>
  withServer({ config: config('platform.schemas.json') }, async (s) => {
    const { json } = await s.request('GET', '/server');
    assert.deepEqual(json.warnings, [...s.config.warnings, ...s.warnings]);
  }));

test.run();

import * as assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock, type Clock } from '../../src/kernel/clock.ts';
import { as } from '../isolation/requests.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';
import { withServer, type Answer, type TestServer } from '../support/with-server.ts';
import { config, say } from './scene.ts';

const test = suite('conformance: opened files');

async function exported(s: TestServer, headers = {}): Promise<{ thread: string; file: Buffer }> {
  const { json } = await s.request('POST', '/threads', {}, headers);
  const thread: string = json.thread_id;
  const body = { assistant_id: 'echo', input: say('hello') };
  await s.request('POST', `/threads/${thread}/runs/wait`, body, headers);
  const reply = await fetch(`${s.url}/threads/${thread}/export`, { headers });
  return { thread, file: Buffer.from(await reply.arrayBuffer()) };
}

const open = (s: TestServer, file: Uint8Array, headers = {}): Promise<Answer> =>
  s.request('POST', '/opened', file as any, headers);

test('an opened file is read with the routes of the API, and changes nothing', () =>
  withServer({}, async (s) => {
    const { thread, file } = await exported(s);
    const kept = (await s.request('GET', `/threads/${thread}/events`)).json;
    await s.client.threads.delete(thread);
    const { status, json, text } = await open(s, file);
    assert.equal(status, 200, text);
    assert.equal(json.thread_id, thread);
    const at = `/opened/${json.opened_id}`;
    const { json: shown } = await s.request('GET', `${at}/threads/${thread}/events`);
    assert.deepEqual(
      shown.events.slice(0, kept.last).map(({ type, run_id }: any) => [type, run_id]),
      kept.events.map(({ type, run_id }: any) => [type, run_id]),
    );
    const state = await s.request('GET', `${at}/threads/${thread}/state?version=${kept.last}&from=0`);
    assert.equal(state.json.values.messages[0].content, 'hello');
    const history = await s.request('POST', `${at}/threads/${thread}/history` as any, { limit: 1 } as any);
    assert.equal(history.json.length, 1);
    const listed = await s.request('POST', `${at}/threads/search` as any, {} as any);
    assert.deepEqual(
      listed.json.map(({ thread_id }: any) => thread_id),
      [thread],
    );
    for (const [method, path] of [
      ['POST', `threads/${thread}/runs`],
      ['DELETE', `threads/${thread}`],
      ['POST', 'threads'],
    ]) {
      const refused = await s.request(method!, `${at}/${path}` as any, { assistant_id: 'echo' } as any);
      assert.deepEqual(
        [refused.status, /exported thread/.test(refused.text)],
        [409, true],
        `${method} ${path}`,
      );
    }
    assert.equal((await s.request('GET', `/threads/${thread}`)).status, 404);
    assert.equal((await s.request('GET', `${at}/studio`)).status, 404);
  }));

test('a damaged file costs one line, and leaves nothing behind', () =>
  withServer({}, async (s) => {
    const { file } = await exported(s);
    for (const bytes of [Buffer.from('no file'), file.subarray(0, file.length - 40), Buffer.alloc(0)]) {
      const { status, json } = await open(s, bytes);
      assert.equal(status, 422);
      assert.match(json.detail, /^[^\n]+$/);
      assert.doesNotMatch(json.detail, /\/(tmp|opened|carried)\b/);
    }
    const folder = join(s.dir, 'data/opened');
    assert.deepEqual(existsSync(folder) ? readdirSync(folder) : [], []);
  }));

test('an opened file is there for the caller alone who opened it (A3)', () =>
  withServer({ config: config('platform.auth.json') }, async (s) => {
    const { thread, file } = await exported(s, as('alice'));
    const { json } = await open(s, file, as('alice'));
    const path = `/opened/${json.opened_id}/threads/${thread}/events` as any;
    assert.equal((await s.request('GET', path, undefined, as('alice'))).status, 200);
    const missing = path.replace(json.opened_id, '00000000-0000-4000-8000-000000000001');
    const [other, none] = await Promise.all(
      [path, missing].map((each) => s.request('GET', each, undefined, as('bob'))),
    );
    assert.deepEqual([other!.status, other!.text], [none!.status, none!.text]);
    assert.equal(other!.status, 404);
    assert.equal((await s.request('GET', path)).status, 401);
  }));

test('an opened file is gone after an hour, after a fifth one, and with the server', async () => {
  let expire: (() => void)[] = [];
  const real = systemClock();
  const clock: Clock = {
    ...real,
    after: (ms, run) => {
      if (ms !== 3_600_000) return real.after(ms, run);
      expire.push(run);
      return () => (expire = expire.filter((each) => each !== run));
    },
  };
  await withServer({ clock }, async (s) => {
    const { thread, file } = await exported(s);
    const folder = join(s.dir, 'data/opened');
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) ids.push((await open(s, file)).json.opened_id);
    assert.deepEqual(readdirSync(folder).sort(), ids.slice(1).sort());
    const read = (openedId: string) => s.request('GET', `/opened/${openedId}/threads/${thread}` as any);
    assert.deepEqual([(await read(ids[0]!)).status, (await read(ids[1]!)).status], [404, 200]);
    for (const run of [...expire]) run();
    assert.equal((await read(ids[4]!)).status, 404);
    await until('the files are removed', async () => readdirSync(folder).length === 0);
    await open(s, file);
    await s.restart();
    assert.ok(!existsSync(folder));
  });
});

test.run();

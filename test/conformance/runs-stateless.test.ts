import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { suite } from '../support/suite.ts';
import { reached } from '../e2e/marks.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { ended, say, textsOf } from './scene.ts';
import { readFrames } from './stream-reader.ts';

const test = suite('conformance: stateless runs');

async function assertInvisible(s: TestServer, threadId: string): Promise<void> {
  for (const path of ['', '/state', '/runs'])
    assert.equal((await s.request('GET', `/threads/${threadId}${path}`)).status, 404, path);
  assert.equal((await s.request('PATCH', `/threads/${threadId}`, { metadata: {} })).status, 404);
  assert.equal((await s.request('DELETE', `/threads/${threadId}`)).status, 404);
  const runs = await s.request('POST', `/threads/${threadId}/runs`, { assistant_id: 'echo' });
  assert.equal(runs.status, 404);
  const found = await s.request('POST', '/threads/search', { ids: [threadId] });
  assert.deepEqual([found.json, found.headers.get('x-pagination-total')], [[], '0']);
}

const threadOf = async (s: TestServer, runId: string): Promise<string> =>
  ((await s.until(ended(runId))).data as { threadId: string }).threadId;

test('given no thread, when a run is waited for, then it has values, and its thread is not to be seen afterwards', () =>
  withServer({}, async (s) => {
    let runId = '';
    const values = await s.client.runs.wait(null, 'echo', {
      input: say('hi'),
      onRunCreated: (run) => (runId = run.run_id),
    });
    assert.deepEqual(textsOf(values), ['hi', 'echo: hi']);
    await assertInvisible(s, await threadOf(s, runId));
    assert.deepEqual((await s.request('GET', `/runs/${runId}/join`)).json, values);
    assert.deepEqual((await s.request('GET', '/threads')).json, []);
  }));

test('given no thread, when a run is created, then it has one that is seen while it runs and never after', () =>
  withServer({}, async (s) => {
    const gate = join(s.dir, 'gate');
    const run = await s.client.runs.create(null, 'gate', {
      input: say('hi'),
      config: { configurable: { gate } },
    });
    assert.match(run.thread_id, /^[0-9a-f-]{36}$/);
    assert.equal((run as unknown as { kwargs: { temporary: boolean } }).kwargs.temporary, true);
    const thread = await s.client.threads.get(run.thread_id);
    assert.equal(thread.status, 'busy');
    assert.equal((await s.client.threads.search({})).length, 1);
    writeFileSync(gate, '');
    const joined = await s.request('GET', `/runs/${run.run_id}/join`);
    assert.deepEqual(textsOf(joined.json), ['hi', 'through: hi']);
    await assertInvisible(s, run.thread_id);
    await s.restart();
    await assertInvisible(s, run.thread_id);
  }));

test('given no thread, when a run is streamed, then its frames can be read again without naming a thread (S2)', () =>
  withServer({}, async (s) => {
    const parts: unknown[] = [];
    let runId = '';
    for await (const part of s.client.runs.stream(null, 'agent', {
      input: say('hi'),
      streamMode: ['values', 'messages-tuple'],
      onRunCreated: (run) => (runId = run.run_id),
    }))
      parts.push(part);
    const again: unknown[] = [];
    for await (const part of s.client.runs.joinStream(null, runId, { lastEventId: '-1' })) again.push(part);
    assert.deepEqual(again, parts);
    assert.ok(parts.length > 10);
    const frames = await readFrames(`${s.url}/runs/${runId}/stream`, { headers: { 'last-event-id': '3' } });
    assert.deepEqual(
      frames.map(({ id }) => Number(id)),
      parts.slice(4).map((_, index) => index + 4),
    );
    await assertInvisible(s, await threadOf(s, runId));
  }));

test('given on_completion keep, when a stateless run has ended, then its thread stays', () =>
  withServer({}, async (s) => {
    const body = { assistant_id: 'echo', input: say('hi'), on_completion: 'keep' as const };
    const { json: values, headers } = await s.request('POST', '/runs/wait', body);
    const [, threadId = ''] = /^\/threads\/([^/]+)\/runs\//.exec(headers.get('content-location') ?? '') ?? [];
    const thread = await s.client.threads.get(threadId);
    assert.deepEqual([thread.status, thread.values], ['idle', values]);
    assert.equal((await s.client.threads.search({})).length, 1);
    const next = await s.client.runs.wait(threadId, 'echo', { input: say('more') });
    assert.equal(textsOf(next).length, 4);
  }));

test('given stateless runs, when they fail, ask or are unknown, then wait and join say so', () =>
  withServer({}, async (s) => {
    const failed = await s.client.runs.wait(null, 'fails', { input: {}, raiseError: false });
    assert.deepEqual(failed, { __error__: { error: 'CustomError', message: 'this graph always fails' } });
    const asked = (await s.client.runs.wait(null, 'asks', { input: {} })) as { __interrupt__: unknown[] };
    assert.equal(asked.__interrupt__.length, 1);
    assert.equal((await s.request('GET', '/runs/00000000-0000-4000-8000-000000000000/join')).status, 404);
  }));

test('given a stop after the first update of a function, its stateless run goes on from there (X5)', () =>
  withServer({}, async (s) => {
    // given: input and first update are in one commit
    const [marks, gate] = [join(s.dir, 'marks'), join(s.dir, 'gate')];
    writeFileSync(`${gate}1`, '');
    const run = await s.client.runs.create(null, 'steps', {
      input: say('begin'),
      config: { configurable: { marks, gate, count: 2 } },
    });
    await reached(marks, 'step 2');
    // when
    await s.restart();
    writeFileSync(`${gate}2`, '');
    // then
    const { json } = await s.request('GET', `/runs/${run.run_id}/join`);
    assert.deepEqual(textsOf(json), ['begin', 'step 1', 'step 2']);
  }));

test('given 20 stateless runs at once, when all have ended, then each had its own thread', () =>
  withServer({}, async (s) => {
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, i) => s.client.runs.wait(null, 'echo', { input: say(`n ${i}`) })),
    );
    for (const [i, values] of all.entries()) assert.deepEqual(textsOf(values), [`n ${i}`, `echo: n ${i}`]);
    assert.deepEqual(await s.client.threads.search({}), []);
  }));

test('a resume without a thread is a 400', () =>
  withServer({}, async (s) => {
    for (const path of ['/runs', '/runs/wait', '/runs/stream']) {
      const answer = await s.request('POST', path, { assistant_id: 'asks', command: { resume: 'yes' } });
      const detail = 'You must provide a thread_id when resuming.';
      assert.deepEqual([answer.status, answer.json], [400, { detail }], path);
    }
    const batch = [{ assistant_id: 'asks', command: { resume: 'yes' } }];
    assert.equal((await s.request('POST', '/runs/batch', batch)).status, 400);
  }));

test.run();

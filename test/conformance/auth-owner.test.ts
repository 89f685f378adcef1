import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, MISSING, say } from './scene.ts';

const test = suite('conformance: owners');

const AUTH = { config: config('platform.auth.json') };
const as = (name: string) => ({ authorization: `Bearer ${name}-token` });

/** Alice's things: a thread with a finished and a running run, and a stateless run. */
async function setUp(s: TestServer) {
  const gate = join(s.dir, 'gate');
  const post = async (path: string, body: object, name = 'alice') =>
    (await s.request('POST', path, body, as(name))).json;
  const { thread_id: thread } = await post('/threads', { metadata: { note: 'private' } });
  const done = await post(`/threads/${thread}/runs`, { assistant_id: 'echo', input: say('private words') });
  await s.request('GET', `/threads/${thread}/runs/${done.run_id}/join`, undefined, as('alice'));
  const running = await post(`/threads/${thread}/runs`, {
    assistant_id: 'gate',
    input: say('more private words'),
    config: { configurable: { gate } },
  });
  const stateless = await post('/runs', { assistant_id: 'gate', config: { configurable: { gate } } });
  for (const { run_id: id } of [running, stateless])
    await s.until(({ type, data }) => type === 'CheckpointSaved' && data.runId === id);
  const { thread_id: bobs } = await post('/threads', {}, 'bob');
  return {
    thread: thread as string,
    done: done.run_id as string,
    running: running.run_id as string,
    stateless: stateless.run_id as string,
    statelessThread: stateless.thread_id as string,
    bobs: bobs as string,
  };
}

test('given threads of two users, when each searches, then each sees, counts and pages only their own (A2)', () =>
  withServer(AUTH, async (s) => {
    const mine: string[] = [];
    for (let i = 0; i < 6; i++)
      for (const name of ['alice', 'bob']) {
        const { json } = await s.request('POST', '/threads', { metadata: { i } }, as(name));
        if (name === 'bob') mine.unshift(json.thread_id);
      }
    const { thread } = await setUp(s);
    const search = (body: object) => s.request('POST', '/threads/search', body, as('bob'));
    for (const body of [
      { ids: [thread] },
      { metadata: { note: 'private' } },
      { status: 'busy' },
      { status: 'error' },
    ]) {
      const { json, headers } = await search(body);
      assert.deepEqual([json, headers.get('x-pagination-total')], [[], '0'], JSON.stringify(body));
      assert.equal(headers.get('x-pagination-next'), null);
    }
    // The handler stamps its own owner over the one that was asked for.
    assert.equal((await search({ metadata: { owner: 'alice' }, limit: 100 })).json.length, 7);
    const page = await search({ limit: 2, offset: 1, sort_by: 'created_at' });
    const { json: everything, headers } = await search({ limit: 100, sort_by: 'created_at' });
    assert.equal(headers.get('x-pagination-total'), '7');
    const ids = (list: { thread_id: string }[]) => list.map(({ thread_id: id }) => id);
    assert.deepEqual(ids(everything).slice(1), mine);
    assert.deepEqual(ids(page.json), mine.slice(0, 2));
    assert.deepEqual(
      [page.headers.get('x-pagination-total'), page.headers.get('x-pagination-next')],
      ['7', '3'],
    );
    const listed = await s.request('GET', '/threads?limit=100', undefined, as('bob'));
    assert.equal(listed.json.length, 7);
  }));

test("given another user's thread id, when it is created, then 409 tells only that it is taken", () =>
  withServer(AUTH, async (s) => {
    const { thread, bobs } = await setUp(s);
    const before = await s.events();
    for (const id of [thread, bobs])
      for (const policy of ['raise', 'do_nothing'] as const) {
        if (id === bobs && policy === 'do_nothing') continue;
        const body = { thread_id: id, if_exists: policy };
        const { status, json } = await s.request('POST', '/threads', body, as('bob'));
        assert.deepEqual([status, json], [409, { detail: 'Thread already exists' }]);
      }
    assert.deepEqual(await s.events(), before);
  }));

test("given if_not_exists create, when a run names another's thread, then 404, and a missing one is made for the caller", () =>
  withServer(AUTH, async (s) => {
    const { thread } = await setUp(s);
    const body = { assistant_id: 'echo', input: say('hi'), if_not_exists: 'create' } as const;
    const before = await s.events();
    const missing = crypto.randomUUID();
    for (const route of ['runs', 'runs/stream', 'runs/wait']) {
      const foreign = await s.request('POST', `/threads/${thread}/${route}`, body, as('bob'));
      const detail = `Thread with ID ${thread} not found`;
      assert.deepEqual([foreign.status, foreign.json], [404, { detail }], route);
    }
    assert.deepEqual(await s.events(), before);
    assert.equal((await s.request('POST', `/threads/${missing}/runs`, body, as('bob'))).status, 200);
    const { json } = await s.request('GET', `/threads/${missing}`, undefined, as('bob'));
    assert.equal(json.metadata.owner, 'bob');
    assert.equal((await s.request('GET', `/threads/${missing}`, undefined, as('alice'))).status, 404);
  }));

test('given two users who create a run on one missing thread at once, when both have answered, then one owns it and the other saw nothing (A3)', () =>
  withServer(AUTH, async (s) => {
    const body = { assistant_id: 'echo', if_not_exists: 'create', after_seconds: 3600 } as const;
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        s.request('POST', `/threads/${MISSING}/runs`, body, as(i % 2 === 0 ? 'alice' : 'bob')),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 5, statuses.join());
    assert.equal(statuses.filter((status) => status === 404).length, 5, statuses.join());
    assert.equal(new Set(statuses.filter((_, i) => i % 2 === 0)).size, 1);
  }));

test("given metadata that poses as another's, when threads and runs are created or patched, then the handler's stamp wins", () =>
  withServer(AUTH, async (s) => {
    const metadata = { owner: 'alice', mine: 1 };
    const { json: thread } = await s.request('POST', '/threads', { metadata }, as('bob'));
    assert.deepEqual(thread.metadata, { owner: 'bob', mine: 1 });
    const path = `/threads/${thread.thread_id}`;
    const patched = await s.request('PATCH', path, { metadata: { owner: 'alice', more: 2 } }, as('bob'));
    assert.deepEqual(patched.json.metadata, { owner: 'bob', mine: 1, more: 2 });
    const run = await s.request('POST', `${path}/runs`, { assistant_id: 'echo', metadata }, as('bob'));
    assert.equal(run.json.metadata.owner, 'bob');
    const stateless = await s.request('POST', '/runs', { assistant_id: 'gate', metadata }, as('bob'));
    const itsThread = `/threads/${stateless.json.thread_id}`;
    assert.equal((await s.request('GET', itsThread, undefined, as('alice'))).status, 404);
    assert.equal((await s.request('GET', path, undefined, as('alice'))).status, 404);
    const found = await s.request('POST', '/threads/search', {}, as('alice'));
    assert.deepEqual(found.json, []);
  }));

test('events of a request carry the identity of its caller and nothing else of the user (A4)', () =>
  withServer(AUTH, async (s) => {
    const { thread, done, running, bobs } = await setUp(s);
    await s.request('POST', `/threads/${thread}/runs/${running}/cancel`, undefined, as('alice'));
    await s.request('PATCH', `/threads/${thread}`, { metadata: { note: 'new' } }, as('alice'));
    const events = await s.events();
    const byOf = (type: string, threadId: string): unknown =>
      events.find(({ type: found, meta }) => found === type && meta.stream === `thread-${threadId}`)?.data.by;
    for (const type of ['ThreadCreated', 'RunCreated', 'RunCancelRequested', 'ThreadUpdated'])
      assert.equal(byOf(type, thread), 'alice', type);
    assert.equal(byOf('ThreadCreated', bobs), 'bob');
    const ended = events.find(({ type, data }) => type === 'RunCompleted' && data.runId === done);
    assert.equal(ended?.data.by, undefined);
    assert.doesNotMatch(JSON.stringify(events), /alice-token|bob-token/);
  }));

test('A2 given a handler that only filters, when metadata would leave its filter, then 403 and no event', () =>
  withServer({ config: config('platform.naive.json') }, async (s) => {
    const [alice, bob] = [{ 'x-user': 'alice' }, { 'x-user': 'bob' }];
    const owned = await s.request('POST', '/threads', { metadata: { owner: 'alice' } }, alice);
    const path = `/threads/${owned.json.thread_id}`;
    const before = (await s.events()).length;
    const metadata = { owner: 'bob' };
    for (const [method, where, body] of [
      ['PATCH', path, { metadata }],
      ['POST', '/threads', { metadata }],
      ['POST', '/runs', { assistant_id: 'echo', input: {}, metadata, on_completion: 'keep' }],
    ] as const)
      assert.equal((await s.request(method, where, body, alice)).status, 403, where);
    assert.equal((await s.events()).length, before);
    assert.deepEqual((await s.request('POST', '/threads/search', {}, bob)).json, []);
    // Other keys are written as without a filter.
    const patched = await s.request('PATCH', path, { metadata: { topic: 'x' } }, alice);
    assert.deepEqual(patched.json.metadata, { owner: 'alice', topic: 'x' });
    const run = { assistant_id: 'echo', input: say('hi'), metadata: { topic: 'y' } };
    assert.equal((await s.request('POST', `${path}/runs/wait`, run, alice)).status, 200);
  }));

test.run();

import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { withServer, type Answer, type TestServer } from '../support/with-server.ts';
import { config, MISSING, say, textsOf } from './scene.ts';

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

const STRATEGIES = ['reject', 'enqueue', 'interrupt', 'rollback'];

/** Every request that names a thread or a run. */
function requestsFor(thread: string, run: string): [string, string, unknown?][] {
  const runs = `/threads/${thread}/runs`;
  return [
    ['GET', `/threads/${thread}`],
    ['PATCH', `/threads/${thread}`, { metadata: { owner: 'bob' } }],
    ['DELETE', `/threads/${thread}`],
    ['GET', `/threads/${thread}/state`],
    ['GET', `/threads/${thread}/state?subgraphs=true`],
    ['GET', runs],
    ...['', '/stream', '/wait'].flatMap((route): [string, string, unknown][] =>
      STRATEGIES.map((multitask_strategy) => [
        'POST',
        `${runs}${route}`,
        { assistant_id: 'echo', multitask_strategy },
      ]),
    ),
    ...runRequests(`${runs}/${run}`),
  ];
}

const runRequests = (path: string): [string, string, unknown?][] => [
  ['GET', path],
  ['GET', `${path}/join`],
  ['GET', `${path}/join?cancel_on_disconnect=1`],
  ['GET', `${path}/stream`],
  ['GET', `${path}/stream?cancel_on_disconnect=1&stream_mode=values`],
  ['POST', `${path}/cancel`],
  ['POST', `${path}/cancel?wait=1`],
  ['POST', `${path}/cancel?action=rollback`],
];

const statelessRequests = (run: string): [string, string, unknown?][] => [
  ['GET', `/runs/${run}/join`],
  ['GET', `/runs/${run}/stream`],
];

/** All that a client can see, with the ids taken out. */
const seen = ({ status, headers, text }: Answer, ids: readonly string[]): unknown => {
  const rest = [...headers].filter(([name]) => name !== 'date');
  const blind = (words: string): string => ids.reduce((left, id) => left.replaceAll(id, '<id>'), words);
  return { status, text: blind(text), headers: rest.map(([name, value]) => [name, blind(value)]) };
};

test("given another user's thread and runs, when any route is asked for them, then the answer is that for missing ones (A3)", () =>
  withServer(AUTH, async (s) => {
    const its = await setUp(s);
    const theirs = [
      ...requestsFor(its.thread, its.done),
      ...requestsFor(its.thread, its.running),
      ...requestsFor(its.statelessThread, its.stateless),
      // One's own thread does not lead to the runs of others.
      ...[its.done, its.running, its.stateless].flatMap((run) =>
        runRequests(`/threads/${its.bobs}/runs/${run}`),
      ),
      ...[its.done, its.running, its.stateless].flatMap(statelessRequests),
    ];
    assert.ok(theirs.length > 90);
    const before = await s.events();
    const ids = [its.thread, its.done, its.running, its.stateless, its.statelessThread, MISSING];
    for (const [method, path, body] of theirs) {
      const other = ids.reduce((left, id) => left.replaceAll(id, MISSING), path);
      const foreign = await s.request(method, path, body, as('bob'));
      const missing = await s.request(method, other, body, as('bob'));
      assert.deepEqual(seen(foreign, ids), seen(missing, ids), `${method} ${path}`);
      if (/^\/threads\/.*\/stream/.test(path) && method === 'GET')
        assert.match(
          foreign.text,
          /^: heartbeat\r\n\r\nevent: error\r\ndata: \{"error":"HTTPException","message":"404: Run not found"\}\r\n\r\n$/,
        );
      else assert.equal(foreign.status, 404, `${method} ${path}`);
      assert.doesNotMatch(foreign.text, /private|alice/);
    }
    assert.deepEqual(await s.events(), before);
  }));

test("given a checkpoint of another user's thread, when a run is to start there, then the answer is that for a missing one (A3)", () =>
  withServer(AUTH, async (s) => {
    const its = await setUp(s);
    const state = await s.request('GET', `/threads/${its.thread}/state`, undefined, as('alice'));
    const real = state.json.checkpoint.checkpoint_id as string;
    const ids = [its.thread, MISSING];
    for (const if_not_exists of ['reject', 'create'])
      for (const at of [
        { checkpoint_id: real },
        { checkpoint: { checkpoint_id: real } },
        { checkpoint_id: its.done },
      ])
        for (const route of ['runs', 'runs/stream', 'runs/wait']) {
          const body = { assistant_id: 'echo', if_not_exists, ...at };
          const ask = (thread: string) => s.request('POST', `/threads/${thread}/${route}`, body, as('bob'));
          const [foreign, missing] = [await ask(its.thread), await ask(MISSING)];
          assert.deepEqual(seen(foreign, ids), seen(missing, ids), JSON.stringify(body));
        }
    const mine = await s.request(
      'POST',
      `/threads/${its.bobs}/runs`,
      { assistant_id: 'echo', checkpoint_id: real },
      as('bob'),
    );
    assert.deepEqual(
      [mine.status, mine.json],
      [422, { detail: `checkpoint_id: the thread has no checkpoint ${real}` }],
    );
  }));

test('given the same requests, when the owner makes them, then every one reaches its goal', () =>
  withServer(AUTH, async (s) => {
    const its = await setUp(s);
    const all = [...requestsFor(its.thread, its.done), ...statelessRequests(its.done)].filter(
      ([method, path]) => method !== 'DELETE' && !path.includes('/wait') && !/runs\/stream$/.test(path),
    );
    for (const [method, path, body] of all) {
      const { status, text } = await s.request(method, path, body, as('alice'));
      const busy = (body as { multitask_strategy?: string } | undefined)?.multitask_strategy === 'reject';
      assert.ok(
        busy ? status === 409 : [200, 202, 204].includes(status),
        `${method} ${path}: ${status} ${text}`,
      );
      assert.doesNotMatch(text, /"status":404|not found/i);
    }
    const deleted = await s.request('DELETE', `/threads/${its.thread}`, undefined, as('alice'));
    assert.equal(deleted.status, 204);
  }));

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

for (const route of ['runs', 'runs/stream', 'runs/wait'])
  test(`given if_not_exists create, when POST ${route} names another's thread, then 404, and a missing one is made for the caller`, () =>
    withServer(AUTH, async (s) => {
      const { thread } = await setUp(s);
      const body = { assistant_id: 'echo', input: say('hi'), if_not_exists: 'create' };
      const before = await s.events();
      const foreign = await s.request('POST', `/threads/${thread}/${route}`, body, as('bob'));
      assert.deepEqual(
        [foreign.status, foreign.json],
        [404, { detail: `Thread with ID ${thread} not found` }],
      );
      assert.deepEqual(await s.events(), before);
      const made = await s.request('POST', `/threads/${MISSING}/${route}`, body, as('bob'));
      assert.equal(made.status, 200);
      const { json } = await s.request('GET', `/threads/${MISSING}`, undefined, as('bob'));
      assert.equal(json.metadata.owner, 'bob');
      assert.equal((await s.request('GET', `/threads/${MISSING}`, undefined, as('alice'))).status, 404);
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

test('given system assistants, when any user reads, searches and runs them, then they belong to all', () =>
  withServer(AUTH, async (s) => {
    for (const name of ['alice', 'bob']) {
      assert.equal((await s.request('GET', '/assistants/echo', undefined, as(name))).status, 200);
      const found = await s.request('POST', '/assistants/search', { limit: 100 }, as(name));
      assert.equal(found.json.length, 10);
      const { json } = await s.request(
        'POST',
        '/runs/wait',
        { assistant_id: 'echo', input: say(name) },
        as(name),
      );
      assert.deepEqual(textsOf(json), [name, `echo: ${name}`]);
    }
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

test.run();

import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type Answer, type TestServer } from '../support/with-server.ts';
import { growingClock, MISSING, newThread, say, startGated } from './scene.ts';

const test = suite('conformance: searching threads');

const idsOf = ({ json }: Answer): string[] =>
  (json as { thread_id: string }[]).map(({ thread_id: id }) => id);

/** Both ways to ask must agree in body and in headers. */
async function search(s: TestServer, wanted: Record<string, unknown>): Promise<Answer> {
  const posted = await s.request('POST', '/threads/search', wanted);
  const query = Object.entries(wanted).map(([field, value]) => [
    field,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ]);
  const got = await s.request('GET', `/threads?${new URLSearchParams(query as [string, string][])}`);
  assert.equal(posted.status, 200, posted.text);
  assert.deepEqual([got.status, got.text], [200, posted.text]);
  for (const name of ['x-pagination-total', 'x-pagination-next'])
    assert.equal(got.headers.get(name), posted.headers.get(name), name);
  return posted;
}

const pages = ({ headers }: Answer): (string | null)[] => [
  headers.get('x-pagination-total'),
  headers.get('x-pagination-next'),
];

test('given five threads, when they are searched page by page, then order and headers are exact', () =>
  withServer({ clock: growingClock() }, async (s) => {
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.push(await newThread(s, { metadata: { i } }));
    const newest = [...made].reverse();

    assert.deepEqual(idsOf(await search(s, {})), newest);
    const all: [number, number, (string | null)[]][] = [
      [2, 0, ['5', '2']],
      [2, 2, ['5', '4']],
      [2, 4, ['5', null]],
      [5, 0, ['5', null]],
      [2, 5, ['5', null]],
      [1000, 0, ['5', null]],
    ];
    for (const [limit, offset, headers] of all) {
      const answer = await search(s, { limit, offset });
      assert.deepEqual(idsOf(answer), newest.slice(offset, offset + limit));
      assert.deepEqual(pages(answer), headers);
    }
    for (let i = 0; i < 12; i++) await newThread(s);
    const answer = await search(s, {});
    assert.equal(idsOf(answer).length, 10);
    assert.deepEqual(pages(answer), ['17', '10']);
  }));

test('given threads, when they are searched by id, then only those are found, and no ids means no filter', () =>
  withServer({ clock: growingClock() }, async (s) => {
    const [a, b, c] = [await newThread(s), await newThread(s), await newThread(s)];
    assert.deepEqual(idsOf(await search(s, { ids: [a, MISSING, c] })), [c, a]);
    assert.deepEqual(idsOf(await search(s, { ids: [b.toUpperCase()] })), [b]);
    assert.deepEqual(idsOf(await search(s, { ids: [] })), [c, b, a]);
    assert.deepEqual(idsOf(await search(s, { ids: [MISSING] })), []);
    // Other clients repeat the parameter or write a list with commas.
    for (const query of [`ids=${a}&ids=${b}`, `ids=${a},${b}`])
      assert.deepEqual(idsOf(await s.request('GET', `/threads?${query}`)), [b, a]);
  }));

test('given metadata, when threads are searched by a part of it, then containment decides', () =>
  withServer({ clock: growingClock() }, async (s) => {
    const a = await newThread(s, { metadata: { k: 'v', deep: { x: 1, y: [1, { z: 2 }] } } });
    const b = await newThread(s, { metadata: { k: 'v', n: null } });
    const c = await newThread(s, { metadata: { k: 'V', "quote'": '%_"' } });
    const expected: [object, string[]][] = [
      [{}, [c, b, a]],
      [{ k: 'v' }, [b, a]],
      [{ deep: { y: [{ z: 2 }] } }, [a]],
      [{ deep: { y: [3] } }, []],
      [{ n: null }, [b]],
      [{ "quote'": '%_"' }, [c]],
      [{ "quote'": '%' }, []],
      [{ toString: {} }, []],
    ];
    for (const [metadata, ids] of expected)
      assert.deepEqual(idsOf(await search(s, { metadata })), ids, JSON.stringify(metadata));
    assert.deepEqual(
      (await s.client.threads.search({ metadata: { k: 'v' } })).map(({ thread_id: id }) => id),
      [b, a],
    );
  }));

test('given one thread of each status, when they are searched by status, then each is found alone', () =>
  withServer({}, async (s) => {
    const idle = await newThread(s);
    const [busy, interrupted, error] = [await newThread(s), await newThread(s), await newThread(s)];
    await startGated(s, busy);
    await s.client.runs.wait(interrupted, 'asks', { input: say('?') });
    await s.client.runs.wait(error, 'fails', { input: {}, raiseError: false });
    for (const [status, id] of Object.entries({ idle, busy, interrupted, error }))
      assert.deepEqual(idsOf(await search(s, { status })), [id], status);
    assert.deepEqual(idsOf(await search(s, { status: 'busy', ids: [idle] })), []);
  }));

test('given threads, when they are sorted by each field both ways, then the order is that of the field', () =>
  withServer({ clock: growingClock() }, async (s) => {
    const order = ['b', 'c', 'a'].map((letter) => `${letter}0000000-0000-4000-8000-000000000000`);
    for (const id of order) await newThread(s, { thread_id: id });
    await s.request('PATCH', `/threads/${order[0]!}`, { metadata: { touched: true } });
    await s.client.runs.wait(order[2]!, 'asks', { input: {} });
    await s.client.runs.wait(order[1]!, 'echo', { input: {} });
    const [b, c, a] = order as [string, string, string];
    const ascending: Record<string, string[]> = {
      thread_id: [a, b, c],
      created_at: [b, c, a],
      updated_at: [b, a, c],
      state_updated_at: [b, a, c],
      status: [b, c, a],
    };
    for (const [field, ids] of Object.entries(ascending)) {
      assert.deepEqual(idsOf(await search(s, { sort_by: field, sort_order: 'asc' })), ids, field);
      const down = idsOf(await search(s, { sort_by: field, sort_order: 'desc' }));
      assert.deepEqual(down, [...ids].reverse(), field);
      assert.deepEqual(idsOf(await search(s, { sort_by: field })), down, field);
    }
    assert.deepEqual(idsOf(await search(s, {})), [c, a, b]);
  }));

test('given select, when threads are searched, then each record holds only those keys', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s, { metadata: { a: 1 } });
    const picked = await search(s, { select: ['thread_id', 'metadata'] });
    const unknown = await s.request('POST', '/threads/search', {
      select: ['thread_id', 'no_such_key' as any],
    });
    assert.equal(unknown.status, 422);
    assert.match(unknown.json.detail, /^select\.1: expected one of "thread_id", .*"interrupts".*, found "/);
    assert.deepEqual(picked.json, [{ thread_id: threadId, metadata: { a: 1 } }]);
    const comma = await s.request('GET', '/threads?select=thread_id,status');
    assert.deepEqual(comma.json, [{ thread_id: threadId, status: 'idle' }]);
    assert.equal(Object.keys((await search(s, { select: [] })).json[0]).length, 9);
  }));

test('given any thread route, when it is asked for in the singular, then it is the same route', () =>
  withServer({}, async (s) => {
    const routes = new Map(
      s.server.app.routes
        .filter(({ path }) => path.startsWith('/threads'))
        .map(({ method, path }) => [`${method} ${path}`, { method, path }]),
    );
    assert.ok(routes.size >= 14, [...routes.keys()].join());
    const body = { assistant_id: 'echo', metadata: {} };
    for (const { method, path } of routes.values()) {
      const real = path.replace(/:\w+/g, MISSING);
      const send = (at: string) => s.request(method, at, method === 'GET' ? undefined : body);
      const [plural, singular] = [await send(real), await send(real.replace('/threads', '/thread'))];
      assert.equal(singular.status, plural.status, `${method} ${path}`);
      // A path that no route knows answers this.
      assert.notDeepEqual(singular.json, { detail: 'Not found' }, `${method} ${path}`);
      if (plural.status !== 200) assert.equal(singular.text, plural.text, `${method} ${path}`);
    }
    const threadId = await newThread(s);
    const values = await s.request('POST', `/thread/${threadId}/runs/wait`, {
      assistant_id: 'echo',
      input: say('hi'),
    });
    assert.match(values.headers.get('content-location') ?? '', new RegExp(`^/threads/${threadId}/runs/`));
    assert.deepEqual((await s.request('GET', `/thread/${threadId}`)).json.values, values.json);
    for (const path of ['/threadss', '/thread-x', `/threa/${threadId}`])
      assert.equal((await s.request('GET', path)).status, 404, path);
  }));

test.run();

/** What auth handlers are given and may change; the numbers name sections of the official server's behaviour. */
import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { PROJECT, withServer } from '../support/with-server.ts';
import { config, hastyClock } from './scene.ts';

const test = suite('conformance: payloads of auth handlers');

const STEERED = {
  config: config('platform.auth.json'),
  overrides: { auth: { file: `${PROJECT}auth-variants.ts`, exportName: 'steered' } },
  clock: hastyClock(),
};
const SHOWS = { 'x-verdict': 'shows' };

test('a handler that stamps metadata in a search narrows search and count (official 4, A2)', () =>
  withServer(STEERED, async (s) => {
    // given: threads, runs, assistants and crons of two owners
    const post = async (path: string, body: object) => (await s.request('POST', path, body)).json;
    const own = { metadata: { mark: 'mine' } };
    const foreign = { metadata: { mark: 'theirs' } };
    const { thread_id: mine } = await post('/threads', own);
    await post('/threads', foreign);
    const { assistant_id: assistant } = await post('/assistants', { graph_id: 'echo', ...own });
    await post('/assistants', { graph_id: 'echo', ...foreign });
    const plan = { assistant_id: 'echo', schedule: '0 0 1 1 *' };
    const { cron_id: cron } = await post('/runs/crons', { ...plan, ...own });
    await post('/runs/crons', { ...plan, ...foreign });

    // when: the handler stamps its mark into the payload of each search, and returns nothing
    const narrowed = async (path: string, body: object = {}) =>
      (await s.request('POST', path, body, { 'x-verdict': 'narrows' })).json;

    // then: only what has the mark is found
    const ids = (rows: Record<string, string>[], key: string) => rows.map((row) => row[key]);
    assert.deepEqual(ids(await narrowed('/threads/search'), 'thread_id'), [mine]);
    assert.deepEqual(ids(await narrowed('/threads/search', foreign), 'thread_id'), [mine]);
    assert.equal(await narrowed('/threads/count'), 1);
    // The server's own assistants are everybody's.
    const found = await narrowed('/assistants/search', { limit: 100 });
    const narrow = found.filter((row: { metadata: object }) => !('created_by' in row.metadata));
    assert.deepEqual(ids(narrow, 'assistant_id'), [assistant]);
    assert.equal(await narrowed('/assistants/count'), found.length);
    assert.deepEqual(ids(await narrowed('/runs/crons/search'), 'cron_id'), [cron]);
    assert.equal(await narrowed('/runs/crons/count'), 1);
    assert.ok((await post('/threads/search', {})).length === 2, 'without the stamp both are found');
  }));

test('a handler of create_run sees the whole order of the run (official 4)', () =>
  withServer(STEERED, async (s) => {
    const body = {
      assistant_id: 'echo',
      command: { goto: 'a' },
      context: { tone: 'dry' },
      stream_mode: ['updates'],
      interrupt_before: ['a'],
      feedback_keys: ['f'],
      durability: 'sync',
      stream_subgraphs: true,
    };
    const { json, status } = await s.request('POST', '/runs', body as any, SHOWS);
    assert.equal(status, 403);
    const [event, value] = JSON.parse(json.detail) as [string, { kwargs: Record<string, unknown> }];
    assert.equal(event, 'threads:create_run');
    const { config: _, ...kwargs } = value.kwargs;
    assert.deepEqual(kwargs, {
      input: null,
      command: { goto: 'a' },
      context: { tone: 'dry' },
      stream_mode: ['updates'],
      interrupt_before: ['a'],
      interrupt_after: null,
      webhook: null,
      feedback_keys: ['f'],
      temporary: true,
      subgraphs: true,
      resumable: false,
      checkpoint_during: true,
      durability: 'sync',
    });
  }));

test('a handler of create_run sees `if_not_exists` as the official server shows it (official 4)', () =>
  withServer(STEERED, async (s) => {
    const { thread_id: thread } = (await s.request('POST', '/threads', {})).json;
    for (const [path, more, expected] of [
      [`/threads/${thread}/runs`, {}, 'reject'],
      [`/threads/${thread}/runs`, { if_not_exists: 'create' }, 'create'],
      ['/runs', {}, 'reject'],
      ...[['/runs/batch', {}, 'reject'] as const, ['/runs/stream', {}, 'create'] as const],
      ['/runs/wait', {}, 'create'],
    ] as const) {
      const order = { assistant_id: 'echo', ...more };
      const { json } = await s.request('POST', path, path === '/runs/batch' ? [order] : order, SHOWS);
      assert.equal(JSON.parse(json.detail)[1].if_not_exists, expected, path);
    }
  }));

test('searches, store calls and prunes show the handler every condition (official 4)', () =>
  withServer(STEERED, async (s) => {
    const { thread_id: thread } = (await s.request('POST', '/threads', {})).json;
    const cases: [method: string, path: string, body: object | undefined, event: string, value: object][] = [
      [
        'POST',
        '/threads/search',
        {},
        'threads:search',
        { metadata: {}, values: {}, status: null, limit: 10, offset: 0 },
      ],
      [
        'PUT',
        '/store/items',
        { namespace: ['a'], key: 'k', value: {}, index: ['x'], ttl: 5 },
        'store:put',
        { namespace: ['a'], key: 'k', value: {}, index: ['x'], ttl: 5 },
      ],
      [
        'GET',
        '/store/items?namespace=a&key=k&refresh_ttl=true',
        undefined,
        'store:get',
        { namespace: ['a'], key: 'k', refresh_ttl: true },
      ],
      [
        'POST',
        '/store/items/search',
        { namespace_prefix: ['a'], refresh_ttl: false },
        'store:search',
        { namespace: ['a'], filter: null, limit: 10, offset: 0, query: null, refresh_ttl: false },
      ],
      [
        'POST',
        '/threads/prune',
        { thread_ids: [thread], strategy: 'delete' },
        'threads:delete',
        { thread_ids: [thread] },
      ],
    ];
    for (const [method, path, body, event, value] of cases) {
      const { json } = await s.request(method, path, body, SHOWS);
      assert.deepEqual(JSON.parse(json.detail), [event, value], `${method} ${path}`);
    }
  }));

test('what a handler of create_run changes in kwargs is what the run does (official 4)', () =>
  withServer(STEERED, async (s) => {
    // given
    const body = {
      assistant_id: 'sees',
      input: { a: 1 },
      context: { asked: true },
      config: { configurable: { asked: true }, tags: ['t'] },
      webhook: 'https://example.com/hook?token=secret',
    };
    // when: the handler replaces some members and changes others in place
    const headers = { 'x-verdict': 'orders' };
    const run = (await s.request('POST', '/runs', { ...body, on_completion: 'keep' }, headers)).json;
    // then
    const { kwargs } = run;
    assert.deepEqual(kwargs.input, { a: 1, tenant: 'alice' });
    assert.deepEqual(kwargs.context, { tenant: 'alice' });
    assert.deepEqual(kwargs.interrupt_before, ['a']);
    assert.equal(kwargs.webhook, 'https://example.com/hook?token=***');
    const { configurable, tags, metadata } = kwargs.config;
    assert.deepEqual(tags, ['t']);
    assert.equal(metadata.tenant, 'alice');
    assert.equal(configurable.tenant, 'alice');
    assert.equal(configurable.asked, true);
    // then: the names of the run stay those of the server
    assert.equal(configurable.run_id, run.run_id);
    assert.equal(configurable.thread_id, run.thread_id);
  }));

test('kwargs that a handler of create_run spoils are a 500, and no run is made (official 4)', () =>
  withServer({ ...STEERED, allowFaults: true }, async (s) => {
    const before = await s.events();
    const run = { assistant_id: 'echo', input: {} };
    const { status } = await s.request('POST', '/runs', run, { 'x-verdict': 'disorders' });
    assert.equal(status, 500);
    assert.deepEqual(await s.events(), before);
  }));

test.run();

import * as assert from 'node:assert/strict';
import { sharedServer } from '../support/shared-server.ts';
import { suite } from '../support/suite.ts';
import type { TestServer } from '../support/with-server.ts';
import { MISSING, newThread } from './scene.ts';
import {
  OBJECTS,
  NAMES,
  LIMITS,
  OFFSETS,
  RUN,
  THREAD,
  STATE,
  STATE_AT,
  HISTORY,
  PATCH,
  SEARCH,
  PRUNE,
  COUNT,
  ASSISTANTS,
  ASSISTANT,
  CRON,
  CRONS,
  NEW_ASSISTANT,
} from './wrong-values.ts';

const test = suite('conformance: bad input');
const plain = sharedServer(test, {});
const onShared = (use: (s: TestServer) => Promise<void>): Promise<void> => use(plain());

/** The field set to the value, also when it lies in an inner object. */
function withField(body: object, field: string, value: unknown): object {
  const [outer, inner] = field.split('.') as [string, string?];
  return { ...body, [outer]: inner === undefined ? value : { [inner]: value } };
}

async function assertRefused(s: TestServer, method: string, path: string, field: string, body?: unknown) {
  const answer = await s.request(method, path, body);
  const what = `${method} ${path} ${JSON.stringify(body)?.slice(0, 200)}: ${answer.text}`;
  assert.equal(answer.status, 422, what);
  assert.deepEqual(Object.keys(answer.json), ['detail'], what);
  assert.match(answer.json.detail, new RegExp(`(^|; )${field.replace('.', '\\.')}(\\.\\w+)*: .`), what);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
}

/** Refusals write nothing (D3). */
async function unchanged(s: TestServer, use: () => Promise<void>): Promise<void> {
  const before = await s.events();
  await use();
  assert.deepEqual(await s.events(), before);
}

for (const [method, path, valid, fields] of [
  ['POST', '/threads/:id/runs', { assistant_id: 'echo' }, RUN],
  ['POST', '/threads/:id/runs/stream', { assistant_id: 'echo' }, RUN],
  ['POST', '/threads/:id/runs/wait', { assistant_id: 'echo' }, RUN],
  ['POST', '/runs', { assistant_id: 'echo' }, RUN],
  ['POST', '/runs/stream', { assistant_id: 'echo' }, RUN],
  ['POST', '/runs/wait', { assistant_id: 'echo' }, RUN],
  ['POST', '/threads', {}, THREAD],
  ['PATCH', '/threads/:id', {}, PATCH],
  ['POST', '/threads/:id/state', { values: {} }, STATE],
  ['PATCH', '/threads/:id/state', {}, { metadata: OBJECTS }],
  ['POST', '/threads/:id/state/checkpoint', {}, STATE_AT],
  ['POST', '/threads/:id/history', {}, HISTORY],
  ['POST', '/threads/search', {}, SEARCH],
  ['POST', '/threads/count', {}, COUNT],
  ['POST', '/threads/prune', { thread_ids: [] }, PRUNE],
  ['POST', '/assistants/search', {}, ASSISTANTS],
  ['POST', '/assistants/count', {}, { metadata: OBJECTS, graph_id: NAMES, name: NAMES }],
  ['POST', '/assistants', { graph_id: 'echo' }, NEW_ASSISTANT],
  ['PATCH', '/assistants/echo', {}, ASSISTANT],
  ['POST', '/runs/crons', { assistant_id: 'echo', schedule: '0 0 1 1 *' }, CRON],
  ['POST', '/runs/crons/search', {}, CRONS],
  ['POST', '/assistants/echo/versions', {}, { metadata: OBJECTS, limit: LIMITS, offset: OFFSETS }],
  ['POST', '/assistants/echo/latest', {}, { version: [undefined, null, 1.5, '1', {}, 1e300] }],
] as const)
  test(`given a wrong value in any field, when it is sent to ${method} ${path}, then 422 names the field and nothing happens`, () =>
    onShared(async (s) => {
      const threadId = await newThread(s);
      await unchanged(s, async () => {
        for (const [field, values] of Object.entries(fields))
          for (const value of values)
            await assertRefused(
              s,
              method,
              path.replace(':id', threadId),
              field,
              withField(valid, field, value),
            );
      });
    }));

test('given wrong query parameters, when they are sent, then 422 names the parameter and nothing happens', () =>
  onShared(async (s) => {
    const threadId = await newThread(s);
    const run = await s.client.runs.create(threadId, 'echo', { input: {} });
    await s.client.runs.join(threadId, run.run_id);
    const runPath = `/threads/${threadId}/runs/${run.run_id}`;
    const paging = {
      limit: ['0', '1001', '-1', 'x', '1.5', '1e1', '0x1', '10,20', '9'.repeat(20)],
      offset: ['-1', 'x', '0.5', '9'.repeat(16)],
      metadata: ['x', '[]', '1', '{', 'null1', '"a"', '{"__proto__":1}', '{"a":{"__proto__":1}}'],
    };
    await unchanged(s, async () => {
      for (const [path, method, fields] of [
        [
          '/threads',
          'GET',
          {
            ...paging,
            status: ['x'],
            ids: ['x', '[1]', '["x"]', `${MISSING},x`],
            sort_by: ['x', 'created_at,status'],
            sort_order: ['x'],
            select: ['%00', '[1]', '[{}]'],
            values: ['x', '[]'],
            extract: ['x', '{"a":"b"}'],
          },
        ],
        [`/threads/${threadId}`, 'GET', { include: ['values', 'ttl,x'] }],
        // A page of runs may have any length.
        [
          `/threads/${threadId}/runs`,
          'GET',
          {
            ...paging,
            limit: paging.limit.filter((value) => value !== '1001'),
            status: ['x', 'done'],
            select: ['[null]'],
          },
        ],
        [
          `/threads/${threadId}/history`,
          'GET',
          { limit: paging.limit, metadata: paging.metadata, checkpoint: ['x', '[]'] },
        ],
        [`${runPath}/cancel`, 'POST', { action: ['stop'] }],
        [`${runPath}/stream`, 'GET', { stream_mode: ['x', '["x"]', 'values,x'] }],
        [`${runPath}/join`, 'GET', { stream_mode: ['x'] }],
      ] as const)
        for (const [field, values] of Object.entries(fields))
          for (const value of values)
            await assertRefused(
              s,
              method,
              `${path}?${field}=${value.startsWith('%') ? value : encodeURIComponent(value)}`,
              field,
            );
      // Deep enough to overflow whoever walks it, short enough for a request line.
      const deep = `{"a":${'['.repeat(7000)}${']'.repeat(7000)}}`;
      for (const path of ['/threads', `/threads/${threadId}/runs`])
        await assertRefused(s, 'GET', `${path}?metadata=${deep.replaceAll('"', '%22')}`, 'metadata');
    });
  }));

test('given an id in the path that is no UUID, when any route is asked, then 422 names it and nothing happens', () =>
  onShared(async (s) => {
    // Commands answer in the words of their protocol.
    const routes = s.server.app.routes.filter(
      ({ path }) => /:(thread|run|cron)_id/.test(path) && !path.endsWith('/commands'),
    );
    const wrong = [
      'x',
      '1',
      `${MISSING}0`,
      MISSING.slice(1),
      '%00',
      '%E2%82%AC',
      '%ff',
      '__proto__',
      `{${MISSING}}`,
    ];
    await unchanged(s, async () => {
      for (const { method, path } of routes)
        for (const field of ['thread_id', 'run_id', 'cron_id', 'webhook_id'].filter((name) =>
          path.includes(`:${name}`),
        ))
          for (const id of wrong) {
            // These names are routes of their own.
            const at = path.replace(`:${field}`, id).replace(/:\w+/, MISSING);
            const body = method === 'GET' || method === 'DELETE' ? undefined : { assistant_id: 'echo' };
            await assertRefused(s, method, at, field, body);
          }
    });
  }));

test('given a path or a method that no route has, when it is asked for, then the answer is 404 with a detail', () =>
  onShared(async (s) => {
    const threadId = await newThread(s);
    const known = s.server.app.routes.filter(({ path, method }) => !path.includes('*') && method !== 'ALL');
    const paths = new Map<string, Set<string>>();
    for (const { method, path } of known) paths.set(path, (paths.get(path) ?? new Set()).add(method));
    await unchanged(s, async () => {
      for (const [path, methods] of paths) {
        const at = path.replace(':thread_id', threadId).replace(/:\w+/, MISSING);
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
          // Another route may take this path for an id.
          if (methods.has(method)) continue;
          if (
            method === 'GET' &&
            /^\/\w+\/(search|count|prune|redeliver|import)$|\/state\/checkpoint$/.test(at)
          )
            continue;
          if (/\/(search|count|prune|stream|wait|crons|import)$/.test(at) && method !== 'PUT') continue;
          const answer = await s.request(method, at, method === 'GET' ? undefined : {});
          const expected = [405, { detail: 'Method Not Allowed' }];
          assert.deepEqual([answer.status, answer.json], expected, `${method} ${at}`);
        }
      }
      for (const path of ['/nothing', '/threads//', '/OK', '/%', '/..%2f..%2fetc'])
        assert.equal((await s.request('GET', path)).status, 404, path);
    });
  }));

test('members that a list does not have are a 422 that names those it has', () =>
  onShared(async (s) => {
    const threadId = await newThread(s);
    for (const [method, path, known] of [
      ['GET', `/threads/${threadId}/runs?select=zzz`, 'multitask_strategy'],
      ['POST', '/threads/search', 'state_updated_at'],
      ['POST', '/assistants/search', 'graph_id'],
      ['POST', '/runs/crons/search', 'next_run_date'],
    ] as const) {
      const body = method === 'POST' ? { select: ['zzz'] } : undefined;
      const { status, json } = await s.request(method, path, body);
      assert.equal(status, 422, path);
      assert.match(json.detail, new RegExp(`^select\\.0: .*${known}`), path);
    }
  }));

test('a wrong method on a known path is a 405 that names the right ones (official 6)', () =>
  onShared(async (s) => {
    for (const [method, path, allow] of [
      ['PUT', '/threads', 'GET, HEAD, POST'],
      ['POST', '/info', 'GET, HEAD'],
      ['PATCH', `/threads/${MISSING}/runs`, 'GET, HEAD, POST'],
      ['DELETE', '/store/items/search', 'POST'],
      // The path with a parameter that matches as well is another one.
      ['PUT', '/threads/search', 'POST'],
      ['PUT', '/assistants/count', 'POST'],
      ['PUT', '/runs/crons/search', 'POST'],
      ['PUT', `/threads/${MISSING}/runs/crons`, 'POST'],
      ['DELETE', `/threads/${MISSING}/state/checkpoint`, 'POST'],
      ['PUT', `/threads/${MISSING}`, 'DELETE, GET, HEAD, PATCH'],
    ] as const) {
      const { status, headers, json } = await s.request(method, path, {});
      assert.deepEqual([status, json], [405, { detail: 'Method Not Allowed' }], `${method} ${path}`);
      assert.equal(headers.get('allow'), allow, path);
    }
    assert.equal((await s.request('GET', '/nowhere')).status, 404);
  }));

test.run();

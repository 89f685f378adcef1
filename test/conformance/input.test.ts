import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { MISSING, newThread } from './scene.ts';

const test = suite('conformance: bad input');

const OBJECTS = ['text', 1, true, [], [{}]];
const NAMES = [1, {}, [], '', 'x'.repeat(513), 'a\u0000b', '\ud800'];
const LIMITS = [0, 1001, -1, 1.5, 'x', '10', [], 1e300];
const OFFSETS = [-1, 1.5, 'x', {}, 1e300];

/** Values that are wrong for the field, for each body. */
const RUN: Record<string, readonly unknown[]> = {
  assistant_id: [undefined, null, ...NAMES],
  command: ['resume', 1, []],
  metadata: OBJECTS,
  config: OBJECTS,
  'config.configurable': OBJECTS,
  'config.tags': ['t', [1], {}, Array(1001).fill('t')],
  'config.recursion_limit': [0, -1, 1.5, '5'],
  checkpoint: OBJECTS,
  'checkpoint.checkpoint_id': [...NAMES],
  'checkpoint.checkpoint_map': OBJECTS,
  'checkpoint.checkpoint_ns': [1, {}],
  checkpoint_id: [...NAMES],
  webhook: [
    1,
    {},
    '',
    'no url',
    '/path',
    'ftp://example.com/',
    'http://',
    `https://example.com/${'x'.repeat(3000)}`,
  ],
  interrupt_before: ['node', 1, [1], [''], {}, Array(1001).fill('node')],
  interrupt_after: ['node', true, [null], ['\u0000']],
  stream_mode: [Array(101).fill('values'), 'nothing', 1, {}, ['values', 'nothing'], [1], 'VALUES'],
  stream_subgraphs: ['true', 1, {}],
  on_disconnect: ['stop', 1, ''],
  on_completion: [1, {}],
  multitask_strategy: ['REJECT', 'reject ', 1, {}, ['reject']],
  if_not_exists: ['make', 1],
  after_seconds: [-1, '5', 31_536_001, 1e300, {}],
  durability: ['never', 1],
};
const THREAD = {
  thread_id: ['x', 1, '', `${MISSING}0`],
  metadata: OBJECTS,
  if_exists: ['merge', 1],
  supersteps: [
    1,
    {},
    'x',
    [1],
    [null],
    [{}],
    [{ updates: [] }],
    [{ updates: {} }],
    [{ updates: [{}] }],
    [{ updates: [{ as_node: 1 }] }],
    [{ updates: [{ as_node: 'a', command: {} }] }],
    Array(10_001).fill({ updates: [{ as_node: 'a' }] }),
  ],
  ttl: [5],
};
const PLACES = [
  1,
  'x',
  [],
  { checkpoint_id: 1 },
  { checkpoint_id: '' },
  { checkpoint_id: '\u0000' },
  { checkpoint_ns: 1 },
  { checkpoint_ns: '\u0000' },
  { checkpoint_ns: 'x'.repeat(4097) },
  { checkpoint_map: [] },
];
const STATE = {
  values: [1, 'x', true, [1], [[]], ['x']],
  as_node: ['', 1, {}, '\u0000'],
  checkpoint: PLACES,
  checkpoint_id: ['', 1, {}, '\ud800'],
};
const STATE_AT = { checkpoint: PLACES, subgraphs: ['true', 1, {}] };
const HISTORY = {
  limit: LIMITS,
  before: [1, '', true, [], { checkpoint_id: 1 }, { configurable: { checkpoint_id: [] } }],
  metadata: OBJECTS,
  checkpoint: PLACES,
};
const PATCH = { metadata: OBJECTS, ttl: [{ ttl: 1 }] };
const SEARCH: Record<string, readonly unknown[]> = {
  ids: ['x', ['x'], [1], {}, [MISSING, ''], Array(1001).fill(MISSING)],
  metadata: OBJECTS,
  status: ['done', 1, 'IDLE'],
  sort_by: ['values', 1, 'constructor', 'thread_id; DROP TABLE threads'],
  sort_order: ['up', 1, 'ASC'],
  limit: LIMITS,
  offset: OFFSETS,
  select: [1, {}, [1], [''], Array(101).fill('status')],
  values: [{}],
  extract: [{}],
};
const { ids: _ids, status: _status, sort_by: _sorts, values: _v, extract: _e, ...PAGE } = SEARCH;
const ASSISTANTS = { ...PAGE, graph_id: NAMES, name: NAMES, sort_by: ['version', 1] };
const ASSISTANT: Record<string, readonly unknown[]> = {
  graph_id: NAMES,
  config: OBJECTS,
  'config.configurable': OBJECTS,
  'config.tags': ['t', [1], {}],
  'config.recursion_limit': [0, -1, 1.5, '5'],
  metadata: OBJECTS,
  name: NAMES,
  description: [1, {}, [], 'x'.repeat(10_001), '\ud800'],
};
const NEW_ASSISTANT = {
  ...ASSISTANT,
  graph_id: [undefined, null, ...NAMES],
  assistant_id: ['x', 1, '', `${MISSING}0`],
  if_exists: ['merge', 1],
};

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
  ['POST', '/assistants/search', {}, ASSISTANTS],
  ['POST', '/assistants/count', {}, { metadata: OBJECTS, graph_id: NAMES, name: NAMES }],
  ['POST', '/assistants', { graph_id: 'echo' }, NEW_ASSISTANT],
  ['PATCH', '/assistants/echo', {}, ASSISTANT],
  ['POST', '/assistants/echo/versions', {}, { metadata: OBJECTS, limit: LIMITS, offset: OFFSETS }],
  ['POST', '/assistants/echo/latest', {}, { version: [undefined, null, 0, -1, 1.5, '1', {}, 1e300] }],
] as const)
  test(`given a wrong value in any field, when it is sent to ${method} ${path}, then 422 names the field and nothing happens`, () =>
    withServer({}, async (s) => {
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
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const run = await s.client.runs.create(threadId, 'echo', { input: {} });
    await s.client.runs.join(threadId, run.run_id);
    const runPath = `/threads/${threadId}/runs/${run.run_id}`;
    const paging = {
      limit: ['0', '1001', '-1', 'x', '1.5', '', '1e1', '0x1', '10,20', '9'.repeat(20)],
      offset: ['-1', 'x', '0.5', '', '9'.repeat(16)],
      metadata: ['x', '[]', '1', '{', 'null1', '"a"', '{"__proto__":1}', '{"a":{"constructor":1}}'],
    };
    await unchanged(s, async () => {
      for (const [path, method, fields] of [
        [
          '/threads',
          'GET',
          {
            ...paging,
            status: ['x', ''],
            ids: ['x', '[1]', '["x"]', `${MISSING},x`],
            sort_by: ['x', '', 'created_at,status'],
            sort_order: ['x'],
            select: ['%00', '[1]', '[{}]'],
            values: ['{}'],
            extract: ['{}'],
          },
        ],
        [`/threads/${threadId}/runs`, 'GET', { ...paging, status: ['x', 'done'], select: ['[null]'] }],
        [
          `/threads/${threadId}/history`,
          'GET',
          { limit: paging.limit, metadata: paging.metadata, checkpoint: ['x', '[]'] },
        ],
        [`${runPath}/cancel`, 'POST', { action: ['stop', ''] }],
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
  withServer({}, async (s) => {
    const routes = s.server.app.routes.filter(({ path }) => /:(thread|run)_id/.test(path));
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
        for (const field of ['thread_id', 'run_id'].filter((name) => path.includes(`:${name}`)))
          for (const id of wrong) {
            // These names are routes of their own.
            const at = path.replace(`:${field}`, id).replace(/:\w+/, MISSING);
            const body = method === 'GET' || method === 'DELETE' ? undefined : { assistant_id: 'echo' };
            await assertRefused(s, method, at, field, body);
          }
    });
  }));

test('given a path or a method that no route has, when it is asked for, then the answer is 404 with a detail', () =>
  withServer({}, async (s) => {
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
          if (method === 'GET' && /^\/\w+\/(search|count)$|\/state\/checkpoint$/.test(at)) continue;
          if (/\/(search|count|stream|wait)$/.test(at) && method !== 'PUT') continue;
          const answer = await s.request(method, at, method === 'GET' ? undefined : {});
          assert.deepEqual([answer.status, answer.json], [404, { detail: 'Not found' }], `${method} ${at}`);
        }
      }
      for (const path of [
        '/nothing',
        '/threads/',
        '/ok/',
        '/OK',
        `/threads/${threadId}/`,
        '/runs',
        '/%',
        '/..%2f..%2fetc',
      ])
        assert.equal((await s.request('GET', path)).status, 404, path);
    });
  }));

test.run();

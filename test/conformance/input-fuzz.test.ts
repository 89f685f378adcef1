import * as assert from 'node:assert/strict';
import fc from '../support/properties.ts';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, MISSING, newThread } from './scene.ts';

const test = suite('conformance: any input');

const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.constantFrom<unknown>(
    null,
    '',
    '__proto__',
    '*',
    -1,
    0,
    1.5,
    1e308,
    MISSING,
    'a\u0000b',
    '\ud800',
    [],
    {},
    [[]],
    [null],
  ),
);
const mostly = (...right: unknown[]) =>
  fc.oneof({ weight: 15, arbitrary: fc.constantFrom<unknown>(...right) }, junk);
const maybe = <T>(fields: Record<string, fc.Arbitrary<T>>) => fc.record(fields, { requiredKeys: [] });

/** Bodies that get far: most members are right, some are not. No delay, else a reply would wait for it. */
const body = maybe<unknown>({
  assistant_id: fc.oneof({ weight: 9, arbitrary: fc.constantFrom<unknown>('echo', 'agent', 'asks') }, junk),
  input: fc.oneof(
    junk,
    maybe({
      messages: fc.oneof(
        junk,
        fc.array(
          maybe<unknown>({ role: mostly('user'), content: junk, id: junk, type: mostly('human', 'remove') }),
        ),
      ),
    }),
  ),
  command: fc.oneof(fc.constant(null), maybe<unknown>({ resume: junk, update: junk, goto: junk })),
  metadata: mostly({}, { a: 1 }),
  config: fc.oneof(
    junk,
    maybe<unknown>({
      configurable: mostly({}, { thread_id: 1, checkpoint_id: 'x' }),
      tags: mostly(['t']),
      recursion_limit: mostly(5, 25),
    }),
  ),
  context: junk,
  checkpoint: mostly(null, { checkpoint_id: MISSING }, { checkpoint_id: null, checkpoint_ns: 'x' }),
  checkpoint_id: mostly(null, 'x'),
  webhook: mostly(null, 'http://0/'),
  interrupt_before: mostly(null, '*', ['agent', 'nobody']),
  interrupt_after: mostly(null, '*'),
  stream_mode: mostly('values', ['values', 'events'], ['messages-tuple', 'custom', 'updates']),
  stream_subgraphs: mostly(true, false),
  on_disconnect: mostly('cancel', 'continue'),
  on_completion: mostly('keep', 'delete'),
  multitask_strategy: mostly('reject', 'enqueue', 'interrupt', 'rollback'),
  if_not_exists: mostly('create', 'reject'),
  after_seconds: fc.constantFrom<unknown>(0, 0.0001, null, -1, 'x'),
  durability: mostly('sync', 'async', 'exit'),
  thread_id: mostly(MISSING, null),
  if_exists: mostly('raise', 'do_nothing'),
  ids: mostly([], [MISSING]),
  status: mostly('idle', 'busy'),
  sort_by: mostly('created_at', 'status'),
  sort_order: mostly('asc', 'desc'),
  limit: mostly(1, 1000),
  offset: mostly(0, 5),
  select: mostly(['status'], []),
  graph_id: mostly('echo'),
  name: mostly('e'),
});

const PATHS = [
  ['POST', '/threads'],
  ['PATCH', '/threads/:id'],
  ['POST', '/threads/search'],
  ['POST', '/assistants/search'],
  ['POST', '/threads/:id/runs'],
  ['POST', '/threads/:id/runs/stream'],
  ['POST', '/threads/:id/runs/wait'],
  ['POST', '/runs'],
  ['POST', '/runs/stream'],
  ['POST', '/runs/wait'],
] as const;

/** Sends whatever comes to every route that takes a body; nothing may end in a 5xx, a hang or a recorded fault. */
async function fuzz(s: TestServer, headers: Record<string, string>): Promise<void> {
  const send = async (method: string, path: string, value: unknown) => {
    const answer = await s.request(method, path, JSON.stringify(value), headers);
    const what = `${method} ${path} ${JSON.stringify(value)} -> ${answer.status} ${answer.text.slice(0, 200)}`;
    assert.ok(answer.status < 500, what);
    if (answer.status >= 400) assert.equal(typeof answer.json.detail, 'string', what);
    assert.deepEqual(s.faults, [], what);
  };
  await fc.assert(
    fc.asyncProperty(fc.oneof(junk, body), fc.constantFrom(...PATHS), async (value, [method, path]) => {
      const { thread_id: id } = (await s.request('POST', '/threads', {}, headers)).json;
      await send(method, path.replace(':id', id), value);
    }),
    { numRuns: 250 },
  );
}

test('given any JSON, when it is sent to any route with a body, then the answer is never 5xx and no fault', () =>
  withServer({}, (s) => fuzz(s, {})));

test('given any JSON and an auth handler that looks at it, when it is sent anywhere, then the answer is never 5xx', () =>
  withServer({ config: config('platform.auth.json') }, (s) =>
    fuzz(s, { authorization: 'Bearer alice-token' }),
  ));

/** What user data may look like: everything that JSON can carry but the key and the texts that are refused. */
const keys = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom(
    'lc',
    '$',
    '__type',
    '__$',
    'type',
    'id',
    'kwargs',
    'toJSON',
    'then',
    'toString',
    '',
    ' ',
    '0',
    'length',
    '$ref',
    '__tagged__',
    '@type',
    'value',
    'constructor',
    'prototype',
  ),
);
/** Some generators like it. */
const REFUSED = '__proto__';
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof({ depthSize: 'small', withCrossShrink: true }, tie('leaf'), tie('list'), tie('object')),
  leaf: fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
    fc.maxSafeInteger(),
    fc.boolean(),
    fc.constantFrom<unknown>(null, 1e308, 5e-324, 2 ** 53, 'a\u0000b', '\u2028', '🦉'),
  ),
  list: fc.array(tie('tree'), { maxLength: 4 }),
  object: fc.dictionary(
    keys.filter((key) => key.isWellFormed() && !key.includes('\u0000') && key !== REFUSED),
    tie('tree'),
    { maxKeys: 5 },
  ),
}));

const SERIALISED = {
  lc: 1,
  type: 'constructor',
  id: ['langchain_core', 'messages', 'HumanMessage'],
  kwargs: { content: 'x' },
};

test('given any user data, when it goes through input, metadata and state, then it comes back as it was', () =>
  withServer({}, async (s) => {
    const check = async (data: unknown): Promise<void> => {
      const threadId = await newThread(s, { metadata: { data } });
      const { json: values } = await s.request('POST', `/threads/${threadId}/runs/wait`, {
        assistant_id: 'echo',
        input: { data },
        metadata: { run_data: data },
      });
      const text = JSON.stringify(data);
      const same = (found: unknown, where: string) => assert.equal(JSON.stringify(found), text, where);
      same(values.data, 'values');
      const thread = (await s.request('GET', `/threads/${threadId}`)).json;
      same(thread.metadata.data, 'thread metadata');
      same(thread.values.data, 'thread values');
      same((await s.request('GET', `/threads/${threadId}/state`)).json.values.data, 'state');
      const [run] = (await s.request('GET', `/threads/${threadId}/runs`)).json;
      same(run.kwargs.input.data, 'kwargs');
      same(run.metadata.run_data, 'run metadata');
    };
    for (const data of [
      SERIALISED,
      { a: [SERIALISED] },
      { $: 'Date', v: 1 },
      { __type: 'Map', value: [] },
      { lc: 2, type: 'undefined' },
    ])
      await check(data);
    await fc.assert(fc.asyncProperty(tree, check), { numRuns: 60 });
  }));

test.run();

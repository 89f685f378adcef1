import * as assert from 'node:assert/strict';
import { MAX_VALUES } from '../../src/http/body.ts';
import { sharedServer } from '../support/shared-server.ts';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, MORE, newThread } from './scene.ts';
import { openSocket } from './thread-stream.ts';

const test = suite('conformance: large bodies');
const plain = sharedServer(test, {});
const onShared = (use: (s: TestServer) => Promise<void>): Promise<void> => use(plain());

const listOf = (value: string, count: number): string => `[${Array<string>(count).fill(value).join()}]`;
const listBy = (value: (i: number) => string, count: number): string =>
  `[${Array.from({ length: count }, (_, i) => value(i)).join()}]`;
const record = (prefix: string): string =>
  `{${Array.from({ length: 10 }, (_, i) => `"${prefix}field ${i}":"of \\"${i}\\", {[,:"`).join()}}`;

const TOO_MANY: readonly [string, string][] = [
  ['objects', listOf('{}', 5_000_000)],
  ['lists', listOf('[]', 5_000_000)],
  ['lists in lists', listOf('[[[[[[[[]]]]]]]]', 100_000)],
  ['numbers', listOf('1', MAX_VALUES)],
  ['members of many names in one object', `{${listBy((i) => `"k${i}":1`, 50_000).slice(1, -1)}}`],
  ['members of many names in small objects', listBy((i) => `{"k${i}":1}`, 50_000)],
  ['records that begin alike', listBy((i) => `{"id":1,"k${i}":1}`, 50_000)],
];
const TOO_DEEP: readonly [string, string, RegExp][] = [
  [
    'closed',
    '['.repeat(2_000_000) + ']'.repeat(2_000_000),
    /^metadata\.a(\[0\])+\S*: nested deeper than 128/,
  ],
  ['never closed', '['.repeat(8_000_000), /^metadata\.a(\[0\])+\S*: nested deeper than 128 levels$/],
  [
    'between others',
    `[{"b":[]},{"ü, \\"c":[1,2,{},${'['.repeat(100_000)}`,
    /^metadata\.a\[1\]\.ü, \\"c\[3\]\[0\]\S*: nested/,
  ],
];

const ROUTES = (threadId: string): [string, string][] => [
  ['POST', '/threads'],
  ['PATCH', `/threads/${threadId}`],
  ['POST', `/threads/${threadId}/state`],
  ['POST', '/runs/wait'],
  ['POST', `/threads/${threadId}/commands`],
  ['PUT', '/store/items'],
];

let sent = 0;

/** Sends it to one of the routes, another one each time, and expects that nothing has happened. */
async function refused(s: TestServer, body: string, status: number, detail: RegExp): Promise<void> {
  const threadId = await newThread(s);
  const before = await s.events();
  const routes = ROUTES(threadId);
  const [method, path] = routes[sent++ % routes.length]!;
  const answer = await s.request(method, path, body);
  assert.equal(answer.status, status, `${method} ${path}: ${answer.text.slice(0, 300)}`);
  assert.match(answer.json.detail, detail);
  assert.deepEqual(await s.events(), before);
}

const MANY = /^body: expected at most 500000 values/;

for (const [what, value] of TOO_MANY)
  test(`given a body of very many ${what}, when it is sent to a route, then 413 says how many may be, and nothing happens`, () =>
    onShared((s) => refused(s, `{"metadata":{"a":${value}}}`, 413, MANY)));

for (const [what, value, detail] of TOO_DEEP)
  test(`given a large body that is nested too deep, ${what}, when it is sent to a route, then 422 says where`, () =>
    onShared((s) => refused(s, `{"metadata":{"a":${value}}}`, 422, detail)));

test('given a large body with a mistake, when it is sent, then the scan tells where, and nothing is parsed', () =>
  onShared(async (s) => {
    // The scan takes no number of 5,000 digits, so that none hides what comes behind it.
    for (const body of [`[${','.repeat(1_000_000)}`, `[${'1'.repeat(5_000)},${listOf('{}', 1_000_000)}]`]) {
      const { status, json } = await s.request('POST', '/threads', body);
      assert.equal(status, 422);
      assert.match(json.detail, /^body: expected JSON \(no JSON from character 1 on\)$/);
    }
  }));

test('given a command of very many values, when a socket sends it, then it is refused, and the socket is served on', () =>
  withServer({ config: config('platform.protocol.json') }, async (s) => {
    const socket = await openSocket(s, crypto.randomUUID());
    socket.send(`{"id":1,"method":"run.start","params":{"input":${listOf('{}', 1_000_000)}}}`);
    const { error, message } = await socket.answer();
    assert.equal(error, 'invalid_argument');
    assert.match(message, MANY);
    assert.equal((await socket.ask('no.such')).error, 'unknown_command');
    socket.leave();
  }));

const LARGE: readonly [string, () => string][] = [
  ['300 embeddings of 1,536 numbers', () => listBy((i) => listOf(`${(i + 1) / 7919}`, 1536), 300)],
  ['15,000 records of 10 members', () => listOf(record(''), 15_000)],
  ['10,000 records whose names have escapes', () => listOf('{"\\u00fc\\n":1,"\\u00e4":2}', 10_000)],
  ['records of 1,000 kinds', () => listBy((i) => record(`${i % 1_000} `), 5_000)],
  ['one long text', () => JSON.stringify('" and {[,: and \\'.repeat(500_000))],
  ['128 levels beside each other', () => listOf('['.repeat(125) + ']'.repeat(125), 500)],
];

for (const [what, make] of LARGE)
  test(`given ${what}, when a thread is made with them, then they are kept as they are`, () =>
    onShared(async (s) => {
      const value = make();
      const created = await s.request('POST', '/threads', `{"metadata":{"a":${value}}}`);
      assert.equal(created.status, 200, created.text.slice(0, 300));
      assert.ok(JSON.stringify(created.json.metadata.a) === JSON.stringify(JSON.parse(value)));
    }));

const WORDS = { constructor: 1, prototype: { constructor: null }, a: [{ constructor: { prototype: 'x' } }] };
const same = (found: unknown, wanted: unknown = WORDS): void =>
  assert.equal(JSON.stringify(found), JSON.stringify(wanted));

test('keys named constructor and prototype are data wherever JSON is kept', () =>
  withServer({ config: MORE }, async (s) => {
    const ask = async (method: string, path: string, body?: unknown) => {
      const answer = await s.request(method, path, body);
      assert.ok(answer.status < 300, `${path}: ${answer.text}`);
      return answer.json;
    };
    // metadata of threads, written, merged and searched
    const { thread_id: threadId } = await ask('POST', '/threads', { metadata: WORDS });
    same((await ask('PATCH', `/threads/${threadId}`, { metadata: WORDS })).metadata);
    for (const metadata of [WORDS, { constructor: 1 }])
      same(
        (await ask('POST', '/threads/search', { metadata })).map((found: any) => found.thread_id),
        [threadId],
      );
    // assistants, with versions
    const settings = { config: { configurable: WORDS }, context: WORDS, metadata: WORDS };
    const assistant = await ask('POST', '/assistants', { graph_id: 'keeps', ...settings });
    same([assistant.config.configurable, assistant.context, assistant.metadata], [WORDS, WORDS, WORDS]);
    const path = `/assistants/${assistant.assistant_id}`;
    same((await ask('PATCH', path, { metadata: WORDS })).metadata);
    // runs of a graph of nodes
    const messages = [{ role: 'user', content: 'hi', ...WORDS, additional_kwargs: WORDS }];
    const run = {
      ...{ assistant_id: assistant.assistant_id, input: { data: WORDS, messages } },
      ...{ config: { configurable: WORDS }, metadata: WORDS },
    };
    const { data, seen } = await ask('POST', `/threads/${threadId}/runs/wait`, run);
    same([data, ...seen], [WORDS, WORDS, WORDS, WORDS]);
    const [record] = await ask('GET', `/threads/${threadId}/runs`);
    same(record.kwargs.input, run.input);
    // values: read, written, searched
    const { values } = await ask('GET', `/threads/${threadId}/state`);
    same([values.data, values.messages[0].additional_kwargs], [WORDS, WORDS]);
    await ask('POST', `/threads/${threadId}/state`, { values: { data: WORDS }, as_node: 'keep' });
    for (const found of [{ data: WORDS }, { data: { constructor: 1 } }])
      assert.equal((await ask('POST', '/threads/search', { values: found })).length, 1);
    const extract = { found: 'values.data.constructor' };
    same((await ask('POST', '/threads/search', { extract }))[0].extracted, { found: 1 });
    // a plain function, whose keys are channels
    const { thread_id: plain } = await ask('POST', '/threads', {});
    const again = { assistant_id: 'echo', input: { ...WORDS, messages: [] }, context: WORDS };
    for (let i = 0; i < 2; i++) {
      const { messages: _, ...rest } = await ask('POST', `/threads/${plain}/runs/wait`, again);
      same(rest);
    }
    const { messages: _, ...rest } = (await ask('GET', `/threads/${plain}`)).values;
    same(rest);
    // the store
    const item = { namespace: ['constructor', 'prototype'], key: 'prototype', value: WORDS };
    await ask('PUT', '/store/items', item);
    const found = { namespace_prefix: ['constructor'], filter: { constructor: 1 } };
    same((await ask('POST', '/store/items/search', found)).items[0].value);
    // crons
    const cron = await ask('POST', '/runs/crons', { ...run, schedule: '0 0 1 1 *' });
    same([cron.payload.input, cron.metadata], [run.input, WORDS]);
    assert.equal(Object.hasOwn(Object.prototype, 'a'), false);
  }));

test.run();

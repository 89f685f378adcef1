/** Junk in every place of every operation: no 5xx, no fault, and refusals that say what was wrong. */
import * as assert from 'node:assert/strict';
import { ENDPOINTS } from '../../src/http/endpoints.ts';
import type { Operation } from '../../src/http/endpoint.ts';
import { createRandom, seedFromEnv } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, MISSING, say } from './scene.ts';

const test = suite('conformance: junk on every route');
const seed = seedFromEnv();
/** How many kinds of junk are drawn for each place. */
const JUNK_EACH = Number(process.env['INPUT_JUNK'] ?? 3);

const nest = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
const JUNK: readonly unknown[] = [
  ...[null, true, false, -1, 0, 1, 1.5, 1e308, -1e308, 1e-320, 2 ** 31, 2 ** 53],
  ...[
    '',
    ' ',
    'x',
    '*',
    '..',
    '%00',
    '\u0000',
    'a\u0000b',
    '\ud800',
    'x\udc00',
    '__proto__',
    'echo',
    MISSING,
  ],
  ...['é'.repeat(300), 'x'.repeat(5_000), 'x'.repeat(200_000), 'values.messages[-1]', 'http://x/'],
  ...[[], [[]], [null], [{}], [1], ['x'], ['\u0000'], ['__proto__'], [MISSING], Array(2_000).fill('x')],
  ...[{}, { a: 1 }, { '': 1 }, { $or: [] }, { a: { $gt: {} } }, { a: { $in: 1 } }, { 'a.b"c': [1] }],
  ...[nest(50), { deep: nest(100) }, { length: 1e9 }, { toJSON: 1, then: 1, hasOwnProperty: 1 }],
  { lc: 1, type: 'constructor', id: ['langchain_core', 'messages', 'HumanMessage'], kwargs: { content: 1 } },
  { lg_name: 'Command', goto: [1, { lg_name: 'Send' }] },
  { configurable: { checkpoint_id: 'x', checkpoint_ns: 5 } },
  { checkpoint_id: MISSING, checkpoint_ns: 'x|y', checkpoint_map: { '': 'x' } },
  { ttl: 1e-9, strategy: 'keep_latest' },
  [{ updates: [{ as_node: '__start__', values: 5 }] }],
  [{ updates: [{ as_node: 'echo', command: { goto: ['x'], update: 5, resume: {} } }] }],
];
const JUNK_IN_PATHS = ['%00', '%ff', '..', '%2e%2e%2f', '-1', '__proto__', '%ed%a0%80', '%', "'", MISSING];

/** Bodies that are accepted, where `{}` is not. */
const VALID: Readonly<Record<string, object>> = {
  '/assistants': { graph_id: 'echo' },
  '/assistants/{assistant_id}/latest': { version: 1 },
  '/threads/{thread_id}/state': { values: { a: 1 } },
  '/threads/{thread_id}/stream/events': { channels: ['values'] },
  '/store/items': { namespace: ['a'], key: 'k', value: { owner: 'alice', a: 'text' } },
  '/threads/prune': { thread_ids: [] },
  '/runs/crons': { assistant_id: 'echo', schedule: '0 0 1 1 *' },
  '/threads/{thread_id}/runs/crons': { assistant_id: 'echo', schedule: '0 0 1 1 *' },
};
const INNER: Readonly<Record<string, readonly string[]>> = {
  config: ['configurable', 'tags', 'recursion_limit', 'metadata', 'callbacks'],
  checkpoint: ['checkpoint_id', 'checkpoint_ns', 'checkpoint_map'],
  command: ['resume', 'update', 'goto'],
  before: ['checkpoint_id', 'configurable'],
  input: ['messages'],
};
/** Commands with their members. */
const COMMANDS: Readonly<Record<string, readonly [object, ...string[]]>> = {
  'run.start': [{ assistant_id: 'echo' }, 'assistant_id', 'input', 'config', 'metadata', 'multitaskStrategy'],
  'input.respond': [{ interrupt_id: 'x', response: 1 }, 'interrupt_id', 'responses', 'update', 'config'],
  'state.get': [{}, 'namespace', 'keys'],
  'state.listCheckpoints': [{}, 'namespace', 'limit', 'before'],
  'state.fork': [{ checkpoint_id: 'x' }, 'checkpoint_id', 'input', 'config'],
  'agent.getTree': [{}, 'run_id'],
};

const validBody = ({ path }: Operation): object =>
  VALID[path] ?? (path.includes('/runs') ? { assistant_id: 'echo', input: {} } : {});

/** Every body with `some` of the junk in each of its places. */
function* bodiesOf(operation: Operation, some: () => readonly unknown[]): Generator<unknown> {
  yield* some();
  const valid = validBody(operation);
  const { shape = {} } = operation.body as { shape?: object };
  for (const field of Object.keys(shape)) {
    // A reply would wait for it.
    if (field === 'after_seconds') continue;
    for (const junk of some()) yield { ...valid, [field]: junk };
    for (const inner of INNER[field] ?? [])
      for (const junk of some()) yield { ...valid, [field]: { [inner]: junk } };
  }
  if (!operation.path.endsWith('/commands')) return;
  for (const [method, [params, ...members]] of Object.entries(COMMANDS))
    for (const member of members)
      for (const junk of some()) yield { id: 1, method, params: { ...params, [member]: junk } };
}

function* queriesOf({ path, method, query }: Operation, some: () => readonly unknown[]): Generator<string> {
  const names = Object.keys(query?.shape ?? {});
  if (path === '/store/items' && method === 'delete') names.push('namespace', 'key');
  for (const name of names)
    for (const junk of some()) {
      const text = typeof junk === 'string' ? junk : JSON.stringify(junk);
      if (text.length < 6_000 && text.isWellFormed()) yield `?${name}=${encodeURIComponent(text)}`;
    }
}

async function attack(s: TestServer, headers: Record<string, string>): Promise<void> {
  const random = createRandom(seed);
  const some = (): readonly unknown[] => random.shuffle(JUNK).slice(0, JUNK_EACH);

  async function send(method: string, path: string, body?: unknown): Promise<void> {
    const leaving = new AbortController();
    const response = await fetch(`${s.url}${path}`, {
      method: method.toUpperCase(),
      headers: { 'content-type': 'application/json', ...headers },
      signal: leaving.signal,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const isStream = response.headers.get('content-type')?.includes('event-stream') === true;
    const text = isStream ? '' : await response.text();
    if (isStream) leaving.abort();
    const what = `${method} ${path} ${JSON.stringify(body)?.slice(0, 500)} -> ${response.status} ${text.slice(0, 500)}`;
    assert.ok(response.status < 500, what);
    if (response.status >= 400) {
      const { detail, message = detail } = JSON.parse(text);
      assert.equal(typeof message, 'string', what);
    }
    assert.ok(!text.includes('unknown_error'), what);
    assert.deepEqual(s.faults, [], what);
  }

  /** Anew for every operation: some of them delete it. */
  async function newThings(): Promise<Record<string, string>> {
    const body = { metadata: { graph_id: 'echo' } };
    const { thread_id: thread } = (await s.request('POST', '/threads', body, headers)).json;
    const order = { assistant_id: 'echo', input: say('x') };
    const { run_id: run } = (await s.request('POST', `/threads/${thread}/runs`, order, headers)).json;
    await s.request('GET', `/threads/${thread}/runs/${run}/join`, undefined, headers);
    const plan = { assistant_id: 'echo', schedule: '0 0 1 1 *' };
    const { cron_id: cron } = (await s.request('POST', '/runs/crons', plan, headers)).json;
    const ids = {
      ...{ thread_id: thread, run_id: run, checkpoint_id: MISSING, assistant_id: 'echo' },
      cron_id: cron,
    };
    return { ...ids, namespace: 'x' };
  }

  for (const operation of ENDPOINTS) {
    const things = await newThings();
    const fill = (more: Record<string, string> = {}): string =>
      operation.path.replace(/\{(\w+)\}/g, (_, name: string) => more[name] ?? things[name]!);
    const body = operation.body && validBody(operation);
    for (const [, name] of operation.path.matchAll(/\{(\w+)\}/g))
      for (const junk of JUNK_IN_PATHS) await send(operation.method, fill({ [name!]: junk }), body);
    for (const query of queriesOf(operation, some)) await send(operation.method, fill() + query, body);
    if (operation.body === undefined) continue;
    for (const junk of bodiesOf(operation, some)) await send(operation.method, fill(), junk);
  }
}

const SERVERS = [
  ['platform.json', {}],
  ['platform.store.json', {}],
  ['platform.auth.json', { authorization: 'Bearer alice-token' }],
] as const;

/** One of the servers is drawn, and with `INPUT_JUNK` each of them is attacked. */
const chosen = process.env['INPUT_JUNK'] === undefined ? [createRandom(seed).pick(SERVERS)] : SERVERS;

for (const [name, headers] of chosen)
  test(`given junk in any place of any operation, when it is sent to the server of ${name}, then nothing breaks`, () =>
    withServer({ config: config(name) }, (s) => attack(s, headers)));

test.run();

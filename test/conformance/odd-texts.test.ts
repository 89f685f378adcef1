/** Texts with a NUL, with halves of pairs and with control characters, wherever clients send texts: kept, or refused by name. */
import assert from 'node:assert/strict';
import { withPostgres } from '../support/postgres.ts';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { MISSING, newThread } from './scene.ts';

const test = suite('conformance: odd texts');

const ODD = ['a\0b', '\u00010000', 'a\ud800', '\ufffe\u{10ffff}'];

type Case = (
  s: TestServer,
  odd: string,
  thread: string,
) => readonly [method: string, path: string, body?: unknown][];

const CASES: Record<string, Case> = {
  'ids in bodies': (_, odd) => [
    ['POST', '/threads', { thread_id: odd }],
    ['POST', '/assistants', { assistant_id: odd, graph_id: 'echo' }],
    ['POST', '/runs/wait', { assistant_id: odd, input: {} }],
    ['POST', '/threads/search', { ids: [odd] }],
    ['POST', '/runs/crons/search', { assistant_id: odd }],
  ],
  'ids in paths': (_, odd, thread) => {
    const at = encodeURIComponent(odd.isWellFormed() ? odd : 'x');
    return [
      ['GET', `/threads/${at}`],
      ['GET', `/threads/${at}/state`],
      ['GET', `/threads/${thread}/runs/${at}`],
      ['GET', `/threads/${thread}/state/${at}`],
      ['GET', `/threads/${thread}/runs?status=${at}`],
      ['GET', `/assistants/${at}`],
      ['DELETE', `/runs/crons/${at}`],
      ['GET', `/store/items?namespace=${at}&key=${at}`],
    ];
  },
  metadata: (_, odd, thread) => [
    ['PATCH', `/threads/${thread}`, { metadata: { odd, list: [odd, 'b'] } }],
    ['PATCH', `/threads/${thread}`, { metadata: { [odd]: 1 } }],
    ['POST', '/threads/search', { metadata: { odd } }],
    ['POST', '/threads/search', { metadata: { list: [odd] } }],
    ['POST', '/threads/count', { metadata: { [odd]: 1 } }],
    ['POST', '/threads/search', { values: { odd } }],
  ],
  assistants: (_, odd) => [
    [
      'POST',
      '/assistants',
      { graph_id: 'echo', name: odd, description: odd, metadata: { odd }, config: { configurable: { odd } } },
    ],
    ['POST', '/assistants/search', { name: odd, metadata: { odd } }],
    ['POST', '/assistants/search', { graph_id: odd }],
  ],
  items: (_, odd) => [
    ['PUT', '/store/items', { namespace: ['n', odd], key: 'k', value: { v: 1 } }],
    ['PUT', '/store/items', { namespace: ['n', 'm'], key: odd, value: { v: 2 } }],
    ['PUT', '/store/items', { namespace: ['n', 'm'], key: 'value', value: { [odd]: odd } }],
    ['PUT', '/store/items', { namespace: ['n', 'm'], key: 'value', value: { v: odd } }],
    ['POST', '/store/items/search', { namespace_prefix: ['n', odd] }],
    ['POST', '/store/items/search', { namespace_prefix: ['n'], filter: { v: odd } }],
    ['POST', '/store/items/search', { namespace_prefix: ['n'], query: odd }],
    ['POST', '/store/namespaces', { prefix: ['n'], suffix: [odd] }],
    ['POST', '/store/namespaces', { prefix: ['n'] }],
    ['DELETE', '/store/items', { namespace: ['n', 'm'], key: odd }],
  ],
  'runs and states': (_, odd, thread) => [
    [
      'POST',
      `/threads/${thread}/runs/wait`,
      { assistant_id: 'echo', input: { messages: [{ role: 'user', content: odd }], [odd]: odd } },
    ],
    [
      'POST',
      `/threads/${thread}/runs/wait`,
      {
        assistant_id: 'echo',
        input: null,
        config: { tags: [odd], metadata: { odd }, configurable: { odd } },
        metadata: { odd },
      },
    ],
    [
      'POST',
      `/threads/${thread}/runs/wait`,
      { assistant_id: 'echo', input: {}, checkpoint: { checkpoint_ns: odd, checkpoint_id: odd } },
    ],
    [
      'POST',
      `/threads/${thread}/runs/wait`,
      {
        assistant_id: 'echo',
        input: {},
        interrupt_before: [odd],
        feedback_keys: [odd],
        webhook: `http://${odd}`,
      },
    ],
    [
      'POST',
      `/threads/${thread}/runs/wait`,
      { assistant_id: 'echo', command: { goto: odd, update: { odd } } },
    ],
    ['POST', `/threads/${thread}/state`, { values: { messages: [], [odd]: 1 }, as_node: odd }],
    [
      'POST',
      `/threads/${thread}/state`,
      { values: { messages: [{ role: 'user', content: odd }] }, checkpoint: { checkpoint_ns: odd } },
    ],
    [
      'POST',
      `/threads/${thread}/state/checkpoint`,
      { checkpoint: { checkpoint_id: odd, checkpoint_ns: odd } },
    ],
    [
      'POST',
      `/threads/${thread}/history`,
      { limit: 1, metadata: { odd }, checkpoint: { checkpoint_ns: odd } },
    ],
    ['GET', `/threads/${thread}/state`],
    ['POST', `/threads/${thread}/runs/${MISSING}/cancel?action=${encodeURIComponent('a\0')}`],
  ],
  crons: (_, odd, thread) => [
    ['POST', '/runs/crons', { assistant_id: 'echo', schedule: odd, input: {} }],
    ['POST', '/runs/crons', { assistant_id: 'echo', schedule: '0 0 1 1 *', timezone: odd, input: {} }],
    [
      'POST',
      `/threads/${thread}/runs/crons`,
      { assistant_id: 'echo', schedule: '0 0 1 1 *', input: { odd }, metadata: { odd } },
    ],
    ['POST', '/runs/crons/search', { thread_id: thread, metadata: { odd } }],
  ],
};

/** Ids and times are drawn anew; a slow answer begins with signs of life. */
const told = (text: string, thread: string): string =>
  text
    .trimStart()
    .replaceAll(thread, 'THREAD')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)/g, 'TIME');

async function answersOf(env: Record<string, string>): Promise<Record<string, string>> {
  const answers: Record<string, string> = {};
  await withServer({ env }, async (s) => {
    for (const [name, make] of Object.entries(CASES))
      for (const odd of ODD) {
        const thread = await newThread(s);
        for (const [index, [method, path, body]] of make(s, odd, thread).entries()) {
          const { status, text } = await s.request(method as any, path as any, body as any);
          assert.ok(status < 500, `${status} for ${method} ${path} ${JSON.stringify(body)}: ${text}`);
          answers[`${name} ${index} ${JSON.stringify(odd)}`] = `${status} ${told(text, thread)}`;
        }
      }
    assert.deepEqual(s.faults, []);
  });
  return answers;
}

test('an odd text is kept or refused in the same words on both engines, and never a failure of the store', async () => {
  const inFile = await answersOf({});
  await withPostgres(async (url) => {
    assert.deepEqual(await answersOf({ PLATFORM_DATABASE_URL: url }), inFile);
  });
});

test.run();

import * as assert from 'node:assert/strict';
import { ENDPOINTS } from '../../src/http/endpoints.ts';
import { isPublic } from '../../src/http/access.ts';
import { exportedThread } from '../isolation/exported.ts';
import { suite } from '../support/suite.ts';
import { PROJECT, withServer, type TestServer } from '../support/with-server.ts';
import { config, hastyClock, MISSING, say } from './scene.ts';

const test = suite('conformance: verdicts on every route');

const STEERED = {
  config: config('platform.auth.json'),
  overrides: { auth: { file: `${PROJECT}auth-variants.ts`, exportName: 'steered' } },
  clock: hastyClock(),
  allowFaults: true,
};
const COMMANDS = {
  'run.start': { assistant_id: 'echo', input: say('x') },
  'input.respond': { interrupt_id: 'x', response: 1 },
  'state.get': {},
  'state.listCheckpoints': {},
  'state.fork': { checkpoint_id: 'x' },
  'agent.getTree': {},
};

/** A request that an own thing answers, for every operation that has to ask. */
async function requestsOf(s: TestServer) {
  const send = async (method: string, path: string, body?: object) => {
    const { status, json, text } = await s.request(method, path, body);
    assert.ok(status < 300, text);
    return json;
  };
  const { assistant_id: assistant } = await send('POST', '/assistants', { graph_id: 'echo' });
  const { thread_id: thread } = await send('POST', '/threads');
  const run = await send('POST', `/threads/${thread}/runs`, { assistant_id: 'echo', input: say('x') });
  await send('GET', `/threads/${thread}/runs/${run.run_id}/join`);
  const { checkpoint } = await send('GET', `/threads/${thread}/state`);
  const plan = { assistant_id: 'echo', schedule: '0 0 1 1 *' };
  const { cron_id: cron } = await send('POST', '/runs/crons', plan);
  const item = { namespace: ['a'], key: 'k' };
  await send('PUT', '/store/items', { ...item, value: {} });
  const bodies: Record<string, unknown> = {
    'POST /assistants': { graph_id: 'echo' },
    'POST /assistants/{assistant_id}/latest': { version: 1 },
    'POST /threads/import': exportedThread(MISSING, {}),
    'POST /opened': exportedThread(MISSING, {}),
    'POST /threads/prune': { thread_ids: [thread], strategy: 'delete' },
    'POST /threads/{thread_id}/state': { values: {} },
    'POST /threads/{thread_id}/stream/events': { channels: ['values'] },
    'POST /runs/batch': [{ assistant_id: 'echo' }],
    'POST /runs/cancel': { status: 'all' },
    'POST /runs/crons': plan,
    'POST /threads/{thread_id}/runs/crons': plan,
    'POST /runs/crons/search': {},
    'POST /runs/crons/count': {},
    'PATCH /runs/crons/{cron_id}': { enabled: true },
    'POST /webhooks/redeliver': { since: '2000-01-01' },
    'PUT /store/items': { ...item, value: { new: 1 } },
    'DELETE /store/items': item,
  };
  const queries: Record<string, string> = {
    'GET /store/items': '?namespace=a&key=k',
    'GET /runs/diff': `?a=${run.run_id}&b=${run.run_id}`,
  };
  // `/server` is for the studio user alone and asks no handler.
  const asking = ENDPOINTS.filter(
    ({ method, path }) => !isPublic(method.toUpperCase(), path) && path !== '/server',
  );
  return asking.flatMap(({ method: lower, path, body }) => {
    const method = lower.toUpperCase();
    const filled = path
      .replace('{thread_id}', thread)
      .replace('{run_id}', run.run_id)
      .replace('{assistant_id}', assistant)
      .replace('{cron_id}', cron)
      .replace('{webhook_id}', run.run_id)
      .replace('{checkpoint_id}', checkpoint.checkpoint_id)
      .replace('{namespace}', 'x')
      .replace('{n}', '1');
    const query = queries[`${method} ${path}`] ?? '';
    const usual = body && (path.includes('/runs') ? { assistant_id: 'echo' } : {});
    const given = bodies[`${method} ${path}`] ?? usual;
    if (!path.endsWith('/commands')) return [{ method, path: filled + query, body: given }];
    return Object.entries(COMMANDS).map(([name, params]) => ({
      method,
      path: filled,
      body: { id: 1, method: name, params },
    }));
  });
}

test('A2 an operation whose handler says no or nonsense is refused and changes nothing', () =>
  withServer(STEERED, async (s) => {
    const requests = await requestsOf(s);
    assert.ok(requests.length > 55);
    for (const [verdict, status] of [
      ['false', 403],
      ['number', 500],
      ['text', 500],
      ['throws', 500],
      ['hangs', 500],
      ['forbids', 418],
      ['{"owner":{"$near":["x"]}}', 500],
      ['{"$or":[{}]}', 500],
      ['undefined', 500],
      ['[]', 500],
    ] as const) {
      const before = await s.events();
      await Promise.all(
        requests.map(async ({ method, path, body }) => {
          const answer = await s.request(method, path, body, { 'x-verdict': verdict });
          const what = `${verdict}: ${method} ${path} ${JSON.stringify(body)} -> ${answer.status} ${answer.text}`;
          assert.ok(!answer.text.includes('canary'), what);
          // A socket is asked for before anybody asks whose thread it is.
          if (answer.status === 426) return;
          if (path.endsWith('/commands')) {
            assert.equal(answer.json.type, 'error', what);
            const code = { 403: 'permission_denied', 418: 'invalid_argument', 500: 'unknown_error' }[status];
            assert.equal(answer.json.error, code, what);
          } else assert.equal(answer.status, status, what);
        }),
      );
      assert.deepEqual(await s.events(), before, verdict);
    }
  }));

test.run();

import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { PROJECT, withServer, type TestServer } from '../support/with-server.ts';
import { config, say, textsOf } from './scene.ts';

const test = suite('conformance: who may read and write states');
const as = (name: string) => ({ authorization: `Bearer ${name}-token` });

const ROUTES = (threadId: string, checkpointId: string): [string, string, object?][] => [
  ['GET', `/threads/${threadId}/state`],
  ['GET', `/threads/${threadId}/state/${checkpointId}`],
  ['POST', `/threads/${threadId}/state/checkpoint`, { checkpoint: { checkpoint_id: checkpointId } }],
  ['POST', `/threads/${threadId}/state`, { values: say('x') }],
  ['PATCH', `/threads/${threadId}/state`, { metadata: { a: 1 } }],
  ['GET', `/threads/${threadId}/history`],
  ['POST', `/threads/${threadId}/history`, {}],
];

async function aliceRan(s: TestServer): Promise<{ threadId: string; checkpointId: string }> {
  const { json: thread } = await s.request('POST', '/threads', {}, as('alice'));
  const threadId = thread.thread_id as string;
  const run = { assistant_id: 'agent', input: say('hi') };
  await s.request('POST', `/threads/${threadId}/runs/wait`, run, as('alice'));
  const { json } = await s.request('GET', `/threads/${threadId}/state`, undefined, as('alice'));
  return { threadId, checkpointId: json.checkpoint.checkpoint_id };
}

test("A4 given one's own thread, when its states are read and written, then they hold nothing of the user but the name", () =>
  withServer({ config: config('platform.auth.json') }, async (s) => {
    const { threadId, checkpointId } = await aliceRan(s);
    for (const [method, path, body] of ROUTES(threadId, checkpointId)) {
      const { status, text } = await s.request(method, path, body, as('alice'));
      assert.ok([200, 204].includes(status), `${method} ${path}: ${text}`);
      assert.ok(!text.includes('canary'));
    }
    const { json } = await s.request('GET', `/threads/${threadId}/state`, undefined, as('alice'));
    assert.equal(json.metadata.user_id, 'alice');
    assert.deepEqual(textsOf(json.values).at(-1), 'x');
    assert.deepEqual(
      Object.keys(json.metadata).filter((key) => /auth/.test(key)),
      [],
    );
  }));

test('A2 given supersteps, when a user makes a thread of them, then it is that user’s', () =>
  withServer({ config: config('platform.auth.json') }, async (s) => {
    const body = {
      metadata: { graph_id: 'agent' },
      supersteps: [{ updates: [{ as_node: '__start__', values: say('mine') }] }],
    };
    const { json } = await s.request('POST', '/threads', body, as('alice'));
    assert.deepEqual([json.metadata.owner, textsOf(json.values)], ['alice', ['mine']]);
    assert.equal((await s.request('GET', `/threads/${json.thread_id}`, undefined, as('bob'))).status, 404);
  }));

test('A2 given a handler that lets everybody read and nobody change, when a state is written, then 403 and nothing is saved', () =>
  withServer(
    {
      config: config('platform.auth.json'),
      overrides: { auth: { file: `${PROJECT}auth-variants.ts`, exportName: 'steered' } },
    },
    async (s) => {
      const locks = { 'x-verdict': 'locks' };
      const { json: thread } = await s.request('POST', '/threads', {});
      const path = `/threads/${thread.thread_id}/state`;
      await s.request('POST', `/threads/${thread.thread_id}/runs/wait`, {
        assistant_id: 'agent',
        input: say('hi'),
      });
      const before = await s.events();
      assert.equal((await s.request('GET', path, undefined, locks)).status, 200);
      const { status, json } = await s.request('POST', path, { values: say('x') }, locks);
      assert.deepEqual([status, json], [403, { detail: 'Not authorized' }]);
      const steps = [{ updates: [{ as_node: '__start__', values: say('x') }] }];
      const made = await s.request(
        'POST',
        '/threads',
        { metadata: { graph_id: 'agent' }, supersteps: steps },
        locks,
      );
      assert.equal(made.status, 403);
      assert.deepEqual(await s.events(), before);
      assert.equal((await s.request('POST', path, { values: say('x') })).status, 200);
    },
  ));

test.run();

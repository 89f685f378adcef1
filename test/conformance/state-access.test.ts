import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { PROJECT, withServer, type TestServer } from '../support/with-server.ts';
import { config, MISSING, say, textsOf } from './scene.ts';

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

test("A1 A2 A3 given another's thread, when its states are read or written, then it is as missing as one that never was", () =>
  withServer({ config: config('platform.auth.json') }, async (s) => {
    const { threadId, checkpointId } = await aliceRan(s);
    const before = await s.events();
    for (const [method, path, body] of ROUTES(threadId, checkpointId)) {
      const foreign = await s.request(method, path, body, as('bob'));
      const missing = await s.request(method, path.replace(threadId, MISSING), body, as('bob'));
      assert.equal(foreign.status, 404, path);
      assert.equal(foreign.text.replaceAll(threadId, MISSING), missing.text);
      assert.equal((await s.request(method, path, body)).status, 401);
    }
    assert.deepEqual(await s.events(), before);
    for (const [method, path, body] of ROUTES(threadId, checkpointId)) {
      const { status, text } = await s.request(method, path, body, as('alice'));
      assert.ok([200, 204].includes(status), `${method} ${path}: ${text}`);
      assert.ok(!text.includes('canary'), 'A4');
    }
    const { json } = await s.request('GET', `/threads/${threadId}/state`, undefined, as('alice'));
    assert.equal(json.metadata.user_id, 'alice');
    assert.deepEqual(textsOf(json.values).at(-1), 'x');
    const keys = Object.keys(json.metadata).filter((key) => /auth/.test(key));
    assert.deepEqual(keys, [], 'A4 nothing of the user but the name');
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

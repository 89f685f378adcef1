import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { config, say, textsOf } from './scene.ts';

const test = suite('conformance: the client inside');

const APP = { config: config('platform.app.json') };
const AUTH = { config: config('platform.app-auth.json') };
const ALICE = { authorization: 'Bearer alice-token' };
const published = () => {
  const shared = globalThis as Record<symbol, unknown>;
  return [Symbol.for('langgraph_api:fetch'), Symbol.for('langgraph_api:url')].map((name) => shared[name]);
};

test('client.runs.stream: given a graph that makes a client without an address, when it runs, then it talks to its server', () =>
  withServer({ ...APP, overrides: {} }, async (s) => {
    const { json } = await s.request('POST', '/runs/wait', { assistant_id: 'asks-server', input: {} });
    assert.deepEqual(json.seen.events, ['metadata', 'values', 'values']);
    const thread = await s.request('GET', `/threads/${json.seen.thread}`);
    assert.deepEqual(thread.json.metadata.from, 'graph');
    // No socket was opened for it: these two requests are all that came over one.
    const paths = s.requests.map(({ method, path }) => `${method} ${path}`);
    assert.ok(paths.includes('POST /threads') && paths.some((path) => path.endsWith('/runs/stream')));
  }));

test('runs that wait for runs of their own release their permits, so that all end with one permit', () =>
  withServer({ ...APP, env: { PLATFORM_CONCURRENCY: '1', PLATFORM_WORKERS: '1' } }, async (s) => {
    const nest = async (depth: number) =>
      (await s.request('POST', '/runs/wait', { assistant_id: 'nests', input: { depth } })).json;
    assert.deepEqual((await nest(3)).seen, '3 2 1 bottom');
    // Far more than can ever lend: one is told so, and all that wait for it are free again.
    const { error, message } = (await nest(12)).__error__;
    assert.match(`${error}: ${message}`, /503|Too many runs wait for other runs/);
    assert.deepEqual((await nest(3)).seen, '3 2 1 bottom');
  }));

test('given a server with auth, when a client inside calls it, then credentials are asked for and taken (A1)', () =>
  withServer(AUTH, async (s) => {
    await assert.rejects(new Client({ callerOptions: { maxRetries: 0 } }).threads.create(), /401/);
    const client = new Client({ defaultHeaders: ALICE });
    const { metadata } = await client.threads.create();
    assert.deepEqual(metadata, { owner: 'alice' });
    await s.stop();
  }));

test('given a prefix, when a client inside calls, then it is below the prefix as well', () =>
  withServer({ config: config('platform.edge.json') }, async (s) => {
    assert.equal(published()[1], s.url);
    const client = new Client({ defaultHeaders: ALICE });
    const result = await client.runs.wait(null, 'echo', { input: say('hi') });
    assert.deepEqual(textsOf(result), ['hi', 'echo: hi']);
  }));

test('given several servers in one process, when they come and go, then the last one is found and takes only itself away', async () => {
  assert.deepEqual(published(), [undefined, undefined]);
  await withServer(APP, async (first) => {
    await withServer(APP, async (second) => {
      assert.equal(published()[1], second.url);
      const { thread_id: id } = await new Client().threads.create();
      assert.equal((await second.request('GET', `/threads/${id}`)).status, 200);
      assert.equal((await first.request('GET', `/threads/${id}`)).status, 404);
      await first.restart();
      assert.equal(published()[1], first.url);
      await second.stop();
      assert.equal(published()[1], first.url);
    });
  });
  assert.deepEqual(published(), [undefined, undefined]);
});

test('given a stream that a client inside reads, when the server stops, then the reader hears of it and does not hang', () =>
  withServer(APP, async (s) => {
    const gate = join(s.dir, 'gate');
    const client = new Client({ callerOptions: { maxRetries: 0 } });
    const stream = client.runs.stream(null, 'steps', {
      config: { configurable: { gate } },
      maxReconnectAttempts: 0,
    } as never);
    const seen: string[] = [];
    await assert.rejects(async () => {
      for await (const { event } of stream) {
        seen.push(event);
        if (seen.length === 1) void s.stop();
      }
    });
    assert.equal(seen[0], 'metadata');
  }));

test('given a request of a client inside, when it is given up, then the reply ends, and a run that goes with it is cancelled', () =>
  withServer(APP, async (s) => {
    const gate = join(s.dir, 'gate');
    const [inside] = published() as [typeof fetch];
    const giveUp = new AbortController();
    const body = { assistant_id: 'steps', config: { configurable: { gate } }, on_disconnect: 'cancel' };
    const reply = await inside(`${s.url}/runs/stream`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: giveUp.signal,
    });
    assert.equal(reply.status, 200);
    giveUp.abort();
    await assert.rejects(reply.text());
    await s.until(({ type }) => type === 'RunCompleted');
    await assert.rejects(inside(`${s.url}/ok`, { signal: AbortSignal.abort() }));
  }));

test.run();

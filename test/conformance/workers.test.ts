/**
 * A sample of the interface on graphs in worker processes; the other conformance tests have them in this one unless
 * the variable TEST_WORKERS says how many workers they shall have.
 */
import assert from 'node:assert/strict';
import { sharedServer } from '../support/shared-server.ts';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, ended, newThread, say, startGated, textsOf } from './scene.ts';

const test = suite('conformance: graphs in workers');

const WORKERS = { workers: 1 };
const server = sharedServer(test, WORKERS);
const app = sharedServer(test, { ...WORKERS, config: config('platform.app.json') });
const on = (file: string, use: (s: TestServer) => Promise<void>) =>
  withServer({ ...WORKERS, config: config(file) }, use);

test('graphs of both kinds answer in workers as they do in the server', async () => {
  const s = server();
  const { client } = s;
  const { thread_id: id } = await client.threads.create();
  for (const graph of ['echo', 'agent']) {
    const values = await client.runs.wait(id, graph, { input: say('hi') });
    assert.ok(textsOf(values).length > 1, graph);
  }
  const events: string[] = [];
  const modes = ['values', 'updates', 'debug'] as const;
  for await (const { event } of client.runs.stream(id, 'chain', {
    input: say('again'),
    streamMode: [...modes],
  }))
    events.push(event);
  assert.deepEqual([...new Set(events)].sort(), ['debug', 'metadata', 'updates', 'values']);
  assert.ok((await client.threads.getHistory(id)).length > 3);
  const schemas = await client.assistants.getSchemas('chain');
  assert.equal(schemas.graph_id, 'chain');
  const drawn = await client.assistants.getGraph('chain');
  assert.ok(drawn.nodes.length > 2);
});

test('a graph in a worker that asks goes on from the answer, and its state can be written', async () => {
  const s = server();
  const { client } = s;
  const { thread_id: id } = await client.threads.create();
  // given: a graph that asks
  await client.runs.wait(id, 'approve', { input: say('may I?') });
  const asked = await client.threads.getState(id);
  assert.equal(asked.tasks.flatMap(({ interrupts }) => interrupts).length, 1);
  assert.equal((await client.threads.get(id)).status, 'interrupted');
  // when: it is answered, and its state is written
  await client.runs.wait(id, 'approve', { command: { resume: 'yes' } });
  assert.deepEqual((await client.threads.getState(id)).next, []);
  await client.threads.updateState(id, { values: say('a note') });
  assert.ok(textsOf((await client.threads.getState(id)).values).includes('a note'));
});

test('the drawing and the state of a graph that throws when it is asked for say what it threw', async () => {
  for (const workers of [WORKERS, {}])
    await withServer(
      { ...workers, config: config('platform.states.json'), allowFaults: true },
      async ({ client, request, faults }) => {
        const { assistant_id: id } = await client.assistants.create({ graphId: 'dynamic' });
        const { thread_id: thread } = await client.threads.create();
        await client.runs.wait(thread, id, { input: say('hi') });
        await client.assistants.update(id, { config: { configurable: { nodeName: '__start__' } } });
        for (const path of [`/assistants/${id}/graph`, `/threads/${thread}/state`]) {
          const { status, json } = await request('GET', path);
          assert.equal(status, 500, path);
          assert.match(json.detail, /^The graph failed: Error: .*__start__/, path);
        }
        assert.equal(faults.length, 2);
      },
    );
});

test('a run in a worker ends when it is cancelled, and goes on after a restart of the server', () =>
  withServer(WORKERS, async (s) => {
    const cancelled = await newThread(s);
    const first = await startGated(s, cancelled);
    await s.client.runs.cancel(cancelled, first.runId, true);
    assert.equal((await s.client.runs.get(cancelled, first.runId)).status, 'interrupted');
    const kept = await newThread(s);
    const second = await startGated(s, kept);
    await s.restart();
    second.open();
    await s.until(ended(second.runId));
    assert.equal((await s.client.runs.get(kept, second.runId)).status, 'success');
  }));

test('the client without an address reaches the server from a worker, with whole replies and streams', async () => {
  const s = app();
  const { json } = await s.request('POST', '/runs/wait', { assistant_id: 'asks-server', input: {} });
  assert.deepEqual(json.seen.events, ['metadata', 'values', 'values']);
  const thread = await s.request('GET', `/threads/${json.seen.thread}`);
  assert.equal(thread.json.metadata.from, 'graph');
});

test('the store of a graph in a worker holds what clients see', () =>
  on('platform.store.json', async (s) => {
    await s.client.store.putItem(['notes', 'client'], 'own', { note: 'buy tea' });
    const { json } = await s.request('POST', '/runs/wait', {
      assistant_id: 'remembers',
      input: { note: 'buy tea' },
      config: { configurable: { user: 'ann' } },
    });
    assert.deepEqual(json.seen.found, ['notes/ann/last', 'notes/client/own']);
    const { items } = await s.client.store.searchItems(['notes', 'ann']);
    assert.deepEqual(
      items.map(({ key }) => key),
      ['last'],
    );
  }));

test('a graph whose module is also a program asks its server for a run, in a worker as in the server', async () => {
  const ask = async (s: TestServer) => {
    const values = await s.client.runs.wait(null, 'asks-branches', { input: {} });
    assert.deepEqual(values, { seen: [0, 2, 4, 6, 0] });
  };
  await ask(app());
  await withServer({ workers: 0, config: config('platform.app.json') }, ask);
});

test.run();

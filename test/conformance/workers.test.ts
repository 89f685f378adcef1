/**
 * A sample of the interface on graphs in worker processes; the other conformance tests have them in this one unless
 * the variable TEST_WORKERS says how many workers they shall have.
 */
import assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, ended, newThread, say, startGated, textsOf } from './scene.ts';

const test = suite('conformance: graphs in workers');

const WORKERS = { workers: 1 };
const on = (file: string, use: (s: TestServer) => Promise<void>) =>
  withServer({ ...WORKERS, config: config(file) }, use);

test('given graphs in workers, when runs of both kinds are waited for and streamed, then they answer as graphs in the server do', () =>
  withServer(WORKERS, async (s) => {
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
    assert.deepEqual([...new Set(events)].sort(), ['debug', 'end', 'metadata', 'updates', 'values']);
    assert.ok((await client.threads.getHistory(id)).length > 3);
    const schemas = await client.assistants.getSchemas('chain');
    assert.equal(schemas.graph_id, 'chain');
    const drawn = await client.assistants.getGraph('chain');
    assert.ok(drawn.nodes.length > 2);
  }));

test('given a graph in a worker that asks a person, when it is answered and its state is written, then it goes on from there', () =>
  withServer(WORKERS, async (s) => {
    const { client } = s;
    const { thread_id: id } = await client.threads.create();
    await client.runs.wait(id, 'approve', { input: say('may I?') });
    const asked = await client.threads.getState(id);
    assert.equal(asked.tasks.flatMap(({ interrupts }) => interrupts).length, 1);
    assert.equal((await client.threads.get(id)).status, 'interrupted');
    await client.runs.wait(id, 'approve', { command: { resume: 'yes' } });
    assert.deepEqual((await client.threads.getState(id)).next, []);
    await client.threads.updateState(id, { values: say('a note') });
    assert.ok(textsOf((await client.threads.getState(id)).values).includes('a note'));
  }));

test('given a graph that throws when it is asked for, when its drawing and the state of its thread are read, then both say what it threw', async () => {
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

test('given a run in a worker, when it is cancelled or its server stops, then it ends as asked, or goes on after the start', () =>
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

test('given a graph in a worker that calls this server, when it finds the client without an address, then whole replies and streams reach it over its channel', () =>
  on('platform.app.json', async (s) => {
    const { json } = await s.request('POST', '/runs/wait', { assistant_id: 'asks-server', input: {} });
    assert.deepEqual(json.seen.events, ['metadata', 'values', 'values', 'end']);
    const thread = await s.request('GET', `/threads/${json.seen.thread}`);
    assert.equal(thread.json.metadata.from, 'graph');
  }));

test('given a graph in a worker that uses the store, when it puts and searches, then the items are the ones that clients see', () =>
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

test('given a graph whose module is also a program, when it asks its server for a run of a graph with branches, then both run, in a worker as in the server', async () => {
  for (const workers of [1, 0])
    await withServer({ workers, config: config('platform.app.json') }, async (s) => {
      const values = await s.client.runs.wait(null, 'asks-branches', { input: {} });
      assert.deepEqual(values, { seen: [0, 2, 4, 6, 0] });
    });
});

test.run();

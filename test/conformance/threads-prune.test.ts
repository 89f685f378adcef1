import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, MISSING, newThread, say, startGated, textsOf } from './scene.ts';

const test = suite('conformance: pruning threads');
const STATES = { config: config('platform.states.json') };

const history = async (s: TestServer, id: string): Promise<number> =>
  (await s.client.threads.getHistory(id, { limit: 100 })).length;

test('client.threads.prune: given threads, some missing, when they are pruned, then those that are there are deleted and counted', () =>
  withServer(STATES, async (s) => {
    const [a, b, c] = [await newThread(s), await newThread(s), await newThread(s)];
    await s.client.runs.wait(a, 'agent', { input: say('hi') });
    assert.deepEqual(await s.client.threads.prune([a, b, a, MISSING]), { pruned_count: 2 });
    assert.deepEqual(
      (await s.client.threads.search()).map(({ thread_id: id }) => id),
      [c],
    );
  }));

test('client.threads.prune: given a conversation, when all but the latest goes, then values stay, the past is gone and it goes on', () =>
  withServer(STATES, async (s) => {
    const id = await newThread(s);
    for (const text of ['one', 'two', 'three']) await s.client.runs.wait(id, 'agent', { input: say(text) });
    const before = await s.client.threads.getState(id);
    const used = (await s.request('GET', `/threads/${id}/storage`)).json;
    assert.ok((await history(s, id)) > 10);
    assert.deepEqual(await s.client.threads.prune([id], { strategy: 'keep_latest' }), { pruned_count: 1 });
    assert.equal(await history(s, id), 1);
    assert.deepEqual(await s.client.threads.getState(id), before);
    const left = (await s.request('GET', `/threads/${id}/storage`)).json;
    assert.deepEqual([left.checkpoints.count, left.thread_id], [1, id]);
    assert.ok(left.total_bytes < (used.total_bytes * 2) / 3, `${left.total_bytes} of ${used.total_bytes}`);
    const { by_channel: channels, ...sum } = left.channel_values;
    assert.equal(channels.messages.versions, 1);
    const bytes = Object.values(channels as Record<string, { bytes: number }>).map((each) => each.bytes);
    assert.equal(
      sum.bytes,
      bytes.reduce((a, b) => a + b),
    );
    assert.equal(left.total_bytes, sum.bytes + left.checkpoints.bytes + left.pending_writes.bytes);
    assert.equal((await s.client.runs.list(id)).length, 1);
    const values = await s.client.runs.wait(id, 'agent', { input: say('four') });
    assert.equal(textsOf(values).length, textsOf(before.values).length + 2);
  }));

for (const [graph, answers] of [
  ['review', ['fine']],
  ['survey', ['Ann', 9]],
  ['asks', ['yes']],
] as const)
  test(`P3 given ${graph} that asks, when the thread is pruned to the latest, then it can still be answered as if nothing had gone`, () =>
    withServer(STATES, async (s) => {
      const results = [];
      for (const pruned of [false, true]) {
        const id = await newThread(s);
        await s.client.runs.wait(id, 'echo', { input: say('before') });
        await s.client.runs.wait(id, graph, { input: graph === 'survey' ? {} : say('hello') });
        let values: unknown;
        for (const resume of answers) {
          if (pruned) await s.client.threads.prune([id], { strategy: 'keep_latest' });
          values = await s.client.runs.wait(id, graph, { command: { resume } });
        }
        results.push(JSON.stringify(values).replace(/"id":"[^"]*"/g, ''));
      }
      assert.equal(results[1], results[0]);
    }));

test('P3 given a subgraph that waits, when the thread is pruned to the latest, then its state stays and it goes on', () =>
  withServer(STATES, async (s) => {
    const id = await newThread(s);
    for (const text of ['one', 'two']) await s.client.runs.wait(id, 'weather', { input: say(text) });
    const before = await s.client.threads.getState(id, undefined, { subgraphs: true });
    await s.client.threads.prune([id], { strategy: 'keep_latest' });
    assert.deepEqual(await s.client.threads.getState(id, undefined, { subgraphs: true }), before);
    const values = await s.client.runs.wait(id, 'weather', { input: null });
    assert.equal(textsOf(values).at(-1), "It's sunny in London!");
  }));

test('a thread whose state a client wrote last loses the run before it, and keeps its graph, when pruned (P2)', () =>
  withServer(STATES, async (s) => {
    const id = await newThread(s);
    await s.client.runs.wait(id, 'agent', { input: say('one') });
    await s.client.threads.updateState(id, { values: say('written') });
    // A run that never began names another graph in the thread's metadata, and is none that the state is of.
    const withdrawn = await s.client.runs.create(id, 'echo', { input: {}, afterSeconds: 3_600 });
    await s.client.runs.cancel(id, withdrawn.run_id);
    const before = await s.client.threads.get(id);
    const state = await s.client.threads.getState(id);
    await s.client.threads.prune([id], { strategy: 'keep_latest' });
    assert.deepEqual(
      (await s.client.runs.list(id)).map(({ run_id: run }) => run),
      [withdrawn.run_id],
    );
    assert.deepEqual(await s.client.threads.get(id), before);
    assert.deepEqual(await s.client.threads.getState(id), state);
    await s.client.threads.updateState(id, { values: say('again') });
  }));

test('an interrupted thread shows so after its run went with the assistant, and a later run is withdrawn (P2)', () =>
  withServer({}, async (s) => {
    const id = await newThread(s);
    const { assistant_id: assistant } = await s.client.assistants.create({ graphId: 'asks' });
    await s.client.runs.wait(id, assistant, { input: {} });
    await s.client.assistants.delete(assistant);
    assert.deepEqual(await s.client.runs.list(id), []);
    assert.equal((await s.client.threads.get(id)).status, 'interrupted');
    const later = await s.client.runs.create(id, 'echo', { input: {}, afterSeconds: 3_600 });
    await s.client.runs.cancel(id, later.run_id);
    assert.equal((await s.client.threads.get(id)).status, 'interrupted');
  }));

test('X5 given a thread whose run is open, when it is pruned to the latest, then it is passed over, and deleted with delete', () =>
  withServer({}, async (s) => {
    const id = await newThread(s);
    const { runId } = await startGated(s, id);
    const before = await s.events();
    assert.deepEqual(await s.client.threads.prune([id], { strategy: 'keep_latest' }), { pruned_count: 0 });
    assert.deepEqual(await s.events(), before);
    assert.deepEqual(await s.client.threads.prune([id]), { pruned_count: 1 });
    assert.equal((await s.request('GET', `/threads/${id}/runs/${runId}`)).status, 404);
  }));

test.run();

import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { config, ended, MISSING, newThread, say, startGated, textsOf } from './scene.ts';

const test = suite('conformance: copies of threads');

for (const graph of ['agent', 'review', 'weather', 'survey'])
  test(`client.threads.copy: a copy of ${graph} has the same state and history, and goes on alone`, () =>
    withServer({ config: config('platform.states.json') }, async (s) => {
      const { threads, runs } = s.client;
      const { thread_id: from } = await threads.create({ metadata: { note: 'original' } });
      await runs.wait(from, graph, { input: say('hello') });
      const copy = await threads.copy(from);
      const to = copy.thread_id;
      const original = await threads.get(from);
      assert.notEqual(to, from);
      assert.deepEqual(copy.metadata, original.metadata);
      assert.deepEqual([copy.status, copy.interrupts, copy.values], ['idle', {}, original.values]);
      assert.deepEqual(await runs.list(to), []);
      const renamed = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll(from, to));
      const before = await threads.getHistory(from);
      assert.deepEqual(await threads.getState(to), renamed(await threads.getState(from)));
      assert.deepEqual(await threads.getHistory(to), renamed(before));

      await runs.wait(to, graph, { input: say('more') });
      assert.deepEqual(await threads.getHistory(from), before);
      await threads.delete(from);
      assert.ok((await threads.getHistory(to)).length > before.length);
      const again = await threads.copy(to);
      assert.deepEqual(again.values, (await threads.get(to)).values);
    }));

test('given an interrupted thread, when its copy is answered, then the copy goes on and the original still asks', () =>
  withServer({ config: config('platform.states.json') }, async (s) => {
    const from = await newThread(s);
    await s.client.runs.wait(from, 'survey', { input: {} });
    const { thread_id: to } = await s.client.threads.copy(from);
    await s.client.runs.wait(to, 'survey', { command: { resume: 'Ann' } });
    const done = await s.client.runs.wait(to, 'survey', { command: { resume: 9 } });
    assert.deepEqual([(done as { name: unknown }).name, (done as { age: unknown }).age], ['Ann', 9]);
    assert.equal((await s.client.threads.get(from)).status, 'interrupted');
    assert.equal((await s.client.threads.getState(from)).values.hasOwnProperty('name'), false);
  }));

test('X1 given a thread whose run is open, when it is copied, then the copy is idle with what was saved', () =>
  withServer({}, async (s) => {
    const from = await newThread(s);
    const { runId, open } = await startGated(s, from);
    const copy = await s.client.threads.copy(from);
    assert.equal(copy.status, 'idle');
    assert.deepEqual(textsOf(copy.values), ['gated']);
    assert.equal((await s.request('POST', `/threads/${MISSING}/copy`)).status, 409);
    open();
    await s.until(ended(runId));
    assert.deepEqual(textsOf((await s.client.threads.get(copy.thread_id)).values), ['gated']);
  }));

test.run();

import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { ended, hastyClock, MISSING, newThread, say, startGated, textsOf, untilMark } from './scene.ts';
import { openStream } from './stream-reader.ts';
import { join } from 'node:path';

const test = suite('conformance: cancelling runs');

test('given a pending run, when it is cancelled, then it is interrupted at once and the thread is idle', () =>
  withServer({}, async (s) => {
    for (const [query, status] of [
      ['', 202],
      ['?wait=0&action=interrupt', 202],
      ['?wait=1', 200],
      ['?wait=true', 200],
    ] as const) {
      const threadId = await newThread(s);
      const values = await s.client.runs.wait(threadId, 'echo', { input: say('first') });
      const run = await s.client.runs.create(threadId, 'echo', { afterSeconds: 3600 });
      const path = `/threads/${threadId}/runs/${run.run_id}`;
      const answer = await s.request('POST', `${path}/cancel${query}`);
      assert.deepEqual([answer.status, answer.text], [status, status === 200 ? '{}' : ''], query);
      const named = answer.headers.get('content-location');
      assert.equal(named, status === 200 ? path : null, query);
      assert.equal((await s.request('GET', path)).json.status, 'interrupted');
      const thread = (await s.request('GET', `/threads/${threadId}`)).json;
      assert.deepEqual([thread.status, thread.error], ['idle', null]);
      assert.deepEqual(await s.client.runs.join(threadId, run.run_id), values);
    }
  }));

test('given a running run, when it is cancelled and waited for, then it is interrupted, without an error frame (X3)', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const { runId } = await startGated(s, threadId);
    const stream = await openStream(`${s.url}/threads/${threadId}/runs/${runId}/stream`);
    await s.client.runs.cancel(threadId, runId, true);
    assert.equal((await s.client.runs.get(threadId, runId)).status, 'interrupted');
    const thread = await s.client.threads.get(threadId);
    assert.equal(thread.status, 'interrupted');
    // What was saved before stays.
    assert.deepEqual(textsOf(thread.values), ['gated']);
    const events = (await stream.rest()).map(({ event }) => event);
    assert.ok(!events.includes('error'), events.join());
    assert.deepEqual(await s.client.runs.join(threadId, runId), thread.values);
    const values = await s.client.runs.wait(threadId, 'echo', { input: say('next') });
    assert.deepEqual(textsOf(values), ['gated', 'next', 'echo: next']);
  }));

test('given a running run, when it is cancelled twice and joined, then there is one end and both are accepted', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const { runId } = await startGated(s, threadId);
    const path = `/threads/${threadId}/runs/${runId}/cancel`;
    const answers = await Promise.all(
      ['', '', '?wait=1', '?wait=1'].map((query) => s.request('POST', `${path}${query}`)),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      [202, 202, 200, 200],
    );
    const facts = (await s.events()).map(({ type }) => type);
    assert.equal(facts.filter((type) => type === 'RunCancelRequested').length, 1);
    assert.equal(facts.filter((type) => type === 'RunCompleted').length, 1);
  }));

for (const state of ['pending', 'running'])
  test(`given a ${state} run, when it is cancelled with rollback, then it is gone and the thread as before`, () =>
    withServer({}, async (s) => {
      const threadId = await newThread(s);
      const values = await s.client.runs.wait(threadId, 'echo', { input: say('kept') });
      const runId =
        state === 'running'
          ? (await startGated(s, threadId)).runId
          : (await s.client.runs.create(threadId, 'echo', { afterSeconds: 3600 })).run_id;
      await s.client.runs.cancel(threadId, runId, true, 'rollback');
      await assert.rejects(s.client.runs.get(threadId, runId), /HTTP 404/);
      const thread = await s.client.threads.get(threadId);
      assert.deepEqual([thread.status, thread.values], ['idle', values]);
      assert.deepEqual((await s.client.threads.getState(threadId)).values, values);
    }));

test('given a finished run, when it is cancelled, then that is accepted and changes nothing (D3)', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    for (const graph of ['echo', 'fails', 'asks']) {
      await s.client.runs.wait(threadId, graph, { input: {}, raiseError: false });
      const [run] = await s.client.runs.list(threadId);
      const [events, thread] = [await s.events(), await s.client.threads.get(threadId)];
      for (const [query, status] of [
        ['', 202],
        ['?action=rollback', 202],
        ['?reason=taken', 202],
        ['?wait=1', 200],
      ] as const) {
        const path = `/threads/${threadId}/runs/${run!.run_id}/cancel${query}`;
        assert.equal((await s.request('POST', path)).status, status);
      }
      for (const body of [{ thread_id: threadId, run_ids: [run!.run_id] }, { status: 'all' as const }])
        assert.equal((await s.request('POST', '/runs/cancel', body)).status, 204);
      assert.deepEqual(await s.events(), events);
      assert.deepEqual(await s.client.threads.get(threadId), thread);
      assert.deepEqual(await s.client.runs.get(threadId, run!.run_id), run);
    }
  }));

test('given no such run, or one of another thread, when it is cancelled, then the answer is 404 and it goes on', () =>
  withServer({}, async (s) => {
    const [threadId, other] = [await newThread(s), await newThread(s)];
    const { runId, open } = await startGated(s, threadId);
    for (const path of [
      `/threads/${threadId}/runs/${MISSING}/cancel`,
      `/threads/${other}/runs/${runId}/cancel`,
      `/threads/${MISSING}/runs/${runId}/cancel?wait=1`,
    ]) {
      const answer = await s.request('POST', path);
      assert.deepEqual([answer.status, answer.json], [404, { detail: 'Run not found' }]);
    }
    open();
    assert.deepEqual(textsOf(await s.client.runs.join(threadId, runId)), ['gated', 'through: gated']);
  }));

test('given a graph deaf to its signal, when its run is cancelled, then the run ends all the same (X4)', () =>
  withServer({ clock: hastyClock() }, async (s) => {
    const threadId = await newThread(s);
    const { runId, open } = await startGated(s, threadId, { graph: 'stubborn' });
    await s.client.runs.cancel(threadId, runId, true);
    assert.equal((await s.client.runs.get(threadId, runId)).status, 'interrupted');
    // The thread is free although the old graph still runs.
    await s.client.runs.wait(threadId, 'echo', { input: say('next') });
    const before = await s.events();
    open();
    await s.restart();
    assert.deepEqual(await s.events(), before);
  }));

test('given a queued run behind an active one, when the queued is cancelled, then only that ends', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const { runId, open } = await startGated(s, threadId);
    const queued = await s.client.runs.create(threadId, 'echo', { input: say('never') });
    const over = s.until(ended(queued.run_id));
    await s.client.runs.cancel(threadId, queued.run_id);
    await over;
    assert.equal((await s.client.threads.get(threadId)).status, 'busy');
    open();
    assert.deepEqual(textsOf(await s.client.runs.join(threadId, runId)), ['gated', 'through: gated']);
    assert.equal((await s.client.runs.get(threadId, queued.run_id)).status, 'interrupted');
  }));

test('given a cancel that waits, when the server stops first, then it is told to come back and not that it is done', () =>
  withServer({ overrides: { shutdownGraceMs: 100 } }, async (s) => {
    const threadId = await newThread(s);
    const { runId, open } = await startGated(s, threadId, { graph: 'stubborn' });
    const told = s.until(({ type }) => type === 'RunCancelRequested');
    const cancelling = s.request('POST', `/threads/${threadId}/runs/${runId}/cancel?wait=1`);
    await told;
    await s.restart();
    open();
    const { status, json } = await cancelling;
    assert.deepEqual([status, json], [503, { detail: 'The server is stopping.' }]);
    // Recovery finds what was asked for.
    assert.equal((await s.client.runs.get(threadId, runId)).status, 'interrupted');
  }));

/** Cancels a run of `chain` in its node `two`; resolves with what the thread says then. */
async function stopped(s: TestServer, thread: string, more: object = {}) {
  const [marks, gate] = [join(s.dir, `marks-${thread}`), join(s.dir, `gate-${thread}-`)];
  const run = await s.client.runs.create(thread, 'chain', {
    ...{ input: {}, config: { configurable: { marks, gate } } },
    ...more,
  });
  await untilMark(marks, 'one');
  await s.client.runs.cancel(thread, run.run_id, true);
  const { status } = await s.client.threads.get(thread);
  const { next } = await s.client.threads.getState(thread);
  return { status, next };
}

test('a thread is idle after a cancel of a run that left no node behind (official 1.1)', () =>
  withServer({}, async (s) => {
    // given: a thread whose last run has ended
    const thread = await newThread(s);
    await s.client.runs.wait(thread, 'chain', { input: {} });
    // when: a run that saves nothing before its end is cancelled
    const told = await stopped(s, thread, { durability: 'exit' });
    // then
    assert.deepEqual(told, { status: 'idle', next: [] });
    assert.deepEqual(await s.client.threads.search({ status: 'interrupted' }), []);
  }));

test.run();

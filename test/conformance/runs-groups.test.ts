import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { ended, MISSING, newThread, say, startGated } from './scene.ts';

const test = suite('conformance: many runs at once');

test('client.runs.createBatch: given several runs, when they are created together, then each has a thread of its own and the order is kept', () =>
  withServer({}, async (s) => {
    const payloads = ['echo', 'agent', 'echo'].map((assistantId, n) => ({
      ...{ assistantId, input: say(`${n}`), metadata: { n } },
    }));
    const runs = await s.client.runs.createBatch(payloads);
    assert.deepEqual(
      runs.map(({ metadata }) => (metadata as { n: number }).n),
      [0, 1, 2],
    );
    assert.equal(new Set(runs.map(({ thread_id: id }) => id)).size, 3);
    for (const { run_id: id } of runs) await s.until(ended(id));
    assert.deepEqual(await s.client.threads.search(), []);
  }));

test('D3 given a batch with one fault, when it is sent, then the fault is named and no run is created', () =>
  withServer({}, async (s) => {
    const before = await s.events();
    const good = { assistant_id: 'echo', input: {} };
    for (const [bad, status, detail] of [
      [{ input: {} }, 422, /^1\.assistant_id: /],
      [{ ...good, after_seconds: -1 }, 422, /^1\.after_seconds: /],
      [{ ...good, webhook: 'ftp://x' }, 422, /^webhook: /],
      [{ assistant_id: 'nobody' }, 404, /^No assistant found/],
    ] as const) {
      const answer = await s.request('POST', '/runs/batch', [good, bad] as any);
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.json.detail, detail);
    }
    for (const body of [[], {}, 'x', Array(1001).fill(good), [1]])
      assert.equal((await s.request('POST', '/runs/batch', body as any)).status, 422);
    assert.deepEqual(await s.events(), before);
  }));

test('client.runs.cancelMany: given running and waiting runs, when all of a status are cancelled, then those end and others stay', () =>
  withServer({}, async (s) => {
    const { runs } = s.client;
    const id = await newThread(s);
    const { runId } = await startGated(s, id);
    const waiting = await runs.create(id, 'echo', { input: {} });
    const other = await runs.create(await newThread(s), 'echo', { input: {}, afterSeconds: 1000 });
    await runs.cancelMany({ status: 'pending' });
    for (const { thread_id: thread, run_id: run } of [waiting, other])
      assert.equal((await runs.get(thread, run)).status, 'interrupted');
    assert.equal((await runs.get(id, runId)).status, 'running');
    await runs.cancelMany({ status: 'running', action: 'rollback' });
    await s.until(ended(runId));
    assert.equal((await s.request('GET', `/threads/${id}/runs/${runId}`)).status, 404);
    assert.deepEqual(
      (await runs.list(id)).map(({ status }) => status),
      ['interrupted'],
    );
    const thread = await newThread(s);
    const again = await startGated(s, thread);
    await runs.cancelMany({ status: 'all' });
    await s.until(ended(again.runId));
    const { json } = await s.request('GET', `/threads/${thread}`);
    const message = 'interrupt requested via POST /runs/cancel';
    assert.deepEqual(json.error, { error: 'UserInterrupt', message });
  }));

test('client.runs.cancelMany: given run ids, when some are unknown, then 404 after the known ones were cancelled', () =>
  withServer({}, async (s) => {
    const { runs } = s.client;
    const id = await newThread(s);
    const delayed = () => runs.create(id, 'echo', { input: {}, afterSeconds: 1000 });
    const [a, b, c] = [await delayed(), await delayed(), await delayed()];
    await runs.cancelMany({ threadId: id, runIds: [a.run_id] });
    const answer = await s.request('POST', '/runs/cancel', {
      thread_id: id,
      run_ids: [MISSING, a.run_id, b.run_id],
    });
    assert.deepEqual([answer.status, answer.json], [404, { detail: 'Run not found' }]);
    assert.deepEqual(
      await Promise.all([a, b, c].map(async ({ run_id: run }) => (await runs.get(id, run)).status)),
      ['interrupted', 'interrupted', 'pending'],
    );
    const elsewhere = { thread_id: await newThread(s), run_ids: [c.run_id] };
    assert.equal((await s.request('POST', '/runs/cancel', elsewhere)).status, 404);
    for (const [field, body] of [
      ['status', {}],
      ['status', { status: 'done' }],
      ['status', { thread_id: id }],
      ['thread_id', { run_ids: [c.run_id] }],
      ['run_ids', { thread_id: id, run_ids: ['x'] }],
      ['run_ids', { thread_id: id, run_ids: [c.run_id], status: 'pending' }],
    ] as const) {
      const refused = await s.request('POST', '/runs/cancel', body as any);
      assert.equal(refused.status, 422);
      assert.match(refused.json.detail, new RegExp(`^${field}`));
    }
    assert.equal((await s.request('POST', '/runs/cancel?action=x', { status: 'all' })).status, 422);
    assert.equal((await runs.get(id, c.run_id)).status, 'pending');
  }));

test.run();

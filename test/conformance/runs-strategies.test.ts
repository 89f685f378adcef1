import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { newThread, say, startGated, textsOf } from './scene.ts';
import { readFrames } from './stream-reader.ts';

const test = suite('conformance: multitask strategies');

const BUSY =
  'Thread is already running a task. Wait for it to finish or choose a different multitask strategy.';

const statusOf = async (s: TestServer, threadId: string, runId: string): Promise<string> =>
  (await s.client.runs.get(threadId, runId)).status;

test('given an active run, when another says reject on any route, then 409, no event, no change, and the run succeeds (D3)', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const { runId, open } = await startGated(s, threadId);
    const [events, thread] = [await s.events(), await s.client.threads.get(threadId)];
    for (const route of ['runs', 'runs/stream', 'runs/wait']) {
      const refused = await s.request('POST', `/threads/${threadId}/${route}`, {
        ...{ assistant_id: 'echo', input: say('too early'), metadata: { never: 'stored' } },
        multitask_strategy: 'reject',
      });
      assert.deepEqual([refused.status, refused.json], [409, { detail: BUSY }], route);
      assert.equal(refused.headers.get('content-location'), null);
    }
    assert.deepEqual(await s.events(), events);
    assert.deepEqual(await s.client.threads.get(threadId), thread);
    assert.equal((await s.client.runs.list(threadId)).length, 1);
    open();
    assert.deepEqual(textsOf(await s.client.runs.join(threadId, runId)), ['gated', 'through: gated']);
    assert.equal(await statusOf(s, threadId, runId), 'success');
    assert.equal((await s.client.threads.get(threadId)).status, 'idle');
    // Free again, so the same request is welcome; a run that waits for its time is in the way too.
    await s.client.runs.wait(threadId, 'echo', { input: say('now'), multitaskStrategy: 'reject' });
    await s.client.runs.create(threadId, 'echo', { afterSeconds: 3600 });
    const late = s.client.runs.create(threadId, 'echo', { multitaskStrategy: 'reject' });
    await assert.rejects(late, /HTTP 409.*already running/);
  }));

test('given an active run, when others are enqueued (also by default), then they run in order on what came before', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const { runId, open } = await startGated(s, threadId);
    const ids = [runId];
    for (const [text, strategy] of [
      ['a', 'enqueue'],
      ['b', undefined],
      ['c', 'enqueue'],
    ] as const) {
      const run = await s.client.runs.create(threadId, 'echo', {
        input: say(text),
        ...(strategy && { multitaskStrategy: strategy }),
      });
      assert.deepEqual([run.status, run.multitask_strategy], ['pending', 'enqueue']);
      ids.push(run.run_id);
    }
    assert.equal(await statusOf(s, threadId, runId), 'running');
    assert.equal((await s.client.threads.get(threadId)).status, 'busy');
    open();
    assert.deepEqual(textsOf(await s.client.runs.join(threadId, ids[3]!)), [
      ...['gated', 'through: gated'],
      ...['a', 'echo: a', 'b', 'echo: b', 'c', 'echo: c'],
    ]);
    const facts = (await s.events()).filter(({ type }) => type === 'RunStarted' || type === 'RunCompleted');
    assert.deepEqual(
      facts.map(({ type, data }) => [type, 'runId' in data && data.runId]),
      ids.flatMap((id) => [
        ['RunStarted', id],
        ['RunCompleted', id],
      ]),
    );
    assert.equal((await s.client.threads.get(threadId)).status, 'idle');
  }));

test('given an active and a queued run, when a new one interrupts, then both end interrupted and it goes on from their state', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const gate = join(s.dir, 'gate-');
    writeFileSync(`${gate}one`, '');
    const first = await s.client.runs.create(threadId, 'chain', {
      input: {},
      config: { configurable: { gate } },
    });
    const frames = readFrames(`${s.url}/threads/${threadId}/runs/${first.run_id}/stream`);
    await s.until(({ type, data }) => type === 'CheckpointSaved' && data.step === 1);
    const queued = await s.client.runs.create(threadId, 'chain', { input: {} });

    const values = await s.client.runs.wait(threadId, 'chain', {
      input: {},
      multitaskStrategy: 'interrupt',
    });

    assert.deepEqual(values, { visited: ['one', 'one', 'two', 'three', 'four', 'five'] });
    assert.equal(await statusOf(s, threadId, first.run_id), 'interrupted');
    assert.equal(await statusOf(s, threadId, queued.run_id), 'interrupted');
    assert.equal((await s.client.threads.get(threadId)).status, 'idle');
    // An interrupted run's stream just ends.
    assert.deepEqual([...new Set((await frames).map(({ event }) => event))], ['metadata', 'values']);
    assert.deepEqual(await s.client.runs.join(threadId, first.run_id), { visited: ['one'] });
  }));

test('given an active run with checkpoints, when a new one rolls it back, then it is as if it had never been', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'echo', { input: say('kept') });
    const before = await s.client.threads.getState(threadId);
    const gate = join(s.dir, 'gate-');
    writeFileSync(`${gate}1`, '');
    const first = await s.client.runs.create(threadId, 'steps', {
      input: say('undone'),
      config: { configurable: { gate } },
    });
    await s.until(
      ({ type, data }) => type === 'CheckpointSaved' && data.runId === first.run_id && data.step >= 2,
    );
    const queued = await s.client.runs.create(threadId, 'echo', { input: say('undone as well') });
    const waiting = s.client.runs.join(threadId, first.run_id);

    const values = await s.client.runs.wait(threadId, 'echo', {
      input: say('new'),
      multitaskStrategy: 'rollback',
    });

    assert.deepEqual(textsOf(values), ['kept', 'echo: kept', 'new', 'echo: new']);
    assert.ok(!('done' in (values as object)));
    const gone = { error: 'RunGone', message: 'The run was rolled back or deleted.' };
    assert.deepEqual(await waiting, { __error__: gone });
    for (const runId of [first.run_id, queued.run_id]) {
      const path = `/threads/${threadId}/runs/${runId}`;
      assert.equal((await s.request('GET', path)).status, 404);
      assert.equal((await s.request('GET', `${path}/join`)).status, 404);
      assert.equal((await s.request('POST', `${path}/cancel`)).status, 404);
      assert.match(
        (await s.request('GET', `${path}/stream`)).text,
        /^: heartbeat\r\n\r\nevent: error\r\n.*\r\n\r\n$/,
      );
      assert.equal(await s.server.log.payloads.lastFrame(runId), -1);
    }
    assert.equal((await s.client.runs.list(threadId)).length, 2);
    const checkpoints = await s.server.log.payloads.checkpoints(threadId, {});
    const runIds = new Set(checkpoints.map(({ metadata }) => metadata['run_id']));
    assert.ok(!runIds.has(first.run_id), 'its checkpoints are gone');
    assert.equal(runIds.size, 2);
    // The new run's first checkpoint stands on the last one from before.
    const ids = checkpoints.map(({ checkpointId }) => checkpointId);
    assert.ok(ids.includes((before.checkpoint as { checkpoint_id: string }).checkpoint_id));
    assert.ok(checkpoints.every(({ parentId }) => parentId === null || ids.includes(parentId)));
  }));

test('given a thread that waits for an answer, when runs on it are rolled back or never begin, then it waits as before', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'approve', { input: say('?') });
    const record = async () => {
      const { status, interrupts, values, error } = (await s.request('GET', `/threads/${threadId}`)).json;
      return { status, interrupts, values, state: await s.client.threads.getState(threadId), error };
    };
    const before = await record();
    assert.equal(before.status, 'interrupted');
    const gated = await startGated(s, threadId);
    assert.equal((await record()).status, 'busy');
    await s.client.runs.cancel(threadId, gated.runId, true, 'rollback');
    const { error, ...after } = await record();
    const { error: none, ...waiting } = before;
    assert.deepEqual([after, none, error.error], [waiting, null, 'UserRollback']);
    for (const action of ['rollback', 'interrupt'] as const) {
      const late = await s.client.runs.create(threadId, 'echo', { input: say('late'), afterSeconds: 3600 });
      await s.client.runs.cancel(threadId, late.run_id, true, action);
      const { error: _, ...rest } = await record();
      const { error: __, ...expected } = before;
      assert.deepEqual(rest, expected, action);
    }
    const values = await s.client.runs.wait(threadId, 'approve', { command: { resume: 'yes' } });
    assert.equal(textsOf(values).at(-1), 'The answer was "yes"');
    assert.equal((await s.client.threads.get(threadId)).status, 'idle');
  }));

test.run();

import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, MISSING, newThread, say, startGated, textsOf } from './scene.ts';

const test = suite('conformance: the official client runs');
const MODES = { config: config('platform.modes.json') };

interface Part {
  readonly id?: string;
  readonly event: string;
  readonly data: unknown;
}

async function collect(parts: AsyncIterable<unknown>): Promise<Part[]> {
  const all: Part[] = [];
  for await (const part of parts) all.push(part as Part);
  return all;
}

const created = (s: TestServer, threadId: string, graph = 'agent', more: object = {}) =>
  s.client.runs.create(threadId, graph, { input: say('hi'), ...more });

test('client.runs.stream: given every mode, when the client streams, then each has its frames and the run is announced once', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    const announced: unknown[] = [];
    const streamMode = [
      ...(['values', 'updates', 'messages', 'messages-tuple', 'events'] as const),
      ...(['debug', 'tasks', 'checkpoints', 'custom', 'tools'] as const),
    ];
    const parts = await collect(
      s.client.runs.stream(threadId, 'weather', {
        input: say('SF'),
        streamMode,
        streamSubgraphs: true,
        streamResumable: true,
        onRunCreated: (run) => announced.push(run),
      }),
    );
    const [run] = await s.client.runs.list(threadId);
    assert.deepEqual(announced, [{ run_id: run!.run_id, thread_id: threadId }]);
    assert.deepEqual(parts[0], { id: '0', event: 'metadata', data: { run_id: run!.run_id, attempt: 1 } });
    const seen = new Set(parts.map(({ event }) => event.split(/[|/]/)[0]));
    const names = streamMode.map((mode) => (mode === 'messages-tuple' ? 'messages' : mode));
    assert.deepEqual(seen, new Set(['metadata', ...names]));
    assert.equal(run!.status, 'success');
  }));

test('client.runs.stream: given no thread, when the client streams, then frames have ids and no thread is left', () =>
  withServer(MODES, async (s) => {
    const announced: unknown[] = [];
    const parts = await collect(
      s.client.runs.stream(null, 'chain', { input: {}, onRunCreated: (run) => announced.push(run) }),
    );
    assert.deepEqual(
      parts.map(({ id }) => id),
      parts.map((_, index) => String(index)),
    );
    assert.equal(parts.at(-1)!.event, 'values');
    assert.equal(announced.length, 1);
    assert.deepEqual(await s.client.threads.search(), []);
  }));

test('client.runs.wait: given no thread, when the client waits, then it has the last values', () =>
  withServer(MODES, async (s) => {
    const values = await s.client.runs.wait(null, 'chain', { input: {} });
    assert.deepEqual(values, { visited: ['one', 'two', 'three', 'four', 'five'] });
    await assert.rejects(
      s.client.runs.wait(null, 'breaks', { input: say('hi') }),
      /NodeError: the node broke/,
    );
  }));

test('client.runs.create: given a thread, when a run is created, got and listed, then it is the same everywhere', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    const run = await created(s, threadId, 'echo', { metadata: { mine: 1 } });
    await s.client.runs.join(threadId, run.run_id);
    const got = await s.client.runs.get(threadId, run.run_id);
    assert.deepEqual([got.run_id, got.status, got.metadata!['mine' as never]], [run.run_id, 'success', 1]);
    assert.deepEqual(await s.client.runs.list(threadId), [got]);
  }));

test('client.runs.get: given no such run, when it is asked for, then that is an error', () =>
  withServer(MODES, async (s) => {
    await assert.rejects(s.client.runs.get(await newThread(s), MISSING), /404.*Run not found/);
  }));

test('client.runs.list: given runs that ended in different ways, when they are listed by status, then only those come', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    const good = await created(s, threadId, 'echo');
    const bad = await created(s, threadId, 'fails');
    await s.client.runs.join(threadId, bad.run_id);
    const ids = async (status: 'success' | 'error') =>
      (await s.client.runs.list(threadId, { status })).map(({ run_id }) => run_id);
    assert.deepEqual([await ids('success'), await ids('error')], [[good.run_id], [bad.run_id]]);
    assert.equal((await s.client.runs.list(threadId, { limit: 1 }))[0]!.run_id, bad.run_id);
  }));

test('client.runs.join: given runs that succeed, fail and are gone, when they are joined, then it never throws', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    const good = await created(s, threadId);
    assert.equal(textsOf(await s.client.runs.join(threadId, good.run_id)).at(-1), 'end');
    const bad = await created(s, threadId, 'fails');
    assert.deepEqual(await s.client.runs.join(threadId, bad.run_id), {
      __error__: { error: 'CustomError', message: 'this graph always fails' },
    });
    const gated = await startGated(s, threadId);
    const joined = s.client.runs.join(threadId, gated.runId);
    await s.client.runs.cancel(threadId, gated.runId, true, 'rollback');
    assert.deepEqual(await joined, {
      __error__: { error: 'RunGone', message: 'The run was rolled back or deleted.' },
    });
  }));

test('client.runs.joinStream: given a run, when its stream is joined from anywhere for some modes, then the rest of these comes', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    const run = await created(s, threadId, 'agent', {
      streamMode: ['values', 'updates'],
      streamResumable: true,
    });
    const all = await collect(s.client.runs.joinStream(threadId, run.run_id, { lastEventId: '-1' }));
    assert.deepEqual(
      all.map(({ event }) => event),
      ['metadata', 'values', 'updates', 'values', 'updates', 'values', 'updates', 'values'],
    );
    assert.deepEqual(await collect(s.client.runs.joinStream(threadId, run.run_id, { lastEventId: '3' })), [
      ...all.slice(4),
    ]);
    const updates = await collect(
      s.client.runs.joinStream(threadId, run.run_id, { streamMode: ['updates'], lastEventId: '-1' }),
    );
    assert.deepEqual(
      updates,
      all.filter(({ event }) => event !== 'values'),
    );
    assert.deepEqual(await collect(s.client.runs.joinStream(null, run.run_id, { lastEventId: '-' })), all);
    const missing = await collect(s.client.runs.joinStream(threadId, MISSING));
    assert.deepEqual(missing, [
      { id: undefined, event: 'error', data: { error: 'HTTPException', message: '404: Run not found' } },
    ]);
  }));

test('client.runs.cancel: given a run that waits, when it is cancelled, then it is interrupted and keeps what it did', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    const gated = await startGated(s, threadId);
    const parts = collect(s.client.runs.joinStream(threadId, gated.runId));
    await s.client.runs.cancel(threadId, gated.runId, true);
    assert.equal((await s.client.runs.get(threadId, gated.runId)).status, 'interrupted');
    // The stream just ends: to be stopped is no error.
    assert.ok((await parts).every(({ event }) => event !== 'error'));
    const thread = await s.client.threads.get(threadId);
    assert.deepEqual([thread.status, textsOf(thread.values)], ['interrupted', ['gated']]);
  }));

test.run();

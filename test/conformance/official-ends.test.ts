/** How stopped runs end, and what threads, records and replies always say, as the official server does. */
import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withWebhookSink, type ReceivedRequest } from '../support/webhook-sink.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, ended, newThread, say, startGated, textsOf } from './scene.ts';
import { openStream } from './stream-reader.ts';

const test = suite('conformance: ends of runs as the official server tells them');

const parsed = ({ body }: ReceivedRequest) => JSON.parse(body.toString());
const words = (action: string): string =>
  `${action} requested via POST /threads/{thread_id}/runs/{run_id}/cancel`;

/** Stops the run; resolves with the message that thread and webhook carry. */
type Stop = (s: TestServer, threadId: string, runId: string) => Promise<string>;

const byCancel =
  (action: 'interrupt' | 'rollback'): Stop =>
  async (s, threadId, runId) => {
    await s.client.runs.cancel(threadId, runId, true, action);
    return words(action);
  };
const bySuperseding =
  (strategy: 'interrupt' | 'rollback'): Stop =>
  async (s, threadId) => {
    const next = await s.client.runs.create(threadId, 'gate', {
      ...{ input: say('next'), multitaskStrategy: strategy, config: { configurable: { gate: s.dir } } },
    });
    await s.client.runs.join(threadId, next.run_id);
    return `superseded by run ${next.run_id} (multitask_strategy=${strategy})`;
  };
const byLeaving: Stop = async (s, threadId, runId) => {
  const path = `/threads/${threadId}/runs/${runId}/stream?cancel_on_disconnect=true`;
  const reader = await openStream(`${s.url}${path}`);
  await reader.next();
  reader.leave();
  await s.until(ended(runId));
  return 'client disconnected from the run stream (on_disconnect=cancel)';
};

/** `isLast`: no other run has ended since, so the thread still says why. */
const STOPS: [name: string, stop: Stop, error: string, webhook: string, status: string, isLast: boolean][] = [
  ['a cancel', byCancel('interrupt'), 'UserInterrupt', 'interrupted', 'interrupted', true],
  ['a cancel with rollback', byCancel('rollback'), 'UserRollback', 'rollback', 'idle', true],
  ['a reader that left', byLeaving, 'UserInterrupt', 'interrupted', 'interrupted', true],
  ['another run', bySuperseding('interrupt'), 'UserInterrupt', 'interrupted', 'idle', false],
  ['another run with rollback', bySuperseding('rollback'), 'UserRollback', 'rollback', 'idle', false],
];

for (const [name, stop, error, webhook, status, isLast] of STOPS)
  test(`a run stopped by ${name} says so in its thread and its webhook`, () =>
    withWebhookSink((sink) =>
      withServer({}, async (s) => {
        // given: a thread with values, and a run on it that has saved its input
        const threadId = await newThread(s);
        await s.client.runs.wait(threadId, 'echo', { input: say('before') });
        const { runId } = await startGated(s, threadId, { webhook: sink.url() });
        // when
        const message = await stop(s, threadId, runId);
        // then
        const [sent] = await sink.next(1);
        const body = parsed(sent!);
        assert.deepEqual([body.status, body.error], [webhook, { error, message }]);
        const kept =
          webhook === 'rollback' ? ['before', 'echo: before'] : ['before', 'echo: before', 'gated'];
        assert.deepEqual(textsOf(body.values), kept);
        const thread = (await s.request('GET', `/threads/${threadId}`)).json;
        assert.deepEqual([thread.status, thread.error], [status, isLast ? { error, message } : null]);
        if (isLast) assert.deepEqual(textsOf(thread.values), kept);
        const found = await s.client.threads.search({ status: 'interrupted' });
        assert.equal(found.length, status === 'interrupted' ? 1 : 0);
      }),
    ));

test('a time-out is an error of thread and webhook by the name TimeoutError', () =>
  withWebhookSink((sink) =>
    withServer({}, async (s) => {
      const threadId = await newThread(s);
      const gate = `${s.dir}/never`;
      await s.client.runs.wait(threadId, 'gate', {
        ...{ input: say('hi'), webhook: sink.url(), raiseError: false },
        config: { configurable: { gate }, timeout: 50 } as object,
      });
      const [sent] = await sink.next(1);
      const body = parsed(sent!);
      assert.deepEqual([body.status, body.error.error], ['timeout', 'TimeoutError']);
      const thread = (await s.request('GET', `/threads/${threadId}`)).json;
      assert.deepEqual([thread.status, thread.error], ['error', body.error]);
    }),
  ));

test('a pending run that is cancelled leaves its thread idle, without an error', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const run = await s.client.runs.create(threadId, 'echo', { input: say('hi'), afterSeconds: 3600 });
    await s.client.runs.cancel(threadId, run.run_id, true);
    const thread = (await s.request('GET', `/threads/${threadId}`)).json;
    assert.deepEqual([thread.status, thread.error ?? null], ['idle', null]);
  }));

test('the error of a thread is null after a good run, an object after a failed one, and always there', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const read = async () => (await s.request('GET', `/threads/${threadId}`)).json;
    await s.client.runs.wait(threadId, 'echo', { input: say('hi') });
    assert.ok('error' in (await read()) && (await read()).error === null);
    await s.client.runs.wait(threadId, 'fails', { input: say('hi'), raiseError: false });
    assert.deepEqual((await read()).error, { error: 'CustomError', message: 'this graph always fails' });
    const { json } = await s.request('POST', '/threads/search', { ids: [threadId] });
    assert.deepEqual(json[0].error, (await read()).error);
    await s.client.runs.wait(threadId, 'echo', { input: say('hi') });
    assert.equal((await read()).error, null);
  }));

test('the graph gets the id of the request that made its run, which the log of its run tells', () =>
  withServer({ config: config('platform.modes.json') }, async (s) => {
    const body = { assistant_id: 'tells', input: {} };
    const told = await s.request('POST', '/runs/wait', body, { 'x-request-id': 'request-7' });
    const plain = await s.request('POST', '/runs/wait', body);
    const idOf = ({ json }: { json: any }) => json.told.configurable.langgraph_request_id;
    assert.equal(idOf(told), 'request-7');
    assert.match(idOf(plain), /^[0-9a-f]{8}-[0-9a-f]{4}-/);
    const ids = s.entries.filter(({ message }) => message === 'run ended').map(({ members }) => members);
    assert.deepEqual(
      ids.map((members) => members['request_id']),
      [idOf(told), idOf(plain)],
    );
  }));

test('a resume without a thread is a 400', () =>
  withServer({}, async (s) => {
    for (const path of ['/runs', '/runs/wait', '/runs/stream']) {
      const answer = await s.request('POST', path, { assistant_id: 'asks', command: { resume: 'yes' } });
      const detail = 'You must provide a thread_id when resuming.';
      assert.deepEqual([answer.status, answer.json], [400, { detail }], path);
    }
    const batch = [{ assistant_id: 'asks', command: { resume: 'yes' } }];
    assert.equal((await s.request('POST', '/runs/batch', batch)).status, 400);
  }));

test('join, wait, stream and a cancel that waits name the run in their headers', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const run = await s.client.runs.create(threadId, 'echo', { input: say('hi') });
    const path = `/threads/${threadId}/runs/${run.run_id}`;
    for (const [method, to] of [
      ['GET', 'join'],
      ['GET', 'stream'],
      ['POST', 'cancel?wait=1'],
    ] as const) {
      const { headers } = await s.request(method, `${path}/${to}`);
      assert.equal(headers.get('content-location'), path, to);
      assert.equal(headers.get('location'), `${path}/${to === 'stream' ? 'stream' : 'join'}`, to);
    }
    const waited = await s.request('POST', `/threads/${threadId}/runs/wait`, { assistant_id: 'echo' });
    assert.match(
      waited.headers.get('content-location')!,
      new RegExp(`^/threads/${threadId}/runs/[0-9a-f-]+$`),
    );
    const stateless = await s.request('POST', '/runs/wait', { assistant_id: 'echo' });
    assert.match(stateless.headers.get('content-location')!, /^\/threads\/[0-9a-f-]+\/runs\/[0-9a-f-]+$/);
  }));

test('members that a list does not have are a 422 that names those it has', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    for (const [method, path, known] of [
      ['GET', `/threads/${threadId}/runs?select=zzz`, 'multitask_strategy'],
      ['POST', '/threads/search', 'state_updated_at'],
      ['POST', '/assistants/search', 'graph_id'],
      ['POST', '/runs/crons/search', 'next_run_date'],
    ] as const) {
      const body = method === 'POST' ? { select: ['zzz'] } : undefined;
      const { status, json } = await s.request(method, path, body);
      assert.equal(status, 422, path);
      assert.match(json.detail, new RegExp(`^select\\.0: .*${known}`), path);
    }
  }));

test('lists of runs and searches of the store take any limit', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    assert.equal((await s.request('GET', `/threads/${threadId}/runs?limit=100000`)).status, 200);
    const search = { namespace_prefix: [], limit: 100_000 };
    assert.equal((await s.request('POST', '/store/items/search', search)).status, 200);
  }));

test('run_ids together with a status are a 422 of a bulk cancel', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const { runId } = await startGated(s, threadId);
    const body = { thread_id: threadId, run_ids: [runId], status: 'running' };
    const { status, json } = await s.request('POST', '/runs/cancel', body as any);
    assert.deepEqual([status, json.detail], [422, 'run_ids: expected either run_ids or status']);
    assert.equal((await s.client.runs.get(threadId, runId)).status, 'running');
  }));

test('a join of a run that was cancelled while pending answers the thread’s present values', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'echo', { input: say('first') });
    const run = await s.client.runs.create(threadId, 'echo', { input: say('hi'), afterSeconds: 3600 });
    await s.client.runs.cancel(threadId, run.run_id, true);
    const { values } = await s.client.threads.get(threadId);
    assert.deepEqual(textsOf(values), ['first', 'echo: first']);
    assert.deepEqual(await s.client.runs.join(threadId, run.run_id), values);
  }));

test.run();

/** Why a run was cancelled, as its record, lists and webhook tell. */
import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withWebhookSink, type ReceivedRequest } from '../support/webhook-sink.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { newThread, say, startGated, textsOf, ended } from './scene.ts';
import { openStream } from './stream-reader.ts';

const test = suite('conformance: reasons of cancels');
const TAKEN = 'taken: Cancelled through the API.';
const ASKED = 'interrupt requested via POST /threads/{thread_id}/runs/{run_id}/cancel';

async function start(
  s: TestServer,
  threadId: string,
  isRunning: boolean,
  more: Record<string, unknown> = {},
) {
  if (isRunning) return (await startGated(s, threadId, more)).runId;
  const body = { assistant_id: 'echo', input: say('hi'), after_seconds: 3600, ...more };
  return (await s.request('POST', `/threads/${threadId}/runs`, body)).json.run_id as string;
}
const parsed = ({ body }: ReceivedRequest) => JSON.parse(body.toString());
const cancel = (s: TestServer, threadId: string, runId: string, query = '') =>
  s.request('POST', `/threads/${threadId}/runs/${runId}/cancel${query}`);
const told = async (s: TestServer, threadId: string, runId: string) =>
  (await s.request('GET', `/threads/${threadId}/runs/${runId}`)).json.cancel_reason;

for (const isRunning of [true, false])
  test(`the reason of a ${isRunning ? 'running' : 'pending'} run's cancel stands in record, list and webhook`, () =>
    withWebhookSink((sink) =>
      withServer({}, async (s) => {
        // given: two runs that were not cancelled
        const [first, second] = [await newThread(s), await newThread(s)];
        const more = { webhook: sink.url() };
        const taken = await start(s, first, isRunning, more);
        const stopped = await start(s, second, isRunning, more);
        assert.deepEqual([await told(s, first, taken), await told(s, second, stopped)], [null, null]);
        // when: one of them was taken by another run
        await s.client.runs.cancel(first, taken, true, 'interrupt', { reason: 'taken' });
        await s.client.runs.cancel(second, stopped, true);
        // then
        assert.equal(await told(s, first, taken), TAKEN);
        assert.equal(await told(s, second, stopped), ASKED);
        const list = await s.client.runs.list(first, { select: ['cancel_reason', 'status'] });
        assert.deepEqual(list, [{ cancel_reason: TAKEN, status: 'interrupted' }]);
        await sink.next(2);
        const bodies = sink.received.map(parsed);
        assert.equal(bodies.find(({ run_id: id }) => id === taken).cancel_reason, TAKEN);
        assert.equal(bodies.find(({ run_id: id }) => id === stopped).cancel_reason, ASKED);
        // What else is told of the stop is the same with a reason.
        const { error } = bodies.find(({ run_id: id }) => id === taken);
        assert.deepEqual(error, { error: 'UserInterrupt', message: ASKED });
        await s.restart();
        assert.equal(await told(s, first, taken), TAKEN);
      }),
    ));

test('the first reason stays, also while the graph goes on and when a rollback follows', () =>
  withWebhookSink((sink) =>
    withServer({}, async (s) => {
      let runs = 0;
      for (const [queries, expected] of [
        [['?reason=taken', '', '?action=interrupt'], TAKEN],
        [['', '?reason=taken'], ASKED],
      ] as const) {
        // given: a run that does not hear its signal
        const threadId = await newThread(s);
        const { runId, open } = await startGated(s, threadId, { graph: 'stubborn', webhook: sink.url() });
        try {
          // when: it is cancelled several times
          for (const query of queries) {
            assert.equal((await cancel(s, threadId, runId, query)).status, 202);
            assert.equal(await told(s, threadId, runId), expected, query);
          }
          await cancel(s, threadId, runId, '?action=rollback');
          assert.equal(await told(s, threadId, runId), expected);
        } finally {
          open();
        }
        // then: only its webhook is left to say
        const sent = await sink.next(++runs);
        const body = parsed(sent.at(-1)!);
        assert.deepEqual([body.status, body.cancel_reason], ['rollback', expected]);
      }
    }),
  ));

test('other reasons, and a reason of a rollback, are refused and cancel nothing (D3)', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const runId = await start(s, threadId, true);
    for (const [query, detail] of [
      ['?reason=bored', 'reason: expected one of "taken"'],
      ['?reason=taken&action=rollback', 'reason: expected none with the action "rollback"'],
    ]) {
      const answer = await cancel(s, threadId, runId, query);
      assert.deepEqual([answer.status, answer.json.detail], [422, detail]);
    }
    assert.equal((await s.request('GET', `/threads/${threadId}/runs/${runId}`)).json.status, 'running');
    assert.equal(await told(s, threadId, runId), null);
    await cancel(s, threadId, runId, '?wait=1&action=interrupt&reason=taken');
    assert.equal(await told(s, threadId, runId), TAKEN);
  }));

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
        assert.equal(body.cancel_reason, message);
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

test.run();

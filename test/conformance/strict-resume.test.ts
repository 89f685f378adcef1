import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { say, textsOf } from './scene.ts';
import { answer, asked, notPending, questionsOf, standing, STRANGE } from './strict-scene.ts';

const test = suite('conformance: strict answers');

const headOf = async (s: TestServer, threadId: string) =>
  (await s.client.threads.getState(threadId)).checkpoint.checkpoint_id;

for (const graph of ['asks', 'approve'])
  test(`client.runs.wait: of two strict answers to one question of ${graph} the second is refused (X1)`, () =>
    withServer({}, async (s) => {
      // given
      const threadId = await asked(s, graph);
      const [id] = (await questionsOf(s, threadId)) as [string];
      // when
      const ends = await Promise.all(
        ['one', 'two'].map((word) => answer(s, threadId, graph, { [id]: word })),
      );
      // then
      const [won, lost] = 'messages' in ends[0] ? ends : ends.reverse();
      assert.match(String(textsOf(won).at(-1)), /one|two/);
      assert.deepEqual(lost, { __error__: notPending([id], []) });
      const statuses = (await s.client.runs.list(threadId)).map(({ status }) => status);
      assert.deepEqual(statuses.sort(), ['error', 'success', 'success']);
      const before = await standing(s, threadId);
      assert.deepEqual(await answer(s, threadId, graph, { [id]: 'late' }), {
        __error__: notPending([id], []),
      });
      assert.deepEqual(await standing(s, threadId), before);
      assert.equal((await s.client.threads.get(threadId)).status, 'idle');
    }));

for (const graph of ['asks', 'approve'])
  test(`a refused strict answer leaves the thread of ${graph} as it was, and its question open`, () =>
    withServer({}, async (s) => {
      // given
      const threadId = await asked(s, graph);
      const before = await standing(s, threadId);
      const [id] = (await questionsOf(s, threadId)) as [string];
      // when
      const end = await answer(s, threadId, graph, { [STRANGE[0]]: 'x' });
      // then
      assert.deepEqual(end, { __error__: notPending([STRANGE[0]], [id]) });
      assert.deepEqual(await standing(s, threadId), before);
      assert.equal((await s.client.threads.get(threadId)).status, 'interrupted');
      const [run] = await s.client.runs.list(threadId);
      const saved = (await s.events()).filter(
        ({ type, data }) => type === 'CheckpointSaved' && data.runId === run!.run_id,
      );
      assert.deepEqual([run!.status, saved.length], ['error', 0]);
      await s.restart();
      assert.deepEqual(await standing(s, threadId), before);
      assert.match(String(textsOf(await answer(s, threadId, graph, { [id]: 'yes' })).at(-1)), /yes/);
      assert.equal((await s.client.threads.get(threadId)).status, 'idle');
    }));

test('client.runs.stream, client.runs.join: a refused strict answer is told with its reason and its ids', () =>
  withWebhookSink((sink) =>
    withServer({}, async (s) => {
      const threadId = await asked(s, 'approve');
      const ids = await questionsOf(s, threadId);
      const error = notPending([STRANGE[0]], ids);
      const order = { command: { resume: { [STRANGE[0]]: 1 } }, strictResume: true };
      const parts: unknown[] = [];
      for await (const { event, data } of s.client.runs.stream(threadId, 'approve', order))
        parts.push([event, data]);
      const [{ run_id: runId, kwargs }] = (await s.client.runs.list(threadId)) as any;
      assert.deepEqual(parts, [
        ['metadata', { run_id: runId, attempt: 1 }],
        ['error', error],
      ]);
      assert.equal(kwargs.strict_resume, true);
      const run = await s.client.runs.create(threadId, 'approve', { ...order, webhook: sink.url() });
      assert.deepEqual(await s.client.runs.join(threadId, run.run_id), { __error__: error });
      const [post] = await sink.next(1);
      const told = JSON.parse(String(post!.body));
      assert.deepEqual([told.run_id, told.status, told.error], [run.run_id, 'error', error]);
      assert.deepEqual(textsOf(told.values), ['?']);
      const record: any = await s.client.runs.get(threadId, run.run_id);
      assert.deepEqual([record.status, record.error], ['error', error]);
      await s.restart();
      assert.deepEqual(await s.client.runs.join(threadId, run.run_id), { __error__: error });
    }),
  ));

test('one Idempotency-Key with a strict answer is one refused run (L4)', () =>
  withServer({}, async (s) => {
    const threadId = await asked(s, 'approve');
    const body = {
      assistant_id: 'approve',
      command: { resume: { [STRANGE[0]]: 1 } },
      strict_resume: true,
    };
    const send = () =>
      s.request('POST', `/threads/${threadId}/runs/wait`, body, { 'idempotency-key': 'once' });
    const first = await send();
    await s.restart();
    const again = await send();
    assert.deepEqual(again.json, first.json);
    assert.equal(first.json.__error__.reason, 'not_pending');
    const place = 'content-location';
    assert.equal(again.headers.get(place), first.headers.get(place));
    assert.equal((await s.client.runs.list(threadId)).length, 2);
  }));

test('a strict answer at a checkpoint that the thread has left is checked as by default', () =>
  withServer({}, async (s) => {
    const threadId = await asked(s, 'approve');
    const [id] = (await questionsOf(s, threadId)) as [string];
    const { checkpoint } = await s.client.threads.getState(threadId);
    const at = { checkpointId: checkpoint.checkpoint_id!, strictResume: true, raiseError: false };
    const order = (resume: unknown) => ({ ...at, command: { resume } });
    const wrong: any = await s.client.runs.wait(threadId, 'approve', order({ [STRANGE[0]]: 1 }));
    assert.deepEqual(wrong, { __error__: notPending([STRANGE[0]], [id]) });
    // The head moves on, and the question stays open behind it.
    await s.client.threads.updateState(threadId, { values: say('never mind'), asNode: 'ask' });
    const head = await headOf(s, threadId);
    const late: any = await s.client.runs.wait(threadId, 'approve', order({ [STRANGE[0]]: 1 }));
    assert.deepEqual(late, { __error__: notPending([STRANGE[0]], []) });
    assert.equal(await headOf(s, threadId), head);
    const branch: any = await s.client.runs.wait(threadId, 'approve', order({ [id]: 'yes' }));
    assert.match(String(textsOf(branch).at(-1)), /yes/);
    assert.notEqual(await headOf(s, threadId), head);
    assert.equal((await answer(s, threadId, 'approve', { [id]: 'yes' })).__error__.reason, 'not_pending');
    const again: any = await s.client.runs.wait(threadId, 'approve', order({ [id]: 'once more' }));
    assert.deepEqual(again, { __error__: notPending([id], []) });
  }));

test('a refused strict answer is no run that later answers, states and deletions go by', () =>
  withServer({}, async (s) => {
    const threadId = await asked(s, 'approve');
    const [id] = (await questionsOf(s, threadId)) as [string];
    const before = await standing(s, threadId);
    // given: a refused run of another graph
    await answer(s, threadId, 'echo', { [STRANGE[0]]: 1 });
    assert.deepEqual(await standing(s, threadId), before);
    const [run] = await s.client.runs.list(threadId);
    await s.client.runs.delete(threadId, run!.run_id);
    assert.deepEqual(await standing(s, threadId), before);
    await answer(s, threadId, 'approve', { [id]: 'yes' });
    await answer(s, threadId, 'approve', { [id]: 'yes' });
    // then: an answer that is not strict is refused as ever
    const late = { assistant_id: 'approve', command: { resume: { [id]: 'late' } } };
    assert.equal((await s.request('POST', `/threads/${threadId}/runs`, late)).status, 409);
  }));

test('only the body member makes an answer strict: __pregel_ keys of clients are dropped', () =>
  withServer({}, async (s) => {
    const threadId = await asked(s, 'asks');
    const body = {
      assistant_id: 'asks',
      command: { resume: 'yes' },
      strict_resume: false,
      config: { configurable: { __pregel_strict_resume: true, color: 'red' } },
    };
    const { json: run } = await s.request('POST', `/threads/${threadId}/runs`, body);
    assert.equal(run.kwargs.config.configurable.color, 'red');
    assert.equal('__pregel_strict_resume' in run.kwargs.config.configurable, false);
    assert.equal('strict_resume' in run.kwargs, false);
    const wrong = await s.request('POST', `/threads/${threadId}/runs`, {
      ...body,
      strict_resume: 'yes',
    } as any);
    assert.deepEqual([wrong.status, wrong.json.detail], [422, 'strict_resume: expected true or false']);
    assert.equal((await s.request('GET', '/info')).json.flags.strict_resume, true);
  }));

test.run();

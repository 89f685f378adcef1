import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { config, newThread, say, startGated, textsOf } from './scene.ts';

const test = suite('conformance: what wait and join answer');

const FAILED = { __error__: { error: 'CustomError', message: 'this graph always fails' } };

test('given a run that succeeds, when it is waited for, then the answer is the thread at its end, already stored', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const answer = await s.request('POST', `/threads/${threadId}/runs/wait`, {
      assistant_id: 'agent',
      input: say('hi'),
    });
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
    // White space comes first, so that headers are out long before the answer.
    assert.match(answer.text, /^\n+\{.*\}$/s);
    assert.deepEqual(Object.keys(answer.json), ['messages']);
    assert.deepEqual(textsOf(answer.json), ['hi', 'begin', 'tool_call__begin', 'end']);
    const thread = await s.client.threads.get(threadId);
    assert.deepEqual([thread.status, thread.values], ['idle', answer.json]);
    assert.deepEqual((await s.client.threads.getState(threadId)).values, answer.json);
    const [run] = await s.client.runs.list(threadId);
    assert.equal(run!.status, 'success');
    assert.deepEqual(await s.client.runs.join(threadId, run!.run_id), answer.json);
  }));

test('client.runs.join: given a run that was joined and one that ended before, when both are joined, then each has its own values', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const { runId, open } = await startGated(s, threadId);
    const joins = Array.from({ length: 5 }, () => s.client.runs.join(threadId, runId));
    open();
    const results = await Promise.all(joins);
    for (const result of results) assert.deepEqual(textsOf(result), ['gated', 'through: gated']);
    await s.client.runs.wait(threadId, 'echo', { input: say('later') });
    // Not the thread's values of now.
    assert.deepEqual(await s.client.runs.join(threadId, runId), results[0]);
    await s.restart();
    assert.deepEqual(await s.client.runs.join(threadId, runId), results[0]);
  }));

for (const [graph, error, message] of [
  ['fails', 'CustomError', 'this graph always fails'],
  ['breaks', 'NodeError', 'the node broke'],
] as const)
  test(`given the graph ${graph}, when it fails, then wait and join tell, run and thread say error, and the next run works`, () =>
    withServer({}, async (s) => {
      const threadId = await newThread(s);
      const failed = { __error__: { error, message } };
      const { status, json } = await s.request('POST', `/threads/${threadId}/runs/wait`, {
        assistant_id: graph,
        input: say('please'),
      });
      assert.deepEqual([status, json], [200, failed]);
      const thread = (await s.request('GET', `/threads/${threadId}`)).json;
      assert.deepEqual([thread.status, thread.error], ['error', { error, message }]);
      const [run] = await s.client.runs.list(threadId);
      assert.equal(run!.status, 'error');
      assert.deepEqual(await s.client.runs.join(threadId, run!.run_id), failed);
      await assert.rejects(
        s.client.runs.wait(threadId, graph, { input: {} }),
        new RegExp(`${error}: ${message}`),
      );

      const values = await s.client.runs.wait(threadId, 'echo', { input: say('again') });
      assert.equal(textsOf(values).at(-1), 'echo: again');
      const after = (await s.request('GET', `/threads/${threadId}`)).json;
      assert.deepEqual([after.status, (after as { error?: unknown }).error], ['idle', null]);
    }));

test('given the recursion limit 1, when an agent needs more steps, then the run fails by the name of that error', () =>
  withServer({}, async (s) => {
    const result = await s.client.runs.wait(null, 'agent', {
      input: say('hi'),
      config: { recursion_limit: 1 },
      raiseError: false,
    });
    assert.equal((result as typeof FAILED).__error__.error, 'GraphRecursionError');
  }));

for (const [graph, question] of [
  ['asks', { question: 'go on?' }],
  ['approve', { question: 'Shall I?' }],
] as const)
  test(`given the graph ${graph}, when it asks, then the answer holds the interrupt, and a resume goes on`, () =>
    withServer({}, async (s) => {
      const threadId = await newThread(s);
      const asked = (await s.client.runs.wait(threadId, graph, { input: say('do it') })) as {
        __interrupt__: { id: string; value: unknown }[];
      };
      const { __interrupt__: interrupts } = asked;
      assert.equal(interrupts.length, 1);
      assert.deepEqual(Object.keys(interrupts[0]!).sort(), ['id', 'value']);
      assert.deepEqual(interrupts[0]!.value, question);
      assert.deepEqual(textsOf(asked), ['do it']);
      const [run] = await s.client.runs.list(threadId);
      assert.equal(run!.status, 'success');
      assert.deepEqual(await s.client.runs.join(threadId, run!.run_id), asked);

      const answer = { yes: [1, null] };
      const values = await s.client.runs.wait(threadId, graph, { command: { resume: answer } });
      assert.deepEqual(Object.keys(values as object), ['messages']);
      assert.ok(String(textsOf(values).at(-1)).includes(JSON.stringify(answer)));
      assert.equal((await s.client.threads.get(threadId)).status, 'idle');
    }));

test('given an interrupt, when a resume names its id, then that answer is taken', () =>
  withServer({}, async (s) => {
    for (const graph of ['asks', 'approve']) {
      const threadId = await newThread(s);
      const asked = (await s.client.runs.wait(threadId, graph, { input: say('?') })) as {
        __interrupt__: { id: string }[];
      };
      const { id } = asked.__interrupt__[0]!;
      const values = await s.client.runs.wait(threadId, graph, { command: { resume: { [id]: 'named' } } });
      assert.match(String(textsOf(values).at(-1)), /"named"/);
    }
  }));

test('given tasks of one step of which some ask, when the run is waited for or joined, then what the others did is in the answer', () =>
  withServer({ config: config('platform.states.json') }, async (s) => {
    const threadId = await newThread(s);
    const asked: any = await s.client.runs.wait(threadId, 'beside', { input: { log: ['given'] } });
    assert.deepEqual(asked.log, ['given', 'worked']);
    assert.equal(asked.__interrupt__.length, 2);
    assert.deepEqual((await s.client.threads.getState(threadId)).values, { log: asked.log });
    const [run] = await s.client.runs.list(threadId);
    assert.deepEqual(await s.client.runs.join(threadId, run!.run_id), asked);

    const [first, second] = asked.__interrupt__.map(({ id }: { id: string }) => id);
    const half: any = await s.client.runs.wait(threadId, 'beside', {
      command: { resume: { [first]: 'yes' } },
    });
    assert.deepEqual(half.log, ['given', 'first: yes', 'worked']);
    assert.deepEqual(half.__interrupt__, [{ id: second, value: 'second?' }]);
    const end = await s.client.runs.wait(threadId, 'beside', { command: { resume: { [second]: 'no' } } });
    assert.deepEqual(end, { log: ['given', 'first: yes', 'second: no', 'worked'] });
  }));

test('given interrupt_before, when a run comes there, then it ends without an interrupt entry and null input goes on', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const paused = await s.client.runs.wait(threadId, 'chain', { input: {}, interruptBefore: ['three'] });
    assert.deepEqual(paused, { visited: ['one', 'two'] });
    const state = await s.client.threads.getState(threadId);
    assert.deepEqual(state.next, ['three']);
    assert.equal((await s.client.threads.get(threadId)).status, 'interrupted');

    const after = await s.client.runs.wait(threadId, 'chain', { input: null, interruptAfter: ['three'] });
    assert.deepEqual(after, { visited: ['one', 'two', 'three'] });
    const all = await s.client.runs.wait(threadId, 'chain', { input: null });
    assert.deepEqual(all, { visited: ['one', 'two', 'three', 'four', 'five'] });
    assert.deepEqual((await s.client.threads.getState(threadId)).next, []);

    const other = await newThread(s);
    await s.client.runs.wait(other, 'chain', { input: {}, interruptBefore: '*' });
    assert.deepEqual((await s.client.threads.getState(other)).next, ['one']);
  }));

test.run();

import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, MISSING, newThread, say, textsOf } from './scene.ts';

const test = suite('conformance: threads from supersteps');
const STATES = config('platform.states.json');

type Update = { values: unknown; asNode: string; command?: { update?: unknown; goto?: string } };
const one = (asNode: string, values: unknown) => ({ updates: [{ values, asNode } as Update] });

async function nextAndValues(s: TestServer, threadId: string) {
  const history = await s.client.threads.getHistory(threadId, { limit: 100 });
  return history.map(({ next, values }) => ({ next, values }));
}

test('client.threads.create: given the steps of a run, when a thread is made of them, then its history is the same and a run goes on from it', () =>
  withServer({ config: STATES }, async (s) => {
    const original = await newThread(s);
    const input = { messages: [{ type: 'human', content: 'hi', id: 'm1' }] };
    const values = await s.client.runs.wait(original, 'turns', { input });
    const messages = (values as { messages: unknown[] }).messages;
    const thread = await s.client.threads.create({
      graphId: 'turns',
      supersteps: [
        one('__input__', input),
        one('__start__', input),
        ...['agent', 'tool', 'agent'].map((node, index) => one(node, { messages: [messages[index + 1]] })),
      ] as never,
    });
    assert.deepEqual([thread.status, thread.values], ['idle', values]);
    const cloned = await nextAndValues(s, thread.thread_id);
    assert.equal(cloned.length, 5);
    assert.deepEqual(cloned, await nextAndValues(s, original));

    const events = (await s.events()).filter(({ meta }) => meta.stream === `thread-${thread.thread_id}`);
    assert.deepEqual(
      events.map(({ type }) => type),
      ['ThreadCreated', 'StateUpdated'],
    );
    assert.equal(new Set(events.map(({ meta }) => meta.commandId)).size, 1, 'L1 one commit');
    const after = await s.client.runs.wait(thread.thread_id, 'turns', { input: say('again') });
    assert.deepEqual(textsOf(after), ['hi', 'begin', 'done', 'end', 'again', 'begin', 'done', 'end']);
  }));

test('given supersteps with commands and several updates, when a thread is made of them, then each step is one checkpoint', () =>
  withServer({ config: STATES }, async (s) => {
    const { json } = await s.request('POST', '/threads', {
      metadata: { graph_id: 'review' },
      supersteps: [
        { updates: [{ as_node: '__start__', values: say('hi') }] },
        {
          updates: [
            { as_node: 'draft', values: { messages: [{ type: 'ai', content: 'one', id: '1' }] } },
            { as_node: 'ask', values: { messages: [{ type: 'ai', content: 'two', id: '2' }] } },
          ],
        },
        { updates: [{ as_node: 'ask', command: { goto: 'draft', update: { messages: [] } } }] },
      ],
    });
    const history = await s.client.threads.getHistory(json.thread_id);
    assert.equal(history.length, 3);
    assert.deepEqual(textsOf(json.values), ['hi', 'one', 'two']);
    assert.deepEqual(history[0]!.next, ['draft']);
  }));

test('given supersteps without a graph, or with one that does not take them, when a thread is to be made, then none is', () =>
  withServer({ config: STATES }, async (s) => {
    const before = await s.events();
    const steps = [{ updates: [{ as_node: 'agent', values: say('x') }] }];
    const ask = async (body: object) => {
      const { status, json } = await s.request('POST', '/threads', { thread_id: MISSING, ...body });
      return [status, json.detail];
    };
    assert.deepEqual(await ask({ supersteps: steps }), [400, `Thread ${MISSING} has no graph ID`]);
    for (const graph_id of [7, null])
      assert.equal((await ask({ supersteps: steps, metadata: { graph_id } }))[0], 400);
    assert.deepEqual(await ask({ supersteps: steps, metadata: { graph_id: 'nobody' } }), [
      404,
      'Graph "nobody" not found',
    ]);
    const [status, detail] = await ask({
      supersteps: [...steps, { updates: [{ as_node: 'nobody', values: {} }] }],
      metadata: { graph_id: 'turns' },
    });
    assert.equal(status, 400);
    assert.match(String(detail), /Node "nobody" does not exist/);
    assert.deepEqual(await s.events(), before);
    assert.equal((await s.request('GET', `/threads/${MISSING}`)).status, 404);
  }));

test('given a thread that exists, when supersteps come for it with do_nothing, then it stays as it is', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await newThread(s, { metadata: { a: 1 } });
    const before = await s.events();
    const body = {
      thread_id: threadId,
      metadata: { graph_id: 'turns' },
      supersteps: [{ updates: [{ as_node: '__start__', values: say('x') }] }],
    };
    const { status, json } = await s.request('POST', '/threads', { ...body, if_exists: 'do_nothing' });
    assert.deepEqual([status, json.metadata, json.values], [200, { a: 1 }, null]);
    assert.equal((await s.request('POST', '/threads', body)).status, 409);
    assert.deepEqual(await s.events(), before);
  }));

test('given a plain function, when a thread is made of its steps, then its history is that of a run and a run goes on from it', () =>
  withServer({ config: STATES }, async (s) => {
    const original = await newThread(s);
    const input = { messages: [{ type: 'human', content: 'hi', id: 'm1' }] };
    const values = await s.client.runs.wait(original, 'echo', { input });
    const answer = (values as { messages: unknown[] }).messages[1];
    const { thread_id: threadId } = await s.client.threads.create({
      graphId: 'echo',
      supersteps: [one('__start__', input), one('echo', { messages: [answer] })] as never,
    });
    assert.deepEqual(await nextAndValues(s, threadId), await nextAndValues(s, original));
    const after = await s.client.runs.wait(threadId, 'echo', { input: say('more') });
    assert.deepEqual(textsOf(after), ['hi', 'echo: hi', 'more', 'echo: more']);
  }));

test('given nodes that ran side by side in the last step, when the state is edited as nobody, then it is refused each time, and taken as one of them', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'beside', { input: { log: [] } });
    const asked = Object.values((await s.client.threads.get(threadId)).interrupts).flat();
    assert.equal(asked.length, 2);
    const resume = Object.fromEntries(asked.map(({ id }) => [id!, 'yes']));
    await s.client.runs.wait(threadId, 'beside', { command: { resume } });
    const before = await s.client.threads.getState(threadId);
    assert.deepEqual(before.next, []);
    for (let i = 0; i < 3; i++) {
      const { status, json } = await s.request('POST', `/threads/${threadId}/state`, {
        values: { log: ['x'] },
      });
      assert.equal(status, 400, JSON.stringify(json));
      assert.match(json.detail, /Ambiguous update/);
    }
    assert.deepEqual(await s.client.threads.getState(threadId), before);
    await s.client.threads.updateState(threadId, { values: { log: ['x'] }, asNode: 'work' });
    const { values } = await s.client.threads.getState<{ log: string[] }>(threadId);
    assert.equal(values.log.at(-1), 'x');
  }));

test.run();

import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Message } from '@langchain/langgraph-sdk';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, ended, MISSING, newThread, say, startGated, textsOf, untilMark } from './scene.ts';

const test = suite('conformance: updates of the state');
const STATES = config('platform.states.json');

async function waitAs(
  s: TestServer,
  graph: string,
  input: Record<string, unknown> = say('hi'),
): Promise<string> {
  const threadId = await newThread(s);
  await s.client.runs.wait(threadId, graph, { input });
  return threadId;
}

/** The last message with another text, under its own id. */
async function edited(s: TestServer, threadId: string, text: string): Promise<{ messages: Message[] }> {
  const { values } = await s.client.threads.getState<{ messages: Message[] }>(threadId);
  return { messages: [{ ...values.messages.at(-1)!, content: text } as Message] };
}

test('client.threads.updateState: given an interrupted thread, when a message is edited as nobody, then its status is that of the new head (official 1.3)', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'agent', { input: say('hi'), interruptBefore: ['tool'] });
    const before = await s.client.threads.getState(threadId);
    const { configurable } = await s.client.threads.updateState(threadId, {
      values: await edited(s, threadId, 'begin anew'),
    });
    assert.equal(configurable!['thread_id'], threadId);

    const state = await s.client.threads.getState(threadId);
    assert.deepEqual(state.checkpoint, { ...configurable, checkpoint_map: null });
    assert.deepEqual(state.parent_checkpoint, before.checkpoint);
    assert.deepEqual(textsOf(state.values), ['hi', 'begin anew']);
    assert.equal((state.metadata as { source?: string }).source, 'update');
    const thread = await s.client.threads.get(threadId);
    assert.deepEqual([thread.status, thread.values], ['idle', state.values]);

    const history = await s.client.threads.getHistory(threadId);
    assert.deepEqual(
      history.map(({ next }) => next),
      [[], ['tool'], ['agent'], ['__start__']],
    );
  }));

test('given a thread that asked, when its state is edited as its last node, then the question is asked anew by the next run', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await waitAs(s, 'review');
    const asked = await s.client.threads.get(threadId);
    assert.equal(Object.keys(asked.interrupts!).length, 1);
    await s.client.threads.updateState(threadId, {
      values: await edited(s, threadId, 'better'),
      asNode: 'draft',
    });
    const state = await s.client.threads.getState(threadId);
    assert.deepEqual([state.next, state.tasks.map(({ interrupts }) => interrupts)], [['ask'], [[]]]);
    const thread = await s.client.threads.get(threadId);
    assert.deepEqual([thread.status, thread.interrupts], ['interrupted', {}]);

    await s.client.runs.wait(threadId, 'review', { input: null });
    const again = await s.client.threads.get(threadId);
    const [waiting] = Object.values(again.interrupts!);
    assert.deepEqual(
      waiting!.map(({ value }) => value),
      [{ draft: 'better' }],
    );
    const values = await s.client.runs.wait(threadId, 'review', { command: { resume: 'fine' } });
    assert.deepEqual(textsOf(values), ['hi', 'better', 'fine']);
  }));

test('given a node that has one of two answers, when the state is updated as nobody, then that node is still to run', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await waitAs(s, 'twice', {});
    await s.client.runs.wait(threadId, 'twice', { command: { resume: 'Ann' } });
    assert.deepEqual((await s.client.threads.getState(threadId)).next, ['ask']);
    await s.client.threads.updateState(threadId, { values: { name: 'Bob' } });
    const state = await s.client.threads.getState(threadId);
    assert.deepEqual([state.values, state.next], [{ name: 'Bob' }, ['ask']]);
    const [past] = (await s.client.threads.getHistory(threadId)).slice(1);
    assert.deepEqual([past!.next, past!.tasks[0]!.result], [['ask'], null]);
  }));

test('X1 given a run that is open, even one that waits for its time, when the state is updated, then 409 and nothing is saved', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await newThread(s);
    const delayed = await s.client.runs.create(threadId, 'agent', { input: say('late'), afterSeconds: 3600 });
    const refused = async (): Promise<void> => {
      const before = await s.events();
      const { status, json } = await s.request('POST', `/threads/${threadId}/state`, { values: say('x') });
      assert.deepEqual([status, json], [409, { detail: 'Thread is busy' }]);
      assert.deepEqual(await s.events(), before);
    };
    await refused();
    await s.client.runs.cancel(threadId, delayed.run_id);
    assert.equal((await s.client.runs.get(threadId, delayed.run_id)).status, 'interrupted');
    await s.client.runs.join(threadId, delayed.run_id);
    await s.client.threads.updateState(threadId, { values: say('now'), asNode: 'agent' });
    assert.deepEqual(textsOf((await s.client.threads.get(threadId)).values), ['now']);
    assert.equal((await s.client.threads.get(threadId)).status, 'idle');

    const { runId, open } = await startGated(s, threadId);
    await refused();
    open();
    await s.until(ended(runId));
  }));

test('given a thread that no graph is known of, when its state is updated, then 400; a missing thread or checkpoint is 404', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await newThread(s);
    const ask = async (id: string, body: object) => {
      const { status, json } = await s.request('POST', `/threads/${id}/state`, body);
      return [status, json.detail];
    };
    assert.deepEqual(await ask(threadId, { values: {} }), [400, `Thread ${threadId} has no graph ID`]);
    assert.deepEqual(await ask(MISSING, { values: {} }), [404, `Thread with ID ${MISSING} not found`]);
    const ran = await waitAs(s, 'agent');
    const answer = await ask(ran, { values: say('x'), checkpoint_id: MISSING });
    assert.deepEqual(answer, [404, `Checkpoint ${MISSING} not found`]);
    await s.request('PATCH', `/threads/${threadId}`, { metadata: { graph_id: 'nobody' } });
    assert.deepEqual(await ask(threadId, { values: {} }), [404, 'Graph "nobody" not found']);
  }));

test('given an update that the graph does not take, when it is sent, then 400 says why and nothing is saved', () =>
  withServer({ config: STATES }, async (s) => {
    const agent = await waitAs(s, 'agent');
    const echo = await waitAs(s, 'echo');
    const brittle = await waitAs(s, 'brittle', { log: [] });
    const before = await s.events();
    for (const [threadId, body, words] of [
      [agent, { values: say('x'), as_node: 'nobody' }, /Node "nobody" does not exist/],
      [agent, { values: [{ a: 1 }, { b: 2 }], as_node: 'agent' }, /InvalidUpdateError/],
      [agent, { values: { messages: [{ nothing: 1 }] }, as_node: 'agent' }, /refused the update/],
      [agent, { values: {}, checkpoint: { checkpoint_ns: 'nobody:1' } }, /Subgraph "nobody" not found/],
      [echo, { values: { a: 1 }, as_node: 'nobody' }, /its one node is "echo"/],
      [echo, { values: [{ a: 1 }] }, /must be an object/],
      [echo, { values: { messages: [5] } }, /no message/],
      [echo, { values: { a: 1 }, checkpoint: { checkpoint_ns: 'x:1' } }, /has no subgraphs/],
      [brittle, { values: { log: ['poison'] }, as_node: 'a' }, /the branch broke/],
    ] as const) {
      const { status, json } = await s.request('POST', `/threads/${threadId}/state`, body as any);
      assert.deepEqual([status, Object.keys(json)], [400, ['detail']], JSON.stringify(body));
      assert.match(json.detail, /^The graph refused the update: /);
      assert.match(json.detail, words);
    }
    assert.deepEqual(await s.events(), before);
  }));

test('given a past checkpoint, when it is updated, then the thread goes on from there and the past stays', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await waitAs(s, 'chain', {});
    const history = await s.client.threads.getHistory(threadId);
    const past = history.find(({ next }) => next[0] === 'three')!;
    for (const place of [{ checkpointId: past.checkpoint.checkpoint_id! }, { checkpoint: past.checkpoint }]) {
      await s.client.threads.updateState(threadId, { values: { visited: ['changed'] }, ...place });
      const state = await s.client.threads.getState(threadId);
      assert.deepEqual([state.values, state.next], [{ visited: ['one', 'two', 'changed'] }, ['three']]);
      assert.deepEqual(state.parent_checkpoint, past.checkpoint);
    }
    const values = await s.client.runs.wait(threadId, 'chain', { input: null });
    assert.deepEqual(values, { visited: ['one', 'two', 'changed', 'three', 'four', 'five'] });
    const same = await s.client.threads.getState(threadId, past.checkpoint.checkpoint_id!);
    assert.deepEqual(same.values, past.values);
  }));

test('given no values, when the state is updated, then a checkpoint like the head is added', () =>
  withServer({ config: STATES }, async (s) => {
    for (const graph of ['agent', 'echo', 'asks']) {
      const threadId = await waitAs(s, graph);
      const before = await s.client.threads.getState(threadId);
      const thread = await s.client.threads.get(threadId);
      for (const body of [{ values: null }, {}]) {
        assert.equal((await s.request('POST', `/threads/${threadId}/state`, body)).status, 200);
        const after = await s.client.threads.getState(threadId);
        assert.deepEqual([after.values, after.next], [before.values, before.next], graph);
        assert.notDeepEqual(after.checkpoint, before.checkpoint);
        const { status, interrupts } = await s.client.threads.get(threadId);
        assert.deepEqual([status, interrupts], [thread.status, thread.interrupts]);
      }
    }
  }));

test('given an assistant whose config names the node, when the state is updated as that node, then the graph is built anew with it', () =>
  withServer(
    {
      config: STATES,
      env: { LANGGRAPH_CONFIG: '{"dynamic":{"config":{"configurable":{"nodeName":"special"}}}}' },
    },
    async (s) => {
      const threadId = await waitAs(s, 'dynamic');
      assert.deepEqual(textsOf((await s.client.threads.get(threadId)).values), ['hi', 'from special']);
      await s.client.threads.updateState(threadId, { values: say('more'), asNode: 'special' });
      const state = await s.client.threads.getState(threadId);
      assert.deepEqual(textsOf(state.values), ['hi', 'from special', 'more']);
      const { status } = await s.request('POST', `/threads/${threadId}/state`, {
        values: say('x'),
        as_node: 'node',
      });
      assert.equal(status, 400);
    },
  ));

test('given many updates of one thread at once, when all are answered, then none is lost that was accepted', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await waitAs(s, 'brittle', { log: [] });
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        s.request('POST', `/threads/${threadId}/state`, { values: { log: [`u${i}`] }, as_node: 'b' }),
      ),
    );
    const taken = answers.flatMap(({ status }, i) => (status === 200 ? [`u${i}`] : []));
    assert.ok(answers.every(({ status }) => status === 200 || status === 409));
    assert.ok(taken.length > 0);
    const { values } = await s.client.threads.getState<{ log: string[] }>(threadId);
    assert.deepEqual(values.log.slice(2).sort(), taken.sort());
    const updates = (await s.events()).filter(({ type }) => type === 'StateUpdated');
    assert.equal(updates.length, taken.length);
  }));

test('L2 given an update that is overtaken while it is worked out, when it is committed, then it was worked out anew on what came between', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await waitAs(s, 'brittle', { log: [] });
    const path = `/threads/${threadId}/state`;
    const gate = join(s.dir, 'gate');
    const slow = s.request('POST', path, { values: { log: [gate] }, as_node: 'a' });
    await untilMark(`${gate}.here`, '');
    const quick = await s.request('POST', path, { values: { log: ['quick'] }, as_node: 'b' });
    assert.equal(quick.status, 200);
    writeFileSync(gate, '');
    assert.equal((await slow).status, 200);
    const state = await s.client.threads.getState<{ log: string[] }>(threadId);
    assert.deepEqual(state.values.log, ['a', 'b', 'quick', gate]);
    assert.deepEqual(state.parent_checkpoint, quick.json.checkpoint);
  }));

test('X1 given a run that comes while an update is worked out, when the update is done, then it is refused and nothing of it is saved', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await waitAs(s, 'brittle', { log: [] });
    const gate = join(s.dir, 'gate');
    const values = { log: [gate] };
    const slow = s.request('POST', `/threads/${threadId}/state`, { values, as_node: 'a' });
    await untilMark(`${gate}.here`, '');
    const { run_id: run } = await s.client.runs.create(threadId, 'brittle', {
      input: { log: [] },
      afterSeconds: 3600,
    });
    writeFileSync(gate, '');
    const { status, json } = await slow;
    assert.deepEqual([status, json.detail], [409, 'Thread is busy']);
    await s.client.runs.cancel(threadId, run);
    const state = await s.client.threads.getState<{ log: string[] }>(threadId);
    assert.deepEqual(state.values.log, ['a', 'b']);
    assert.ok(!(await s.events()).some(({ type }) => type === 'StateUpdated'));
  }));

test('L1 given a restart after an update, when the thread is read, then everything of it is as it was', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await waitAs(s, 'agent');
    await s.client.threads.updateState(threadId, { values: say('kept'), asNode: 'agent' });
    const before = [await s.client.threads.get(threadId), await s.client.threads.getHistory(threadId)];
    await s.restart();
    assert.deepEqual(
      [await s.client.threads.get(threadId), await s.client.threads.getHistory(threadId)],
      before,
    );
    const [newest] = await s.client.threads.getHistory(threadId);
    const { graph_id, assistant_id, thread_id, source } = newest!.metadata as Record<string, unknown>;
    const { metadata } = await s.client.threads.get(threadId);
    assert.deepEqual(
      { graph_id, assistant_id, thread_id, source },
      { ...metadata, thread_id: threadId, source: 'update' },
    );
  }));

test('client.threads.patchState: given metadata, when it is patched through the state, then it is merged into the thread and the answer is empty', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await newThread(s, { metadata: { a: 1, b: 1 } });
    await s.client.threads.patchState(threadId, { b: 2, c: 3 });
    await s.client.threads.patchState({ configurable: { thread_id: threadId } }, { d: 4 });
    assert.deepEqual((await s.client.threads.get(threadId)).metadata, { a: 1, b: 2, c: 3, d: 4 });
    const { status, text } = await s.request('PATCH', `/threads/${threadId}/state`, { metadata: null });
    assert.deepEqual([status, text], [204, '']);
    assert.equal((await s.request('PATCH', `/threads/${MISSING}/state`, {})).status, 404);
  }));

test.run();

/** Agents of `createAgent`, driven by the official client. */
import * as assert from 'node:assert/strict';
import { runHere } from '../support/command-line.ts';
import { logOf } from '../support/stored.ts';
import { suite } from '../support/suite.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';
import { withServer } from '../support/with-server.ts';
import { dataOf, streamRun } from './stream-reader.ts';
import { config, newThread, say, textsOf } from './scene.ts';
import { eventsOf } from './thread-stream.ts';

const test = suite('conformance: agents');
const AGENTS = { config: config('platform.agents.json') };
const ANSWER = ['hi', '', 'news of hi', 'found: news of hi'];

for (const graph of ['wrapper', 'promised', 'made', 'inner'])
  test(`an agent exported as ${graph} calls its tool and answers`, () =>
    withServer(AGENTS, async (s) => {
      const threadId = await newThread(s);
      const values = await s.client.runs.wait(threadId, graph, { input: say('hi') });
      assert.deepEqual(textsOf(values), ANSWER);
      await s.restart();
      const state = await s.client.threads.getState(threadId);
      assert.deepEqual(textsOf(state.values), ANSWER);
      const { ls_agent_type: type } = state.metadata as Record<string, unknown>;
      if (graph === 'wrapper') assert.equal(type, 'root');
    }));

test('an agent that asks before a tool call goes on with the decision, also after a restart', () =>
  withServer(AGENTS, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'careful', { input: say('hi') });
    await s.restart();
    const asked = await s.client.threads.getState(threadId);
    assert.equal(asked.tasks[0]!.interrupts.length, 1);
    const values = await s.client.runs.wait(threadId, 'careful', {
      command: { resume: { decisions: [{ type: 'approve' }] } },
    });
    assert.deepEqual(textsOf(values), ANSWER);
    assert.equal((await s.client.threads.get(threadId)).status, 'idle');
  }));

test('the defaults that an author gave an agent hold', () =>
  withServer(AGENTS, async (s) => {
    const threadId = await newThread(s);
    const values = await s.client.runs.wait(threadId, 'limited', { input: say('hi') });
    assert.equal((values as { count: number }).count, 13);
    const { metadata } = await s.client.threads.getState(threadId);
    assert.equal((metadata as { made_by?: string }).made_by, 'author');
    await assert.rejects(s.client.runs.wait(threadId, 'brief', { input: say('hi') }), /GraphRecursionError/);
  }));

test('the mode messages shows every message under one id, that of its first piece and of the state', () =>
  withServer(AGENTS, async (s) => {
    const threadId = await newThread(s);
    const frames = await streamRun(s, threadId, {
      ...{ assistant_id: 'streams', input: say('hi'), stream_mode: ['messages'] },
    });
    const grown = new Set(dataOf(frames, 'messages/partial').map(([{ id }]) => id as string));
    // Messages that no model streamed have metadata as well.
    const told = frames
      .filter(({ event }) => event === 'messages/metadata')
      .flatMap(({ data }) => Object.keys(data as object))
      .filter((id) => grown.has(id));
    const whole = dataOf(frames, 'messages/complete')
      .flat()
      .filter(({ type }) => type === 'ai')
      .map(({ id }) => id as string);
    assert.deepEqual(told, ['model-1', 'model-3']);
    assert.deepEqual([[...grown], whole], [told, told]);
    assert.equal(dataOf(frames, 'messages/partial').at(-1)[0].content, ANSWER.at(-1));
  }));

test('client.runs.create, client.runs.join: wait and join answer the structured response, which no checkpoint has, also after a restart', () =>
  withServer(AGENTS, async (s) => {
    const threadId = await newThread(s);
    const structuredResponse = { found: 'news of hi' };
    for (const streamMode of ['updates', 'messages']) {
      const { run_id: runId } = await s.client.runs.create(threadId, 'structured', {
        ...{ input: say('hi'), streamMode: streamMode as 'updates' },
      });
      const joined = (await s.client.runs.join(threadId, runId)) as Record<string, unknown>;
      assert.deepEqual(joined['structuredResponse'], structuredResponse);
      assert.ok(textsOf(joined).includes('news of hi'));
      await s.restart();
      assert.deepEqual(await s.client.runs.join(threadId, runId), joined);
    }
    const waited = await s.client.runs.wait(null, 'structured', { input: say('hi') });
    assert.deepEqual((waited as Record<string, unknown>)['structuredResponse'], structuredResponse);
    const { values } = await s.client.threads.getState(threadId);
    assert.equal('structuredResponse' in (values as object), false);
  }));

test('values that no checkpoint has are erased with the frames of their run', () =>
  withServer(AGENTS, async (s) => {
    for (const erase of ['run', 'thread'] as const) {
      const threadId = await newThread(s);
      const { run_id: runId } = await s.client.runs.create(threadId, 'structured', { input: say('hi') });
      await s.client.runs.join(threadId, runId);
      assert.match((await s.server.log.payloads.untracked(runId)) ?? '', /structuredResponse/);
      await (erase === 'run' ? s.client.runs.delete(threadId, runId) : s.client.threads.delete(threadId));
      assert.equal(await s.server.log.payloads.untracked(runId), undefined);
    }
  }));

test('a graph made for a run that asks is made again with the settings of that run for its state and its answer', () =>
  withServer(AGENTS, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'named', {
      ...{ input: { told: 'nothing' }, config: { configurable: { node: 'mine' } } },
    });
    await s.restart();
    const { next, tasks } = await s.client.threads.getState(threadId);
    assert.deepEqual([next, tasks[0]!.interrupts[0]!.value], [['mine'], 'well?']);
    const values = await s.client.runs.wait(threadId, 'named', { command: { resume: 'yes' } });
    assert.deepEqual(values, { told: 'mine: yes' });
  }));

test('an answer that fits no node fails its run, and the question goes on waiting', () =>
  withServer(AGENTS, async (s) => {
    const threadId = await newThread(s);
    const config = (node: string) => ({ config: { configurable: { node } } });
    await s.client.runs.wait(threadId, 'named', { input: { told: 'nothing' }, ...config('mine') });
    const answer = s.client.runs.wait(threadId, 'named', { command: { resume: 'no' }, ...config('other') });
    await assert.rejects(answer, /has no node/);
    const values = await s.client.runs.wait(threadId, 'named', {
      ...{ command: { resume: 'yes' }, ...config('mine') },
    });
    assert.deepEqual(values, { told: 'mine: yes' });
  }));

test('channels of stream transformers reach the extensions of a thread, and no stream of a run', () =>
  withServer(AGENTS, async (s) => {
    const body = { assistant_id: 'transformed', input: { told: '' }, stream_mode: ['custom', 'updates'] };
    const frames = await streamRun(s, await newThread(s), body);
    assert.deepEqual(dataOf(frames, 'custom'), [{ name: 'own', payload: 1 }]);
    assert.deepEqual(dataOf(frames, 'updates'), [{ one: { told: 'one' } }, { two: { told: 'two' } }]);
    assert.deepEqual(new Set(frames.map(({ event }) => event)), new Set(['metadata', 'custom', 'updates']));
    const threadId = crypto.randomUUID();
    const thread = s.client.threads.stream(threadId, { assistantId: 'transformed' });
    const steps: unknown[] = [];
    const reading = (async () => {
      for await (const step of thread.extensions['timeline'] as AsyncIterable<unknown>) steps.push(step);
    })();
    await thread.run.start({ input: { told: '' } });
    await thread.output;
    await thread.close();
    await reading;
    assert.deepEqual(steps, [{ step: 1 }, { step: 2 }]);
    const custom = (await eventsOf(s, threadId)).filter(({ method }) => method === 'custom');
    assert.deepEqual(
      custom.map(({ params }) => params.data),
      [
        { name: 'own', payload: 1 },
        { name: 'timeline', payload: { step: 1 } },
        { name: 'timeline', payload: { step: 2 } },
        { name: 'total', payload: 2 },
      ],
    );
  }));

for (const graph of ['wrapper', 'transformed_agent'])
  for (const stream_subgraphs of [false, true])
    test(`messages of ${graph} are streamed beside any modes, stream_subgraphs ${stream_subgraphs}`, () =>
      withServer(AGENTS, async (s) => {
        const shown = [];
        for (const others of [
          [],
          ['values'],
          ['custom'],
          ['values', 'custom'],
          ['custom', 'lifecycle', 'tasks'],
        ]) {
          const frames = await streamRun(s, await newThread(s), {
            assistant_id: graph,
            input: say('hi'),
            stream_mode: ['messages-tuple', ...others],
            stream_subgraphs,
          });
          shown.push(frames.filter(({ event }) => event.split('|')[0] === 'messages').length);
        }
        assert.ok(shown[0]! > 0);
        assert.deepEqual(new Set(shown), new Set([shown[0]]));
      }));

test('an append-only channel of parallel tasks survives a copy, a pruning and a restart', () =>
  withServer(AGENTS, async (s) => {
    const threadId = await newThread(s);
    const log = ['one', 'a', 'b', 'c', 'two', 'a', 'b', 'c'];
    for (const input of ['one', 'two'])
      await s.client.runs.wait(threadId, 'delta', { input: { log: [input] } });
    const { thread_id: copy } = await s.client.threads.copy(threadId);
    await s.request('POST', '/threads/prune', { thread_ids: [threadId], strategy: 'keep_latest' });
    assert.equal((await s.client.threads.getHistory(threadId)).length, 1);
    await s.restart();
    for (const id of [threadId, copy]) {
      assert.deepEqual((await s.client.threads.getState<object>(id)).values, { log });
      const more = await s.client.runs.wait(id, 'delta', { input: { log: ['three'] } });
      assert.deepEqual(more, { log: [...log, 'three', 'a', 'b', 'c'] });
    }
  }));

test('P3 what a delta channel holds is wherever the values of its thread are, under the same ids', () =>
  withServer(AGENTS, (s) =>
    withWebhookSink(async (sink) => {
      // given
      const { threads, runs } = s.client;
      const threadId = await newThread(s);
      // when
      const webhook = sink.url();
      const first = await runs.wait(threadId, 'conversation', { input: say('hello'), webhook });
      const [{ body } = assert.fail()] = await sink.next(1);
      await threads.updateState(threadId, { values: say('noted') });
      await runs.wait(threadId, 'conversation', { input: say('again') });
      // then
      const { values } = await threads.getState<{ messages: object[] }>(threadId);
      assert.deepEqual(textsOf(values), ['hello', 'there', 'noted', 'again', 'there']);
      assert.deepEqual(textsOf(first), ['hello', 'there']);
      assert.deepEqual(first, { messages: values.messages.slice(0, 2) });
      assert.deepEqual(JSON.parse(body.toString()).values, first);
      assert.deepEqual((await threads.get(threadId)).values, values);
      const { thread_id: copy } = await threads.copy(threadId);
      const extract = { last: 'values.messages[-1].content' };
      const found = await threads.search({ values, extract } as object);
      assert.deepEqual(new Set(found.map(({ thread_id }) => thread_id)), new Set([threadId, copy]));
      for (const thread of found)
        assert.deepEqual([thread.values, thread.extracted], [values, { last: 'there' }]);
      const [one, other] = (await runs.list(threadId)).map(({ run_id }) => run_id);
      const diff = await s.request('GET', `/runs/diff?a=${one}&b=${other}`);
      assert.match(JSON.stringify(diff.json), /noted/);
      const replay = ['replay', '--data', logOf(s), '--thread', threadId];
      const timeline = JSON.parse((await runHere([...replay, '--json'])).out) as { position: number }[];
      const texts = new Set<string>();
      for (const { position } of timeline) {
        const { out } = await runHere([...replay, '--to', String(position), '--json']);
        texts.add(textsOf((JSON.parse(out) as { values: object | null }).values ?? {}).join());
      }
      assert.deepEqual(
        [...texts],
        ['', 'hello', 'hello,there', 'hello,there,noted', 'hello,there,noted,again', textsOf(values).join()],
      );
    }),
  ));

test('P3 a delta channel without writes has its initial value in the thread too', () =>
  withServer(AGENTS, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'conversation', { input: { topic: 'none' } });
    const values = { messages: [], topic: 'none' };
    assert.deepEqual((await s.client.threads.getState(threadId)).values, values);
    assert.deepEqual((await s.client.threads.get(threadId)).values, values);
    await s.client.runs.wait(threadId, 'conversation', { input: say('hello') });
    assert.deepEqual(textsOf((await s.client.threads.get(threadId)).values), ['hello', 'there']);
  }));

test.run();

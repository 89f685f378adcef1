/** What a stopped run had streamed of its messages, kept in the thread's state. */
import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, newThread, say, textsOf } from './scene.ts';
import { openStream } from './stream-reader.ts';

const test = suite('conformance: messages of stopped runs');
const TALKS = { config: config('platform.talks.json') };

const HI = { messages: [{ role: 'user', content: 'hi', id: 'hi' }] };

/** A run that has streamed these texts and waits to be stopped. */
async function streaming(
  s: TestServer,
  graph: string,
  texts: readonly string[],
  { thread, ...more }: { thread?: string; [field: string]: unknown } = {},
) {
  const threadId = thread ?? (await newThread(s));
  const stream = await openStream(`${s.url}/threads/${threadId}/runs/stream`, {
    body: { assistant_id: graph, input: HI, stream_mode: 'messages-tuple', ...more },
  });
  const ids = new Set<string>();
  const seen = new Map<string, string>();
  let runId = '';
  const isThere = (text: string): boolean => [...seen.values()].some((said) => said.startsWith(text));
  while (!texts.every(isThere)) {
    const { event, data }: any = (await stream.next())!;
    if (event === 'metadata') runId = data.run_id;
    const [message] = event.startsWith('messages') && Array.isArray(data) ? data : [];
    if (message === undefined) continue;
    if (/^ai$|^AI/i.test(message.type)) ids.add(message.id);
    const grown = event === 'messages/partial' ? '' : (seen.get(message.id) ?? '');
    seen.set(message.id, grown + String(message.content));
  }
  const cancel = (query: string) =>
    s.request('POST', `/threads/${threadId}/runs/${runId}/cancel?wait=1${query}` as any);
  return { threadId, runId, ids: [...ids], stream, cancel };
}

/** Texts and whether each was stopped. */
const told = (values: any): unknown[] =>
  values.messages.map(({ content, response_metadata: said }: any) => [content, said?.stopped === true]);

const HALF = ['half an answer'];

for (const [name, graph, more] of [
  ['message chunks', 'talks', {}],
  ['accumulated messages', 'talks', { stream_mode: ['messages', 'values'] }],
  ['both', 'talks', { stream_mode: ['messages', 'messages-tuple'], stream_subgraphs: true }],
  ['a delta channel', 'talksDelta', {}],
] as const)
  test(`cancel with keep=messages adds the streamed part to the state, and the next run continues it: ${name}`, () =>
    withServer(TALKS, async (s) => {
      // given
      const { threadId, ids, cancel, runId } = await streaming(s, graph, HALF, more);
      // when
      assert.equal((await cancel('&keep=messages')).status, 200);
      // then
      const state: any = await s.client.threads.getState(threadId);
      assert.deepEqual(told(state.values), [
        ['hi', false],
        ['half an answer', true],
      ]);
      const [, kept] = state.values.messages;
      assert.deepEqual([kept.type, kept.id], ['ai', ids[0]]);
      assert.deepEqual(
        [state.next, state.metadata.source, state.metadata.run_id],
        [['talk'], 'update', runId],
      );
      const thread = await s.client.threads.get(threadId);
      assert.equal(thread.status, 'interrupted');
      if (graph === 'talks') assert.deepEqual(thread.values, state.values);
      const [, before] = await s.client.threads.getHistory(threadId);
      assert.deepEqual([before!.next, state.parent_checkpoint], [['talk'], before!.checkpoint]);
      await s.restart();
      assert.deepEqual(await s.client.threads.getState(threadId), state);
      // when: the run goes on
      const values = await s.client.runs.wait(threadId, graph, { input: null });
      assert.deepEqual(textsOf(values).slice(0, 3), ['hi', 'half an answer', 'the rest']);
      // and when: another message is sent, the model sees the stopped answer
      const again = await s.client.runs.wait(threadId, graph, { input: say('and?') });
      const texts = textsOf(again);
      assert.deepEqual(texts.slice(texts.indexOf('and?'))[1], 'the rest');
    }));

test('a new message behind a stopped answer is answered with the stopped part in view', () =>
  withServer(TALKS, async (s) => {
    const { threadId, cancel } = await streaming(s, 'talks', HALF);
    await cancel('&keep=messages');
    const values = await s.client.runs.wait(threadId, 'talks', { input: say('go on') });
    assert.deepEqual(textsOf(values), ['hi', 'half an answer', 'go on', 'the rest', 'after']);
  }));

test('without keep, with a rollback, within a subgraph and in a state without messages nothing is kept', () =>
  withServer(TALKS, async (s) => {
    for (const [graph, query, texts, more] of [
      ['talks', '', ['hi'], {}],
      ['talks', '&keep=', ['hi'], {}],
      ['talks', '&keep=messages&action=rollback', undefined, {}],
      ['talksInside', '&keep=messages', ['hi'], { stream_subgraphs: true }],
      ['talksAside', '&keep=messages', [], { input: {} }],
    ] as const) {
      const { threadId, cancel } = await streaming(s, graph, HALF, more);
      await cancel(query);
      const { values } = await s.client.threads.get(threadId);
      assert.deepEqual(values && textsOf(values), texts ?? null, `${graph} ${query}`);
    }
    const wrong = await s.request('POST', '/runs/cancel', { status: 'all', keep: 'text' } as any);
    assert.equal(wrong.status, 422);
  }));

test('messages that parallel nodes stream are kept, beside that of a node that has ended', () =>
  withServer(TALKS, async (s) => {
    const { threadId, cancel } = await streaming(s, 'talksBeside', ['left', 'right', 'quick']);
    await cancel('&keep=messages');
    const { values, next }: any = await s.client.threads.getState(threadId);
    assert.deepEqual(told(values).sort(), [
      ['hi', false],
      ['left', true],
      ['quick', false],
      ['right', true],
    ]);
    assert.deepEqual([...next].sort(), ['left', 'quick', 'right']);
  }));

test('a tool call that was streamed in part is no part of what is kept', () =>
  withServer(TALKS, async (s) => {
    const { threadId, cancel, stream } = await streaming(s, 'talksAndCalls', ['let me look']);
    await stream.next();
    await cancel('&keep=messages');
    const { values }: any = await s.client.threads.getState(threadId);
    const kept = values.messages.at(-1);
    assert.deepEqual([kept.content, kept.tool_calls, kept.invalid_tool_calls], ['let me look', [], []]);
    assert.equal('tool_call_chunks' in kept, false);
  }));

test('on_cancel keeps the messages of a run whoever stops it: a cancel, another run, many at once, a reader', () =>
  withServer(TALKS, async (s) => {
    const keeps = { on_cancel: 'keep_messages', on_disconnect: 'cancel' };
    for (const how of ['cancel', 'other run', 'many', 'reader'] as const) {
      const { threadId, runId, cancel, stream } = await streaming(s, 'talks', HALF, keeps);
      const { kwargs }: any = await s.client.runs.get(threadId, runId);
      assert.equal(kwargs.on_cancel, 'keep_messages');
      if (how === 'cancel') await cancel('');
      if (how === 'many') await s.request('POST', '/runs/cancel', { thread_id: threadId, run_ids: [runId] });
      if (how === 'reader') stream.leave();
      const next =
        how === 'other run' &&
        (await s.client.runs.wait(threadId, 'talks', {
          input: say('now'),
          multitaskStrategy: 'interrupt',
        }));
      await s.until(({ type, data }) => type === 'RunCompleted' && data.runId === runId);
      const { values } = await s.client.threads.getState(threadId);
      assert.deepEqual(told(values)[1], ['half an answer', true], how);
      if (next) assert.deepEqual(textsOf(next), ['hi', 'half an answer', 'now', 'the rest', 'after']);
    }
    // A bulk cancel asks for it in its body or its query.
    for (const [query, body] of [
      ['', { keep: 'messages' }],
      ['?keep=messages', {}],
    ] as const) {
      const { threadId, runId } = await streaming(s, 'talks', HALF);
      const many = { thread_id: threadId, run_ids: [runId], ...body };
      await s.request('POST', `/runs/cancel${query}` as '/runs/cancel', many);
      await s.until(({ type, data }) => type === 'RunCompleted' && data.runId === runId);
      assert.deepEqual(told((await s.client.threads.getState(threadId)).values)[1], ['half an answer', true]);
    }
    const wrong = await s.request('POST', '/runs', { assistant_id: 'talks', on_cancel: 'x' } as any);
    assert.equal(wrong.status, 422);
  }));

test.run();

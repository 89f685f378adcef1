/** Agents of `createAgent`, driven by the official client. */
import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { dataOf, streamRun } from './stream-reader.ts';
import { config, newThread, say, textsOf } from './scene.ts';

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
      assert.deepEqual(textsOf((await s.client.threads.getState(threadId)).values), ANSWER);
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
    const told = frames
      .filter(({ event }) => event === 'messages/metadata')
      .flatMap(({ data }) => Object.keys(data as object));
    const grown = new Set(dataOf(frames, 'messages/partial').map(([{ id }]) => id as string));
    const whole = dataOf(frames, 'messages/complete')
      .flat()
      .filter(({ type }) => type === 'ai')
      .map(({ id }) => id as string);
    assert.deepEqual(told, ['model-1', 'model-3']);
    assert.deepEqual([[...grown], whole], [told, told]);
    assert.equal(dataOf(frames, 'messages/partial').at(-1)[0].content, ANSWER.at(-1));
  }));

test.run();

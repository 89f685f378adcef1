/** Answers to questions that an edit of the state has made anew. */
import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { config, newThread } from './scene.ts';

const test = suite('conformance: answers after an update of the state');

for (const answer of [false, 0, '', 'Eve'])
  test(`given a node that asks, when the state is updated as nobody and the answer is ${JSON.stringify(answer)}, then the node gets it`, () =>
    withServer({ config: config('platform.states.json') }, async (s) => {
      const threadId = await newThread(s);
      await s.client.runs.wait(threadId, 'twice', { input: {} });
      await s.client.threads.updateState(threadId, { values: { name: 'Bob' } });
      await s.client.runs.wait(threadId, 'twice', { command: { resume: answer } });
      const asked = await s.client.threads.getState(threadId);
      assert.deepEqual([asked.next, asked.tasks[0]!.interrupts.length], [['ask'], 1]);
      await s.client.runs.wait(threadId, 'twice', { command: { resume: 'Smith' } });
      const { values, next } = await s.client.threads.getState(threadId);
      assert.deepEqual([values, next], [{ name: answer, age: 'Smith' }, []]);
    }));

test.run();

import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { newThread, say, startGated } from './scene.ts';

const test = suite('conformance: runs that start at once');

/** The facts of a thread, those of one commit together. */
async function commitsOf(s: TestServer, threadId: string): Promise<string[][]> {
  const commits = new Map<string, string[]>();
  for (const { type, meta } of await s.server.log.readStream(`thread-${threadId}`, 1, 1000))
    commits.set(meta.commandId, [...(commits.get(meta.commandId) ?? []), type]);
  return [...commits.values()];
}

test('X1 L1 given an executor with room, when a run is waited for, then its creation and its start are one commit', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'agent', { input: say('hi') });
    const [, begun, ...rest] = await commitsOf(s, threadId);
    assert.deepEqual(begun, ['RunCreated', 'RunStarted']);
    assert.equal(rest.at(-1)?.at(-1), 'RunCompleted');
    const [run] = await s.client.runs.list(threadId);
    assert.equal(run?.status, 'success');
  }));

test('X1 given a run that executes, when the next one of its thread is streamed, then it is created to wait for its turn', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const gated = await startGated(s, threadId);
    const next = s.request('POST', `/threads/${threadId}/runs/wait`, {
      assistant_id: 'echo',
      input: say('second'),
      multitask_strategy: 'enqueue',
    });
    await s.until(({ type, data }) => type === 'RunCreated' && data.runId !== gated.runId);
    gated.open();
    assert.equal((await next).status, 200);
    const begun = (await commitsOf(s, threadId)).filter((facts) => facts.includes('RunCreated'));
    assert.deepEqual(begun.at(-1), ['RunCreated']);
  }));

test('X5 given as many runs as may execute, when more are waited for, then they start in the order in which they came', () =>
  withServer({ env: { PLATFORM_CONCURRENCY: '1' } }, async (s) => {
    const gate = join(s.dir, 'gate');
    const gated = s.client.runs.wait(null, 'gate', { input: say('0'), config: { configurable: { gate } } });
    await s.until(({ type }) => type === 'RunStarted');
    const came: string[] = [];
    const waits: Promise<unknown>[] = [];
    for (const name of ['1', '2', '3']) {
      const created = s.until(
        ({ type, data }) =>
          type === 'RunCreated' && JSON.stringify(data.kwargs.input) === JSON.stringify(say(name)),
      );
      waits.push(s.client.runs.wait(null, 'echo', { input: say(name) }));
      came.push(((await created).data as { runId: string }).runId);
    }
    writeFileSync(gate, '');
    await Promise.all([gated, ...waits]);
    const started = (await s.events()).flatMap(({ type, data }) =>
      type === 'RunStarted' ? [data.runId] : [],
    );
    assert.deepEqual(started.slice(1), came);
  }));

test.run();

/** Stopped runs; the numbers name sections of the official server's behaviour. */
import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { newThread, untilMark } from './scene.ts';

const test = suite('conformance: threads of stopped runs');

/** Cancels a run of `chain` in its node `two`; resolves with what the thread says then. */
async function stopped(s: TestServer, thread: string, more: object = {}) {
  const [marks, gate] = [join(s.dir, `marks-${thread}`), join(s.dir, `gate-${thread}-`)];
  const run = await s.client.runs.create(thread, 'chain', {
    ...{ input: {}, config: { configurable: { marks, gate } } },
    ...more,
  });
  await untilMark(marks, 'one');
  await s.client.runs.cancel(thread, run.run_id, true);
  const { status } = await s.client.threads.get(thread);
  const { next } = await s.client.threads.getState(thread);
  return { status, next };
}

test('a thread is interrupted after a cancel while nodes are left, and found so (official 1.1)', () =>
  withServer({}, async (s) => {
    const thread = await newThread(s);
    assert.deepEqual(await stopped(s, thread), { status: 'interrupted', next: ['one'] });
    const found = await s.client.threads.search({ status: 'interrupted' });
    assert.deepEqual(
      found.map(({ thread_id: id }) => id),
      [thread],
    );
  }));

test('a thread is idle after a cancel of a run that left no node behind (official 1.1)', () =>
  withServer({}, async (s) => {
    // given: a thread whose last run has ended
    const thread = await newThread(s);
    await s.client.runs.wait(thread, 'chain', { input: {} });
    // when: a run that saves nothing before its end is cancelled
    const told = await stopped(s, thread, { durability: 'exit' });
    // then
    assert.deepEqual(told, { status: 'idle', next: [] });
    assert.deepEqual(await s.client.threads.search({ status: 'interrupted' }), []);
  }));

test.run();

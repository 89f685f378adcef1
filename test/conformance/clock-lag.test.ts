/** A graph worker whose clock is an hour behind the server's. */
import assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { config, newThread } from './scene.ts';
import { ALL, isEnd, openEvents } from './thread-stream.ts';

const test = suite('conformance: workers whose clock lags');

test('times and order of states are by the server, whatever clock a graph worker has', () =>
  withServer({ workers: 1, config: config('platform.states.json') }, async (s) => {
    // given: a run on a right clock, and one whose process loses an hour at its first node
    const now = async (): Promise<number> => Date.parse((await s.client.threads.create()).created_at);
    const thread = await newThread(s);
    const before = await now();
    await s.client.runs.wait(thread, 'lags', { input: { lags: false } });
    await s.client.runs.wait(thread, 'lags', { input: { lags: true } });
    await s.client.runs.wait(thread, 'lags', { input: { lags: false } });
    const after = await now();
    // when
    const history = await s.client.threads.getHistory(thread, { limit: 100 });
    const state = await s.client.threads.getState(thread);
    // then: the last state is the head, and each state is as old as it is
    const steps = history.map(({ metadata }) => (metadata as { step: number }).step);
    assert.deepEqual(
      steps,
      steps.map((_, index) => steps.length - 2 - index),
    );
    assert.deepEqual(state, history[0]);
    assert.deepEqual(state.next, []);
    const times = history.map(({ created_at: at }) => Date.parse(at!)).reverse();
    assert.deepEqual(
      times,
      [...times].sort((one, other) => one - other),
    );
    for (const time of times) assert.ok(time >= before && time <= after, `${time - before}`);
    // then: pages follow the same order
    const [, , third] = history;
    const page = await s.client.threads.getHistory(thread, {
      limit: 100,
      before: third!.checkpoint as never,
    });
    assert.deepEqual(page, history.slice(3));
    // then: nothing that was told of a state later is older than the state
    const reader = await openEvents(s, thread, { channels: ALL });
    const events = [];
    for (let run = 0; run < 3; run++) events.push(...(await reader.until(isEnd)));
    reader.leave();
    assert.ok(events.at(-1)!.params.timestamp >= Date.parse(state.created_at!));
  }));

test.run();

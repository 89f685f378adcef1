import * as assert from 'uvu/assert';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import { placesOf } from '../support/stored.ts';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, ended, leapingClock, MORE, newThread, say, startGated } from './scene.ts';

const test = suite('conformance: what was erased is gone');

/** The time-out of the test is the limit. */
async function untilGone(s: TestServer, canary: string): Promise<void> {
  while ((await placesOf(s, canary)).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
}

test('A4 given a run of a user with secrets, when it has ended, then no file of the living server holds them', () =>
  withServer({ config: config('platform.auth.json') }, async (s) => {
    const canary = 'canary-secret-of-alice';
    const headers = { authorization: 'Bearer alice-token' };
    const thread = (await s.request('POST', '/threads', {}, headers)).json.thread_id;
    const run = { assistant_id: 'sees', input: {} };
    await s.request('POST', `/threads/${thread}/runs/wait`, run, headers);
    await untilGone(s, canary);
    assert.equal(await placesOf(s, canary), []);
  }));

test('L3 given a thread with a conversation, when it is deleted, then no file of the living server holds it', () =>
  withServer({}, async (s) => {
    const canary = 'canary-of-the-conversation';
    const thread = await newThread(s, { metadata: { note: canary } });
    await s.request('POST', `/threads/${thread}/runs/wait`, { assistant_id: 'echo', input: say(canary) });
    const { runId } = await startGated(s, thread, { input: say(canary) });
    assert.is.not((await placesOf(s, canary)).length, 0);
    assert.is((await s.request('DELETE', `/threads/${thread}`)).status, 204);
    await untilGone(s, canary);
    assert.is((await s.request('GET', `/threads/${thread}/runs/${runId}`)).status, 404);
  }));

test('L3 given an assistant with versions and a run, when it is deleted, then no file of the living server holds what they held', () =>
  withServer({}, async (s) => {
    const canary = 'canary-of-the-assistant';
    const { assistant_id: id } = await s.client.assistants.create({
      ...{ graphId: 'echo', name: canary, metadata: { note: canary } },
      config: { configurable: { note: canary } },
    });
    await s.client.assistants.update(id, { context: { note: canary }, description: canary });
    await s.client.runs.wait(null, id, { input: {} });
    assert.is.not((await placesOf(s, canary)).length, 0);
    await s.client.assistants.delete(id);
    await untilGone(s, canary);
    assert.is((await s.request('GET', `/assistants/${id}`)).status, 404);
    await s.restart();
    assert.is((await s.request('POST', `/assistants/${id}/versions`)).status, 404);
    const again = await s.client.assistants.create({ graphId: 'echo', assistantId: id });
    assert.equal([again.version, again.name], [1, 'Untitled']);
    // A thread that stays keeps its state, whose checkpoints say what they were made with; no fact says it any more.
    await s.client.assistants.update(id, { metadata: { note: canary }, context: { note: canary } });
    const thread = await newThread(s);
    await s.client.runs.wait(thread, id, { input: {} });
    await s.client.assistants.delete(id);
    assert.not.match(JSON.stringify(await s.events()), canary);
  }));

test('L3 given an item, when it is overwritten and then deleted, then no file of the living server holds what it was', () =>
  withServer({ config: config('platform.store.json') }, async (s) => {
    const { store } = s.client;
    const [first, second, place, key] = ['canary-first', 'canary-second', 'canary-place', 'canary-key'];
    await store.putItem([place, 'b'], key, { first, long: 'x'.repeat(10_000) });
    assert.is.not((await placesOf(s, first)).length, 0);
    await store.putItem([place, 'b'], key, { second });
    await untilGone(s, first);
    assert.is.not((await placesOf(s, second)).length, 0);
    await store.deleteItem([place, 'b'], key);
    for (const canary of [first, second, place, key]) await untilGone(s, canary);
    assert.equal((await s.events()).filter(({ type }) => type.startsWith('Item')).length, 1);
  }));

test('L3 given a run with its content, when it is deleted, then no file of the living server holds what it was told or said', () =>
  withServer({}, async (s) => {
    const [canary, error] = ['canary-of-the-run', 'fails'];
    const id = await newThread(s);
    await s.client.runs.wait(id, 'echo', { input: say('before') });
    for (const graph of ['agent', 'asks', error]) {
      await s.client.runs.wait(id, graph, {
        input: say(canary),
        metadata: { note: canary },
        config: { configurable: { note: canary } },
        raiseError: false,
      });
    }
    const resumed = { command: { resume: canary }, raiseError: false };
    await s.client.runs.wait(id, 'asks', resumed);
    assert.is.not((await placesOf(s, canary)).length, 0);
    const runs = await s.client.runs.list(id);
    for (const { run_id: run } of runs.slice(0, -1)) await s.client.runs.delete(id, run);
    await untilGone(s, canary);
    const { values, status } = await s.client.threads.get(id);
    assert.equal(
      [status, (values as { messages: { content: string }[] }).messages.map(({ content }) => content)],
      ['idle', ['before', 'echo: before']],
    );
  }));

test('L3 given values that a thread no longer has, when it is pruned to the latest, then no file of the living server holds them', () =>
  withServer({ config: MORE }, async (s) => {
    const canary = 'canary-of-the-past';
    const id = await newThread(s);
    await s.client.runs.wait(id, 'echo', { input: say('hi') });
    for (const note of [canary, 'nothing'])
      await s.client.threads.updateState(id, { values: { note: note.repeat(20) } });
    assert.is.not((await placesOf(s, canary)).length, 0);
    await s.client.threads.prune([id], { strategy: 'keep_latest' });
    await untilGone(s, canary);
    assert.is((await s.client.threads.get(id)).values['note' as never], 'nothing'.repeat(20));
  }));

test('a thread that keeps the latest loses inputs and records of the runs whose states go (L3, P2)', () =>
  withServer({}, async (s) => {
    const canary = 'canary-of-a-pruned-run';
    const id = await newThread(s);
    const marks = { metadata: { note: canary }, config: { configurable: { note: canary } } };
    const run = (graph: string, more: object = {}): Promise<unknown> =>
      s.client.runs.wait(id, graph, { input: {}, raiseError: false, ...more });
    // Given a question, a failure and later runs, more than one page lists, which have none of it in their state
    for (const graph of ['asks', 'fails', 'sees']) await run(graph, { input: { note: canary }, ...marks });
    for (let runs = 3; runs < 101; runs++) await run('sees', { input: { note: `${runs}` } });
    const before = await s.client.threads.get(id);
    assert.is.not((await placesOf(s, canary)).length, 0);
    // When only the latest is kept
    await s.client.threads.prune([id], { strategy: 'keep_latest' });
    // Then the last run alone is left, and the thread is as it was
    await untilGone(s, canary);
    assert.equal((await s.client.runs.list(id)).length, 1);
    assert.equal(await s.client.threads.get(id), before);
    await run('echo', { input: say('goes on') });
    assert.equal((await s.client.runs.list(id)).length, 2);
  }));

test('a run that is rolled back leaves nothing of its input, frames, checkpoints and writes (L3, P2)', () =>
  withServer({}, async (s) => {
    const canary = 'canary-of-a-rollback';
    const id = await newThread(s);
    const gated = { metadata: { note: canary }, config: { configurable: { note: canary } } };
    await s.client.runs.wait(id, 'echo', { input: say('before') });
    const before = await s.client.threads.get(id);
    // Given one run that has begun and another one that waits
    const gate = join(s.dir, 'never');
    const begun = await startGated(s, id, {
      ...{ input: say(canary), metadata: gated.metadata },
      config: { configurable: { note: canary, gate } },
    });
    const waiting = await s.client.runs.create(id, 'echo', { input: say(canary), ...gated });
    assert.is.not((await placesOf(s, canary)).length, 0);
    // When both are rolled back
    for (const runId of [waiting.run_id, begun.runId]) {
      await s.client.runs.cancel(id, runId, false, 'rollback');
      await s.until(ended(runId));
    }
    // Then the thread is as before, and no file has anything of them
    await untilGone(s, canary);
    assert.equal((await s.client.threads.get(id)).values, before.values);
    assert.equal((await s.client.runs.list(id)).length, 1);
  }));

test('L3 given a thread with a time to live, when it is over, then no file of the living server holds it', async () => {
  const clock = leapingClock();
  await withServer({ clock }, async (s) => {
    const canary = 'canary-of-the-outlived';
    const id = await newThread(s, { ttl: 10, metadata: { note: canary } });
    await s.client.runs.wait(id, 'echo', { input: say(canary) });
    assert.is.not((await placesOf(s, canary)).length, 0);
    const gone = s.until(({ type }) => type === 'ThreadDeleted');
    clock.leap(11 * 60_000);
    await gone;
    // The shredder waits for a quiet moment.
    const cancel = systemClock().after(1_000, () => clock.leap(1_000));
    await untilGone(s, canary);
    cancel();
    assert.is((await s.request('GET', `/threads/${id}`)).status, 404);
  });
});

test.run();

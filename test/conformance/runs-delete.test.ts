import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { config, MISSING, newThread, say, startGated, textsOf } from './scene.ts';

const test = suite('conformance: deleting runs');
const STATES = { config: config('platform.states.json') };

test('client.runs.delete: given three runs, when they are deleted one by one, then each takes its checkpoints along and the others read as before', () =>
  withServer(STATES, async (s) => {
    const { runs, threads } = s.client;
    const id = await newThread(s);
    for (const text of ['one', 'two', 'three']) await runs.wait(id, 'turns', { input: say(text) });
    const [third, second, first] = (await runs.list(id)).map(({ run_id: run }) => run) as [
      string,
      string,
      string,
    ];
    const whole = await threads.getHistory(id, { limit: 100 });
    const without = (...gone: string[]) =>
      whole.filter(({ metadata }) => !gone.includes(String((metadata as { run_id: unknown }).run_id)));

    await runs.delete(id, second);
    assert.deepEqual(await threads.getHistory(id, { limit: 100 }), without(second));
    assert.equal((await s.request('GET', `/threads/${id}/runs/${second}`)).status, 404);
    assert.equal((await s.request('DELETE', `/threads/${id}/runs/${second}`)).status, 404);
    assert.deepEqual((await threads.get(id)).values, whole[0]!.values);

    await runs.delete(id, third);
    const left = without(second, third);
    assert.deepEqual(await threads.getHistory(id, { limit: 100 }), left);
    assert.deepEqual((await threads.get(id)).values, left[0]!.values);
    const values = await runs.wait(id, 'turns', { input: say('again') });
    assert.deepEqual(textsOf(values).slice(0, 5), ['one', 'begin', 'done', 'end', 'again']);

    await runs.delete(id, first);
    await runs.delete(id, (await runs.list(id))[0]!.run_id);
    const empty = await threads.get(id);
    assert.deepEqual([empty.values, empty.status, await runs.list(id)], [null, 'idle', []]);
    assert.deepEqual(await threads.getHistory(id), []);
  }));

test('given runs that ended in different ways, when the last one is deleted, then the thread shows the end of the one before', () =>
  withServer(STATES, async (s) => {
    const id = await newThread(s);
    const shown = async () => {
      const { status, interrupts, error } = (await s.request('GET', `/threads/${id}`)).json;
      return [status, Object.values(interrupts).flat().length, error];
    };
    const removeLast = async () => s.client.runs.delete(id, (await s.client.runs.list(id))[0]!.run_id);
    await s.client.runs.wait(id, 'asks', { input: {} });
    await s.client.runs.wait(id, 'fails', { input: {}, raiseError: false });
    await s.client.runs.wait(id, 'echo', { input: say('hi') });
    assert.deepEqual(await shown(), ['idle', 0, null]);
    await removeLast();
    assert.deepEqual((await shown()).slice(0, 2), ['error', 0]);
    await removeLast();
    assert.deepEqual(await shown(), ['interrupted', 1, null]);
    const values = await s.client.runs.wait(id, 'asks', { command: { resume: 'yes' } });
    assert.equal(textsOf(values).at(-1), 'answered: "yes"');
    await s.client.threads.updateState(id, { values: { messages: [{ role: 'user', content: 'written' }] } });
    await removeLast();
    assert.equal(textsOf((await s.client.threads.get(id)).values).at(-1), 'written');
    assert.equal((await shown())[0], 'idle');
  }));

test('X5 given an open run, when it or one before it is deleted, then 409, and after its cancel 204 and 404', () =>
  withServer({}, async (s) => {
    const id = await newThread(s);
    await s.client.runs.wait(id, 'echo', { input: say('hi') });
    const done = (await s.client.runs.list(id))[0]!.run_id;
    const { runId } = await startGated(s, id);
    const before = await s.events();
    for (const run of [runId, done]) {
      const answer = await s.request('DELETE', `/threads/${id}/runs/${run}`);
      assert.deepEqual([answer.status, answer.json], [409, { detail: 'Thread is busy' }]);
    }
    assert.equal((await s.request('DELETE', `/threads/${id}/runs/${MISSING}`)).status, 404);
    assert.deepEqual(await s.events(), before);
    await s.client.runs.cancel(id, runId, true);
    const { error } = (await s.request('GET', `/threads/${id}`)).json;
    assert.equal(error.error, 'UserInterrupt');
    await s.client.runs.delete(id, runId);
    assert.equal((await s.request('GET', `/threads/${id}/runs/${runId}`)).status, 404);
    assert.deepEqual(textsOf((await s.client.threads.get(id)).values), ['hi', 'echo: hi']);
  }));

test.run();

import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import { marksOf, reached } from '../e2e/marks.ts';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, heldClock, newThread, say, startGated, textsOf } from './scene.ts';
import { openStream } from './stream-reader.ts';

const test = suite('conformance: runs that are stopped');

const STOPS = { config: config('platform.stops.json') };
const GRAPHS = ['heeds', 'heedsBetween'];

/** A run of a graph that waits to be stopped, when it waits. */
async function begun(s: TestServer, graph: string) {
  const threadId = await newThread(s);
  const marks = join(s.dir, `marks-${threadId}`);
  const { json } = await s.request('POST', `/threads/${threadId}/runs`, {
    assistant_id: graph,
    input: say('begin'),
    config: { configurable: { marks } },
  });
  const runId = json.run_id as string;
  return { threadId, marks, runId, path: `/threads/${threadId}/runs/${runId}` };
}

for (const graph of GRAPHS) {
  test(`client.runs.cancel: given ${graph}, when a cancel waits, then graph code was told and has stopped before the answer`, () =>
    withServer(STOPS, async (s) => {
      for (const action of ['interrupt', 'rollback'] as const) {
        const { threadId, runId, marks } = await begun(s, graph);
        await reached(marks, 'begun');
        await s.client.runs.cancel(threadId, runId, true, action);
        assert.deepEqual(marksOf(marks), ['begun', `told ${action}`, 'stopped']);
        const { values, status } = await s.client.threads.get(threadId);
        assert.equal(status, action === 'rollback' ? 'idle' : 'interrupted');
        const kept = action === 'rollback' ? null : graph === 'heeds' ? ['begin'] : ['begin', 'kept'];
        assert.deepEqual(values && textsOf(values), kept);
      }
    }));

  test(`given ${graph}, when another run takes its place, then that begins when graph code has stopped (X1)`, () =>
    withServer(STOPS, async (s) => {
      for (const strategy of ['interrupt', 'rollback'] as const) {
        const { threadId, runId, marks } = await begun(s, graph);
        await reached(marks, 'begun');
        const { run_id: next } = await s.client.runs.create(threadId, graph, {
          input: say('again'),
          config: { configurable: { marks } },
          multitaskStrategy: strategy,
        });
        await reached(marks, 'begun', 2);
        await s.client.runs.cancel(threadId, next, true);
        const once = ['begun', `told ${strategy}`, 'stopped'];
        assert.deepEqual(marksOf(marks), [...once, 'begun', 'told interrupt', 'stopped']);
        const seen = await s.request('GET', `/threads/${threadId}/runs/${runId}`);
        if (strategy === 'rollback') assert.equal(seen.status, 404);
        else
          assert.deepEqual(seen.json.error, {
            error: 'UserInterrupt',
            message: `superseded by run ${next} (multitask_strategy=interrupt)`,
          });
      }
    }));

  test(`given ${graph}, when it takes longer than its own time limit, then it is told, and ends as a time-out (X3)`, () => {
    const timeout = 3_333_000;
    const clock = heldClock(timeout);
    return withServer({ ...STOPS, clock }, async (s) => {
      const threadId = await newThread(s);
      const marks = join(s.dir, 'marks');
      const limited = { configurable: { marks }, timeout };
      const stream = await openStream(`${s.url}/threads/${threadId}/runs/stream`, {
        body: { assistant_id: graph, input: say('again'), config: limited },
      });
      await reached(marks, 'begun');
      clock.end();
      const frames = await stream.rest();
      const problem = { error: 'TimeoutError', message: 'The run exceeded its time limit of 3333 s.' };
      assert.deepEqual(frames.at(-1)!.data, problem);
      assert.deepEqual(marksOf(marks).slice(-3), ['begun', 'told timeout', 'stopped']);
      const location = stream.headers.get('content-location')!;
      const run = (await s.request('GET', location)).json;

      assert.deepEqual([run.status, run.error], ['timeout', problem]);
      assert.deepEqual((await s.request('GET', `${location}/join`)).json, { __error__: problem });
      const thread: any = await s.client.threads.get(threadId);
      assert.deepEqual([thread.status, thread.error], ['error', problem]);
      assert.deepEqual(
        textsOf(await s.client.runs.wait(threadId, 'echo', { input: say('?') })).at(-1),
        'echo: ?',
      );
    });
  });
}

test('X2 a node that goes on after a stop, as the library lets it, changes nothing more of its thread', () =>
  withServer(STOPS, async (s) => {
    const { threadId, runId, marks } = await begun(s, 'heedsNode');
    await reached(marks, 'begun');
    await s.client.runs.cancel(threadId, runId, true, 'interrupt');
    const state = await s.client.threads.getState(threadId);
    assert.deepEqual(textsOf(state.values), ['begin', 'kept']);
    await reached(marks, 'stopped');
    assert.deepEqual(marksOf(marks), ['begun', 'told interrupt', 'stopped']);
    assert.deepEqual(await s.client.threads.getState(threadId), state);
    assert.equal((await s.client.runs.get(threadId, runId)).status, 'interrupted');
  }));

test('given a limit of the server and one of the run, when either is shorter, then that one counts', () =>
  withServer({ ...STOPS, overrides: { runTimeoutMs: 50 } }, async (s) => {
    for (const [timeout, seconds] of [
      [3_600_000, 0.05],
      [20, 0.02],
      [undefined, 0.05],
    ]) {
      const marks = join(s.dir, `marks-${timeout}`);
      const answer = await s.request('POST', '/runs/wait', {
        assistant_id: 'heeds',
        config: { configurable: { marks }, timeout: timeout ?? null },
      });
      assert.match(answer.json.__error__.message, new RegExp(`limit of ${seconds} s\\.$`));
    }
    const { assistant_id: own } = await s.client.assistants.create({
      graphId: 'heeds',
      config: { timeout: 30 } as object,
    });
    const marks = join(s.dir, 'marks');
    const answer = await s.request('POST', '/runs/wait', {
      assistant_id: own,
      config: { configurable: { marks } },
    });
    assert.match(answer.json.__error__.message, /limit of 0\.03 s\.$/);
    for (const timeout of [0, -1, 1.5, '50', true, {}]) {
      const { status, json } = await s.request('POST', '/runs', {
        assistant_id: 'echo',
        config: { timeout: timeout as any },
      });
      assert.equal(status, 422);
      assert.match(json.detail, /^config\.timeout: expected milliseconds/);
    }
  }));

test('given running runs, when the server stops with time for them, then those that end are not handed over', () =>
  withServer({ ...STOPS, overrides: { drainMs: 20_000, shutdownGraceMs: 20_000 } }, async (s) => {
    const threadId = await newThread(s);
    const { runId, open } = await startGated(s, threadId);
    const waiting = s.client.runs.join(threadId, runId);
    const restarting = s.restart();
    // Accepted while it stops, and executed after the next start.
    const late = await s.client.runs.create(threadId, 'echo', { input: say('late') });
    open();
    assert.deepEqual(textsOf(await waiting), ['gated', 'through: gated']);
    await restarting;
    assert.deepEqual(textsOf(await s.client.runs.join(threadId, late.run_id)).slice(-2), [
      'late',
      'echo: late',
    ]);
    const facts = (await s.events()).filter(({ type }) => type === 'RunStarted' || type === 'RunRequeued');
    assert.deepEqual(
      facts.map(({ type, data }) => [type, 'runId' in data && data.runId]),
      [
        ['RunStarted', runId],
        ['RunStarted', late.run_id],
      ],
    );
  }));

test.run();

import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { withTempDir } from '../support/temp-dir.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { MINUTE, slot, START, withClock, make } from './cron-scene.ts';
import { config, newThread, say, startGated, textsOf } from './scene.ts';
import { openEvents } from './thread-stream.ts';

const test = suite('conformance: graphs that are not served');

test('runs of a Python graph answer why they cannot be, and the other graphs are served', () =>
  withTempDir(async (dir) => {
    const config = join(dir, 'langgraph.json');
    writeFileSync(join(dir, 'hello.mjs'), 'export const graph = () => ({ said: "hello" });');
    const graphs = { hello: './hello.mjs:graph', snake: { path: './snake.py:graph', description: 'Later' } };
    writeFileSync(config, JSON.stringify({ graphs }));
    await withServer({ config }, async (s) => {
      assert.deepEqual(s.server.graphIds, ['hello']);
      assert.deepEqual(await s.client.runs.wait(null, 'hello', { input: {} }), { said: 'hello' });
      const detail = 'Graph "snake" is not served: it is Python, which is not supported yet';
      const [assistant] = await s.client.assistants.search({ graphId: 'snake' });
      assert.equal(assistant?.description, 'Later');
      for (const [method, path, body] of [
        ['POST', '/runs/wait', { assistant_id: 'snake', input: {} }],
        ['POST', '/assistants', { graph_id: 'snake' }],
        ['GET', `/assistants/${assistant?.assistant_id}/schemas`, undefined],
      ] as const) {
        const { status, json } = await s.request(method, path, body);
        assert.deepEqual([status, json], [422, { detail }], path);
      }
      const unknown = await s.request('POST', '/assistants', { graph_id: 'nobody' });
      assert.equal(unknown.status, 404);
    });
  }));

const STATES = { config: config('platform.states.json') };

/** Restarts the server without these graphs. */
const without = (s: TestServer, ...gone: string[]): Promise<void> =>
  s.restart({ graphs: s.config.graphs.filter(({ id }) => !gone.includes(id)) });

const bare = ({ tasks: _, next: __, ...state }: any) => state;

for (const graph of ['agent', 'echo', 'review', 'asks', 'twice'])
  test(`a thread of ${graph}, which is gone, is read as it was kept, and run by other graphs`, () =>
    withServer(STATES, async (s) => {
      // given
      const threadId = await newThread(s);
      await s.client.runs.wait(threadId, graph, { input: graph === 'twice' ? {} : say('hi') });
      const path = `/threads/${threadId}` as '/threads/{thread_id}';
      const read = async () => {
        const state = await s.client.threads.getState(threadId);
        const history = await s.client.threads.getHistory(threadId, { limit: 100 });
        const part = await s.request('GET', `${path}/state?select=values&select=checkpoint` as any);
        const at = await s.client.threads.getState(threadId, history.at(-1)!.checkpoint.checkpoint_id!);
        return { thread: await s.client.threads.get(threadId), state, history, at, part: part.json };
      };
      const before = await read();
      // when
      await without(s, graph);
      // then
      const after = await read();
      assert.deepEqual(after.thread, before.thread);
      assert.deepEqual(after.part, before.part);
      for (const name of ['state', 'at'] as const) assert.deepEqual(bare(after[name]), bare(before[name]));
      assert.deepEqual(after.history.map(bare), before.history.map(bare));
      const detail = /^Graph "\w+" not found: .* served are "/;
      for (const body of [{ input: {} }, { command: { resume: 'x' } }, { input: null }]) {
        const { status, json } = await s.request('POST', `/threads/${threadId}/runs`, {
          ...{ assistant_id: graph, ...body, strict_resume: true },
        });
        assert.equal(status, 404);
        assert.match(json.detail, detail);
      }
      const refused = await s.request('POST', `${path}/state`, { values: {} });
      assert.deepEqual([refused.status, refused.json.detail], [404, `Graph "${graph}" not found`]);
      const answer = await s.request('POST', `${path}/commands`, { id: 1, method: 'state.get', params: {} });
      assert.deepEqual(answer.json.result.values, before.state.values);
      // What needs no code goes on.
      const copy = await s.client.threads.copy(threadId);
      const copied = await s.client.threads.getState(copy.thread_id);
      assert.deepEqual(copied.values, before.state.values);
      assert.equal((await s.request('GET', `${path}/export` as any)).status, 200);
      await s.request('POST', '/threads/prune', { thread_ids: [threadId], strategy: 'keep_latest' });
      assert.deepEqual(bare(await s.client.threads.getState(threadId)).values, before.state.values);
      const events = await openEvents(s, threadId, { channels: ['values'] });
      events.leave();
      await s.client.threads.delete(copy.thread_id);
      // Another graph takes the thread over.
      const other = graph === 'echo' ? 'agent' : 'echo';
      if (graph !== 'twice') {
        const values = await s.client.runs.wait(threadId, other, { input: say('go on') });
        assert.ok(textsOf(values).includes('hi') && textsOf(values).includes('go on'));
      }
      // The graph comes back.
      await s.restart();
      const assistants = await s.client.assistants.search({ graphId: graph });
      assert.equal(assistants.length, 1);
    }));

test('X5 a run that waits for a graph which is gone ends with an error that names what is served', () =>
  withServer(STATES, async (s) => {
    const threadId = await newThread(s);
    const { runId, open } = await startGated(s, threadId);
    const queued = await s.client.runs.create(threadId, 'agent', { input: say('later') });
    await without(s, 'agent');
    open();
    await s.client.runs.join(threadId, runId).catch(() => undefined);
    const end: any = await s.client.runs.join(threadId, queued.run_id);
    assert.equal(end.__error__.error, 'GraphNotServed');
    assert.match(end.__error__.message, /^Graph "agent" not found: .* "gate"/);
    assert.equal((await s.client.threads.get(threadId)).status, 'error');
  }));

test('a thread whose graph file does not load any more is read as it was kept', () =>
  withTempDir(async (dir) => {
    const [file, path] = [join(dir, 'hello.mjs'), join(dir, 'langgraph.json')];
    writeFileSync(file, 'export const graph = (state, config) => ({ said: "hello" });');
    writeFileSync(
      join(dir, 'exits.mjs'),
      'export const graph = (state, config) => process.kill(process.pid, "SIGKILL");',
    );
    const graphs = { hello: './hello.mjs:graph', exits: './exits.mjs:graph' };
    writeFileSync(path, JSON.stringify({ graphs }));
    await withServer(
      { config: path, workers: 1, env: { PLATFORM_MAX_ATTEMPTS: '1' }, allowFaults: true },
      async (s) => {
        // given
        const threadId = await newThread(s);
        await s.client.runs.wait(threadId, 'hello', { input: {} });
        const before = await s.client.threads.getState(threadId);
        // when: the next worker finds another file
        writeFileSync(file, 'throw new Error("broken");');
        await s.client.runs.wait(null, 'exits', { input: {}, raiseError: false });
        // then
        assert.deepEqual(await s.client.threads.getState(threadId), before);
        const end: any = await s.client.runs.wait(threadId, 'hello', { input: {}, raiseError: false });
        assert.equal(end.__error__.error, 'GraphNotLoaded');
      },
    );
  }));

test('a cron whose graph is gone says so once in the log, and in its record until it starts a run', () =>
  withClock(async (s, clock) => {
    // given
    const cronId = await make(s, '/runs/crons', { assistant_id: 'agent' });
    await without(s, 'agent');
    const record = async () => (await s.request('GET', `/runs/crons/${cronId}`)).json.refused;
    assert.equal(await record(), undefined);
    // when
    for (const minutes of [1, 2]) {
      clock.leap(MINUTE);
      await slot(s, cronId, minutes);
    }
    // then
    const { slot: at, reason } = await record();
    assert.equal(Date.parse(at), START + 2 * MINUTE);
    assert.match(reason, /^404: Graph "agent" not found: .* served are "echo"/);
    const said = s.entries.filter(({ message }) => message === 'cron refused');
    assert.deepEqual(
      said.map(({ level, members }) => [level, members['cron_id'], members['reason']]),
      [['warn', cronId, reason]],
    );
    // given: the graph is back
    await s.restart();
    clock.leap(MINUTE);
    await slot(s, cronId, 3);
    assert.equal(await record(), undefined);
  }));

test.run();

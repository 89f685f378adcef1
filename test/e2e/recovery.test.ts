import * as assert from 'uvu/assert';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import { startServer } from '../../src/serve.ts';
import { suite } from '../support/suite.ts';
import { assertVerified } from '../support/assert-verified.ts';
import { assertDense, attemptsIn, collect } from './frames.ts';
import { E2E_PROJECT, killedWith } from './killed.ts';
import { marksOf, reached } from './marks.ts';
import type { ServerProgram } from './programs.ts';
import { requestCancel } from './request-cancel.ts';
import { createRun, createThread, framesOf, joinRun } from './runs.ts';

const test = suite('recovery');
const killed = killedWith(test);

const statusOf = async (server: ServerProgram, thread: string): Promise<string> =>
  (await server.ask('GET', `/threads/${thread}`)).json.status;

async function assertIdle(server: ServerProgram, ...threads: string[]): Promise<void> {
  for (const thread of threads) assert.is(await statusOf(server, thread), 'idle');
}

killed(
  'after kill -9 a function and the run queued behind it go on from the last yield as attempt 2 (X5, S1)',
  async (first, dir) => {
    const [marks, gate] = [join(dir, 'marks'), join(dir, 'gate')];
    await writeFile(`${gate}1`, '');
    await writeFile(`${gate}2`, '');
    const thread = await createThread(first);
    const run = await createRun(first, thread, {
      assistant_id: 'steps',
      input: { messages: [{ role: 'user', content: 'begin' }] },
      config: { configurable: { marks, gate, count: 4 } },
      stream_mode: ['values', 'updates', 'custom', 'messages-tuple'],
    });
    const queued = await createRun(first, thread, { assistant_id: 'echo', input: { messages: 'next' } });
    const live = collect(await first.open('GET', `/threads/${thread}/runs/${run}/stream`));
    await reached(marks, 'step 3');

    return {
      async after(second) {
        const { frames: before, broken } = await live;
        assert.ok(broken);
        await writeFile(`${gate}3`, '');
        await writeFile(`${gate}4`, '');
        const values = await joinRun(second, thread, run);
        assert.equal(
          values.messages.map(({ content }: { content: string }) => content),
          ['begin', 'step 1', 'step 2', 'step 3', 'step 4'],
        );
        assert.is(new Set(values.messages.map(({ id }: { id: string }) => id)).size, 5);
        assert.is(values.done, 4);

        const frames = await framesOf(second, thread, run);
        assertDense(frames);
        assert.equal(attemptsIn(frames), [1, 2]);
        assert.equal(frames.slice(0, before.length), before);
        const of = (name: string): unknown[] =>
          frames.filter(({ event }) => event === name).map(({ data }) => JSON.parse(data) as unknown);
        assert.equal(of('custom'), [{ step: 1 }, { step: 2 }, { step: 3 }, { step: 4 }]);
        assert.equal(
          of('updates').map((update) => (update as { steps: { done: number } }).steps.done),
          [1, 2, 3, 4],
        );
        assert.equal(
          of('messages').map((tuple) => (tuple as [{ content: string }])[0].content),
          ['step 1', 'step 2', 'step 3', 'step 4'],
        );
        const after = await joinRun(second, thread, queued);
        assert.is(after.messages.length, 7);
        await assertIdle(second, thread);
      },
    };
  },
);

for (const durability of ['sync', 'async'] as const)
  killed(
    `after kill -9 no node of a graph that finished is executed again (X5, durability ${durability})`,
    async (first, dir) => {
      const [marks, gate] = [join(dir, 'marks'), join(dir, 'gate-')];
      for (const node of ['one', 'two']) await writeFile(`${gate}${node}`, '');
      const thread = await createThread(first);
      const run = await createRun(first, thread, {
        assistant_id: 'chain',
        input: {},
        config: { configurable: { marks, gate } },
        stream_mode: ['updates'],
        durability,
      });
      await reached(marks, 'three');
      // Saved beside the next node rather than before it: asked until it is there.
      if (durability === 'async')
        while ((await first.ask('GET', `/threads/${thread}/state`)).json.next[0] !== 'three');

      return {
        async after(second) {
          for (const node of ['three', 'four', 'five']) await writeFile(`${gate}${node}`, '');
          const nodes = ['one', 'two', 'three', 'four', 'five'];
          assert.equal((await joinRun(second, thread, run)).visited, nodes);
          assert.equal(marksOf(marks), ['one', 'two', 'three', 'three', 'four', 'five']);
          const frames = await framesOf(second, thread, run);
          assertDense(frames);
          assert.equal(attemptsIn(frames), [1, 2]);
          assert.equal(
            frames
              .filter(({ event }) => event === 'updates')
              .map(({ data }) => Object.keys(JSON.parse(data))[0]),
            nodes,
          );
          await assertIdle(second, thread);
        },
      };
    },
  );

for (const action of ['interrupt', 'rollback'] as const)
  killed(
    `a run whose ${action} was acknowledged right before kill -9 ends that way and is not resumed (X3, X5)`,
    async (first, dir) => {
      const [marks, gate] = [join(dir, 'marks'), join(dir, 'gate')];
      await writeFile(`${gate}1`, '');
      const thread = await createThread(first);
      const base = { assistant_id: 'echo', input: { messages: 'before' } };
      await joinRun(first, thread, await createRun(first, thread, base));
      const run = await createRun(first, thread, {
        assistant_id: 'steps',
        durability: 'sync',
        config: { configurable: { marks, gate } },
      });
      await reached(marks, 'step 2');

      return {
        between: (data) => requestCancel(data, thread, run, action),
        async after(second) {
          await joinRun(second, thread, run);
          assert.is(await statusOf(second, thread), action === 'rollback' ? 'idle' : 'interrupted');
          const { status, json } = await second.ask('GET', `/threads/${thread}/runs/${run}`);
          const { values } = (await second.ask('GET', `/threads/${thread}`)).json;
          assert.equal(
            [status, json.status, values.messages.length],
            action === 'interrupt' ? [200, 'interrupted', 3] : [404, undefined, 2],
          );
          assert.equal(marksOf(marks), ['step 1', 'step 2']);
        },
      };
    },
  );

for (const graph of ['answers', 'answersNode', 'answersAround'])
  killed(
    `a run of ${graph} that was resumed with an answer keeps the answer through kill -9 (X5)`,
    async (first, dir) => {
      const [marks, gate] = [join(dir, 'marks'), join(dir, 'gate')];
      const order = { assistant_id: graph, durability: 'sync', config: { configurable: { marks, gate } } };
      const thread = await createThread(first);
      const asked = await joinRun(first, thread, await createRun(first, thread, { ...order, input: {} }));
      assert.equal(asked.__interrupt__[0].value, { question: 'go on?' });
      assert.is((await first.ask('GET', `/threads/${thread}`)).json.status, 'interrupted');
      const resumed = await createRun(first, thread, { ...order, command: { resume: 'yes' } });
      await reached(marks, 'answered yes');

      return {
        async after(second) {
          await reached(marks, 'answered yes', 2);
          await writeFile(gate, '');
          const values = await joinRun(second, thread, resumed);
          assert.equal(
            values,
            graph === 'answers' ? { answer: 'yes', times: 1 } : { log: ['before', 'yes', 'after'] },
          );
          assert.equal(attemptsIn(await framesOf(second, thread, resumed)), [1, 2]);
          await assertIdle(second, thread);
        },
      };
    },
  );

// The copy holds the runs of all others, and goes on with them too.
killed(
  'a plain copy of the files of a server that stands still verifies, and a server on it goes on with the run (L1, X5)',
  async (first, dir) => {
    const [marks, gate, copy] = [join(dir, 'marks'), join(dir, 'gate'), join(dir, 'copy')];
    const config = { configurable: { marks, gate } };
    const thread = await createThread(first);
    const run = await createRun(first, thread, { assistant_id: 'listens', config });
    await reached(marks, 'waits');
    process.kill(first.pid, 'SIGSTOP');
    await cp(join(dir, '../data'), copy, { recursive: true });
    process.kill(first.pid, 'SIGCONT');

    return {
      async after() {
        await assertVerified(copy);
        await writeFile(gate, '');
        const options = { config: E2E_PROJECT, port: '0', data: copy };
        const copied = await startServer(loadConfig(options, { PLATFORM_WORKERS: '0' }, dir), {
          onFault: (error) => assert.unreachable(String(error)),
          onPoisoned: (cause) => assert.unreachable(cause),
        });
        try {
          const path = `${copied.url}/threads/${thread}/runs/${run}`;
          assert.equal(await (await fetch(`${path}/join`)).json(), { done: ['first', 'second'] });
          assert.equal(attemptsIn((await collect(await fetch(`${path}/stream`))).frames), [1, 2]);
        } finally {
          await copied.stop();
        }
        await assertVerified(copy);
      },
    };
  },
);

test.run();

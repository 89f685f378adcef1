/** Servers on one database. One is killed in mid-run, and another one goes on; test/long/nodes.test.ts has all that may happen. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import { withPostgres } from '../support/postgres.ts';
import { scaled } from '../support/scaled.ts';
import { shared } from '../support/shared-server.ts';
import { suite } from '../support/suite.ts';
import { assertDense, attemptsIn, collect } from './frames.ts';
import { E2E_PROJECT } from './killed.ts';
import { reached } from './marks.ts';
import { withPrograms, type ServerProgram } from './programs.ts';
import { createRun, createThread, framesOf, joinRun } from './runs.ts';

const test = suite('several servers on one database');
const database = shared(test, withPostgres);
const clock = systemClock();
const LIMIT_MS = 180_000;

interface Scene {
  readonly servers: readonly ServerProgram[];
  readonly dir: string;
}

/** Lends two servers. */
const withServers = (use: (scene: Scene) => Promise<void>): Promise<void> =>
  withPrograms(async ({ dir, serve }) => {
    const start = (data: string): Promise<ServerProgram> =>
      serve({
        args: ['--config', E2E_PROJECT, '--data', join(dir, data)],
        env: { PLATFORM_DATABASE_URL: `${database()}?pool=6` },
      });
    await use({ servers: await Promise.all(['node1', 'node2'].map(start)), dir });
  });

interface Begun {
  readonly thread: string;
  readonly run: string;
  readonly live: ReturnType<typeof collect>;
  readonly marks: string;
  /** Lets it go on to its end. */
  open(): Promise<void>;
}

/** A run that the server executes, and that stands behind its second step. Another server may take one: then the next is tried. */
async function begin(server: ServerProgram, dir: string, tries = 0): Promise<Begun> {
  const [marks, gate] = [join(dir, `marks${tries}`), join(dir, `gate${tries}.`)];
  for (const step of [1, 2]) await writeFile(`${gate}${step}`, '');
  const thread = await createThread(server);
  const run = await createRun(server, thread, {
    assistant_id: 'steps',
    input: { messages: [{ role: 'user', content: 'begin' }] },
    config: { configurable: { marks, gate, count: 4 } },
    stream_mode: ['values', 'updates'],
  });
  const live = collect(await server.open('GET', `/threads/${thread}/runs/${run}/stream`));
  await reached(marks, 'step 3');
  const open = async (): Promise<void> => {
    for (const step of [3, 4]) await writeFile(`${gate}${step}`, '');
  };
  const { workers } = (await server.ask('GET', '/server')).json as { workers: { run_ids: string[] }[] };
  if (workers.some(({ run_ids: runs }) => runs.includes(run))) return { thread, run, live, marks, open };
  await open();
  await joinRun(server, thread, run);
  return begin(server, dir, tries + 1);
}

test(
  'X1 X5 S1 S2 a server is killed in mid-run: another one goes on within 20 s, with the stream of the first',
  () =>
    withServers(async ({ servers: [a, b], dir }) => {
      const nodes = async (): Promise<{ self: boolean }[]> => (await b!.ask('GET', '/server')).json.nodes;
      assert.deepEqual((await nodes()).map(({ self }) => self).sort(), [false, true]);
      const { thread, run, live, marks, open } = await begin(a!, dir);
      const elsewhere = collect(await b!.open('GET', `/threads/${thread}/runs/${run}/stream`));
      const killedAt = clock.monotonic();
      await a!.end('SIGKILL');
      await reached(marks, 'step 3', 2);
      const ms = clock.monotonic() - killedAt;
      assert.equal((await nodes()).length, 1);
      await open();
      const values = await joinRun(b!, thread, run);
      assert.equal(values.messages.length, 5);
      const frames = await framesOf(b!, thread, run);
      assertDense(frames);
      assert.deepEqual(attemptsIn(frames), [1, 2]);
      const { frames: before } = await live;
      assert.deepEqual(frames.slice(0, before.length), before);
      assert.deepEqual((await elsewhere).frames, frames);
      assert.ok(ms < scaled(40_000), `another server goes on after ${ms} ms`);
    }),
  LIMIT_MS,
);

test.run();

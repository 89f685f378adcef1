/**
 * Deaths of the real server, by SIGKILL from outside and by a run. `ATTRIBUTION_KILLS` (6) and `ATTRIBUTION_RUNS` (40)
 * choose how often it is killed, and beside how many runs.
 */
import * as assert from 'uvu/assert';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { assertDense, attemptsIn } from '../e2e/frames.ts';
import { marksOf, reached } from '../e2e/marks.ts';
import { asServer, withPrograms, type Programs, type ServerProgram } from '../e2e/programs.ts';
import { createRun, createThread, framesOf, joinRun } from '../e2e/runs.ts';
import { createRandom, seedFromEnv } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';
import { assertVerified } from '../support/with-server.ts';

const KILLS = Number(process.env['ATTRIBUTION_KILLS'] ?? 6);
const RUNS = Number(process.env['ATTRIBUTION_RUNS'] ?? 40);

const test = suite('faults: attribution', { timeoutMs: 120_000 + 10_000 * KILLS + 4_000 * RUNS });

const CONFIG = fileURLToPath(new URL('./attribution/platform.json', import.meta.url));
const launchOf = (env: Record<string, string> = {}) => ({
  args: ['--config', CONFIG],
  env: { PLATFORM_CONCURRENCY: String(RUNS + 10), ...env },
});

interface Started {
  readonly thread: string;
  readonly run: string;
}

async function begin(server: ServerProgram, graph: string, configurable: object): Promise<Started> {
  const thread = await createThread(server);
  const order = { assistant_id: graph, input: {}, config: { configurable } };
  return { thread, run: await createRun(server, thread, order) };
}

/** How many of the runs did not succeed, once all have ended. */
async function failuresOf(server: ServerProgram, runs: readonly Started[]): Promise<unknown[]> {
  const ends = runs.map(async ({ thread, run }) => {
    const values = await joinRun(server, thread, run);
    const { status } = (await server.ask('GET', `/threads/${thread}/runs/${run}`)).json;
    return status === 'success' ? [] : [{ run, status, values }];
  });
  return (await Promise.all(ends)).flat();
}

/** The log is verified when it has stopped. */
async function stop({ dir }: Programs, server: ServerProgram): Promise<void> {
  assert.is(await server.end('SIGTERM'), 0, server.output());
  await assertVerified(join(dir, 'data'));
}

test('a death of the server with one suspect is charged to it, and no other run pays (X6, X5, X3)', () =>
  withWebhookSink((sink) =>
    withPrograms(async (programs) => {
      const launch = launchOf({ PLATFORM_MAX_ATTEMPTS: '1' });
      const [marks, gate] = [join(programs.dir, 'marks'), join(programs.dir, 'gate')];
      const config = { configurable: { marks, gate } };
      let server = await programs.serve(launch);
      const [thread, alone] = [await createThread(server), await createThread(server)];
      const order = { assistant_id: 'gate', config };
      const run = await createRun(server, thread, { ...order, webhook: sink.url('/failed') });
      const queued = await createRun(server, thread, {
        assistant_id: 'echo',
        input: { messages: 'queued' },
      });
      const other = await createRun(server, alone, order);
      // Both begin in the first two lives, then the older one alone, then the other.
      for (const started of [2, 4, 5]) {
        await reached(marks, 'started', started);
        await server.end('SIGKILL');
        server = await programs.serve(launch);
      }
      const message =
        `Run ${run} was charged with 1 of 1 allowed deaths of its process (PLATFORM_MAX_ATTEMPTS): ` +
        'the server process ended while it executed';
      const error = { error: 'AttemptsExceeded', message };
      assert.equal(await joinRun(server, thread, run), { __error__: error });
      assert.is((await server.ask('GET', `/threads/${thread}/runs/${run}`)).json.status, 'error');
      const frames = await framesOf(server, thread, run);
      assertDense(frames);
      assert.equal(attemptsIn(frames), [1, 2, 3]);
      assert.equal(frames.at(-1), { id: frames.length - 1, event: 'error', data: JSON.stringify(error) });
      assert.is((await joinRun(server, thread, queued)).messages.at(-1).content, 'echo: queued');
      const told = JSON.parse((await sink.next(1))[0]!.body.toString());
      assert.equal([told.run_id, told.status, told.error], [run, 'error', error]);

      await reached(marks, 'started', 6);
      await writeFile(gate, '');
      assert.equal(await failuresOf(server, [{ thread: alone, run: other }]), []);
      assert.is(marksOf(marks).filter((mark) => mark === 'started').length, 6);
      await stop(programs, server);
    }),
  ));

test(`${KILLS} kills of the server over ${RUNS} runs that did nothing wrong fail none of them (X6, X5)`, () =>
  withPrograms(async (programs) => {
    const random = createRandom(seedFromEnv());
    const launch = launchOf();
    let server = await programs.serve(launch);
    const runs: Started[] = [];
    for (let number = 0; number < RUNS; number++) {
      const pace = number % 4 === 0 ? { steps: 4, stepMs: 300 } : { steps: 15, stepMs: 60 };
      runs.push(await begin(server, 'works', pace));
    }
    for (let kill = 0; kill < KILLS; kill++) {
      await later(random.int(80, 480));
      await server.end('SIGKILL');
      server = await programs.serve(launch);
    }
    assert.equal(await failuresOf(server, runs), []);
    await stop(programs, server);
  }));

test('a run that kills the server every time ends after seven deaths, and the runs beside it succeed (X6)', () =>
  withPrograms(async (programs) => {
    const first = await programs.serve(launchOf());
    const innocent: Started[] = [];
    for (let number = 0; number < 20; number++)
      innocent.push(await begin(first, 'works', { steps: 20, stepMs: 100 }));
    const poison = await begin(first, 'kills', { data: join(programs.dir, 'data') });
    await first.exited;

    let deaths = 1;
    let server: ServerProgram | undefined;
    for (; server === undefined; deaths += server === undefined ? 1 : 0) {
      // It may die before it has said where it serves, or before it has answered.
      const next = await asServer(programs.launchServer(launchOf())).catch(() => undefined);
      const end = await next
        ?.ask('GET', `/threads/${poison.thread}/runs/${poison.run}/join`)
        .catch(() => undefined);
      if (end !== undefined) server = next;
    }
    assert.is(deaths, 7);
    const { __error__: error } = await joinRun(server, poison.thread, poison.run);
    assert.is(error.error, 'AttemptsExceeded');
    assert.match(error.message, /charged with 5 of 5 allowed deaths/);
    assert.equal(await failuresOf(server, innocent), []);
    await stop(programs, server);
  }));

test.run();

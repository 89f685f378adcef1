/**
 * Deaths of the real server by SIGKILL. `ATTRIBUTION_KILLS` (6) and `ATTRIBUTION_RUNS` (40)
 * choose how often it is killed, and beside how many runs.
 */
import * as assert from 'uvu/assert';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { reached } from '../e2e/marks.ts';
import { withPrograms, type Programs, type ServerProgram } from '../e2e/programs.ts';
import { createRun, createThread, joinRun } from '../e2e/runs.ts';
import { createRandom, seedFromEnv } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { assertVerified } from '../support/assert-verified.ts';

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

test(`after deaths of the server in which no run saves a step, all ${RUNS} go on at once (X5, X6)`, () =>
  withPrograms(async (programs) => {
    const [marks, gate] = [join(programs.dir, 'marks'), join(programs.dir, 'gate')];
    let server = await programs.serve(launchOf());
    const runs: Started[] = [];
    for (let number = 0; number < RUNS; number++) runs.push(await begin(server, 'gate', { marks, gate }));
    for (let life = 1; life <= 4; life++) {
      // None has ended, so that all execute now.
      await reached(marks, 'started', life * RUNS);
      await server.end('SIGKILL');
      server = await programs.serve(launchOf());
    }
    await writeFile(gate, '');
    assert.equal(await failuresOf(server, runs), []);
    await stop(programs, server);
  }));

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

test.run();

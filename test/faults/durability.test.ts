/** Steps that are done again after a kill of the real server. `DURABILITY_KILLS` (4) says how often it is killed. */
import * as assert from 'uvu/assert';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { marksOf } from '../e2e/marks.ts';
import { withPrograms } from '../e2e/programs.ts';
import { createRun, createThread, joinRun } from '../e2e/runs.ts';
import { createRandom, seedFromEnv } from '../support/random.ts';
import { scaled } from '../support/scaled.ts';
import { suite } from '../support/suite.ts';
import { assertVerified } from '../support/assert-verified.ts';

const KILLS = Number(process.env['DURABILITY_KILLS'] ?? 4);
/** One in 20; a busy machine needs 20 ms for a commit now and then, so a few kills show only that it is not the rule. */
const MAX_REPEATED = KILLS < 20 ? KILLS - 1 : Math.floor(KILLS / 20);
/** From the begin of the next step to the death of the server. */
const KILL_MS = scaled(20);

const test = suite('faults: durability', { timeoutMs: 60_000 + 10_000 * KILLS });

const CONFIG = fileURLToPath(new URL('./durability/platform.json', import.meta.url));

test(`of ${KILLS} steps ended ${KILL_MS} ms before a kill at most ${MAX_REPEATED} are repeated (X5)`, () =>
  withPrograms(async ({ dir, serve }) => {
    const random = createRandom(seedFromEnv());
    const marks = join(dir, 'marks');
    const launch = { args: ['--config', CONFIG] };
    let server = await serve(launch);
    let repeated = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      // Given a run whose steps are saved as the next ones run, when the server dies early in the last one
      const name = `run-${kill}`;
      const steps = random.int(2, 6);
      const configurable = { marks, name, stepMs: random.int(0, 40), killMs: KILL_MS };
      const thread = await createThread(server);
      const order = {
        assistant_id: 'steps',
        input: { steps },
        durability: 'async',
        config: { configurable },
      };
      const run = await createRun(server, thread, order);
      assert.is(await server.exited, null);
      server = await serve(launch);
      // Then the run goes on, with the step that was under way
      assert.equal(await joinRun(server, thread, run), { done: steps, steps });
      const times = (step: number) => marksOf(marks).filter((mark) => mark === `${name} ${step}`).length;
      assert.is(times(steps), 2);
      if (times(steps - 1) > 1) repeated += 1;
    }
    console.log(`${repeated} of ${KILLS} ended steps were done again`);
    assert.ok(repeated <= MAX_REPEATED, `${repeated} of ${KILLS}`);
    assert.is(await server.end('SIGTERM'), 0, server.output());
    await assertVerified(join(dir, 'data'));
  }));

test.run();

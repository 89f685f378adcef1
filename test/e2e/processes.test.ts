/** The processes that the program has when it has little to do. */
import * as assert from 'uvu/assert';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { childrenOf, figuresLacking } from '../support/process-figures.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';
import { withPrograms } from './programs.ts';

const test = suite('e2e: processes');
const lacking = { lacking: figuresLacking() };

const BUILD = new URL('../../scripts/build.mjs', import.meta.url).href;
const CONFIG = fileURLToPath(new URL('../fixtures/misbehaving/platform.json', import.meta.url));

test(
  'a server that has answered a few requests has one process beside it, its graph worker (X4)',
  () =>
    withPrograms(async ({ serve }) => {
      // Given a server that may start more workers
      const server = await serve({ args: ['--config', CONFIG], env: { PLATFORM_WORKERS: '4' } });
      // When it executes some runs, one after the other, and answers questions
      for (let run = 0; run < 3; run++) {
        const { thread_id: thread } = (await server.ask('POST', '/threads', {})).json;
        const order = { assistant_id: 'fine', input: {} };
        assert.is((await server.ask('POST', `/threads/${thread}/runs/wait`, order)).status, 200);
        assert.is((await server.ask('GET', `/threads/${thread}/state`)).status, 200);
      }
      // Then there is one worker
      const commands = childrenOf(server.pid).map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
      assert.is(commands.length, 1, commands.join('\n'));
      assert.match(commands[0]!, /worker\/entry/);
    }),
  lacking,
);

test(
  'the compiler that builds the program ends with the build',
  () =>
    withPrograms(async ({ launch, dir }) => {
      const script = join(dir, 'build.mjs');
      writeFileSync(
        script,
        `import { buildInto } from ${JSON.stringify(BUILD)};
await buildInto(${JSON.stringify(join(dir, 'built'))});
console.log('built');
setInterval(() => undefined, 60_000);`,
      );
      const program = launch({ script });
      await program.printed(/built/);
      await until('the compiler is gone', async () => childrenOf(program.pid).length === 0);
    }),
  lacking,
);

test.run();

/** The real program while no graph worker can be started, and after. */
import * as assert from 'uvu/assert';
import { copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withPrograms } from '../e2e/programs.ts';
import { scaled } from '../support/scaled.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';
import { assertVerified } from '../support/assert-verified.ts';

const test = suite('no graph workers');

const CONFIG = fileURLToPath(new URL('../fixtures/misbehaving/platform.json', import.meta.url));

/** Ways in which the executable of Node.js is gone. The system's answer to the second one is thrown, not emitted. */
const LOSSES = {
  ENOENT: (folder: string) => renameSync(folder, `${folder}-away`),
  ENOTDIR(folder: string) {
    renameSync(folder, `${folder}-away`);
    writeFileSync(folder, '');
  },
};

for (const [code, lose] of Object.entries(LOSSES))
  test(`while no worker can be started (${code}) questions get 503 and runs wait (X3, X4, X6)`, () =>
    withPrograms(async ({ serve, dir }) => {
      // Given a server on an executable of its own, two runs, of which one is a suspect, and a worker
      const folder = join(dir, 'bin');
      mkdirSync(folder);
      copyFileSync(process.execPath, join(folder, 'node'));
      const server = await serve({
        args: ['--config', CONFIG],
        before: `shift; set -- '${join(folder, 'node')}' "$@"`,
      });
      const begin = async (graph: string) => {
        const thread = (await server.ask('POST', '/threads', {})).json.thread_id as string;
        const order = {
          assistant_id: graph,
          input: {},
          config: { configurable: { gate: join(dir, 'gate') } },
        };
        const { run_id } = (await server.ask('POST', `/threads/${thread}/runs`, order)).json;
        return { thread: `/threads/${thread}`, run: `/threads/${thread}/runs/${run_id}` };
      };
      const held = await begin('countsAttempts');
      const valuesOf = async () => (await server.ask('GET', held.thread)).json.values ?? {};
      await until('the graph begins', async () => (await valuesOf()).begun === true);

      // When the executable is gone and the worker ends
      lose(folder);
      process.kill((await valuesOf()).pid, 'SIGKILL');
      await server.printed(new RegExp(`${code}.*could not be started.*runs wait|runs wait[^]*${code}`));

      // Then questions are refused at once, and runs wait without a charge
      const later = await begin('fine');
      const asked = performance.now();
      const { status, headers } = await server.ask('GET', `${held.thread}/state`);
      assert.equal([status, headers.get('retry-after')], [503, '1']);
      assert.ok(performance.now() - asked < scaled(5_000), `answered after ${performance.now() - asked} ms`);
      assert.is((await server.ask('GET', later.run)).json.status, 'running');

      // When the executable is back, then both runs end, and the question is answered
      rmSync(folder, { force: true });
      renameSync(`${folder}-away`, folder);
      assert.equal((await server.ask('GET', `${later.run}/join`)).json, { fine: true });
      const { lastAttempt } = (await server.ask('GET', `${held.run}/join`)).json;
      assert.is(lastAttempt, 2);
      assert.is((await server.ask('GET', `${held.thread}/state`)).status, 200);
      assert.is(await server.end('SIGTERM'), 0, server.output());
      await assertVerified(join(dir, 'data'));
    }));

test.run();

/** Workers that end, and where their runs go on. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite } from '../../support/suite.ts';
import { until } from '../../support/until.ts';
import { withProject } from '../graphs/project-harness.ts';
import { preparePoolRun, withPool } from './pool-harness.ts';

const test = suite('workers/worker-ends');

const OTHER_THREAD = '01970000-0000-7000-8000-000000000001';

const BREAKS_CHANNEL = `import { appendFileSync, closeSync, existsSync, writeSync } from 'node:fs';
export async function halves({ file }) {
  // The first bytes of a message of 256 bytes, in the file descriptor that the worker speaks through.
  writeSync(3, Buffer.from([0, 0, 1, 0]));
  appendFileSync(file + '-broken', '');
  await new Promise(() => {});
}
export async function closes({ file }) {
  closeSync(3);
  appendFileSync(file + '-broken', '');
  await new Promise(() => {});
}
export const counts = ({ file }) => appendFileSync(file, 'x');`;

for (const breaks of ['halves', 'closes'])
  test(`X3 X4 a worker whose channel breaks (${breaks}) is ended, and what it has not begun goes elsewhere`, () => {
    const faults: string[] = [];
    const onFault = (error: unknown): void => void faults.push(String(error));
    return withProject({ 'graph.mjs': BREAKS_CHANNEL }, (dir) =>
      withPool(dir, { onFault, graphs: { agent: breaks, counts: 'counts' } }, async (pool) => {
        const file = join(dir, 'counted');
        const run = preparePoolRun(pool, { file }).start();
        await until('the channel is broken', async () => existsSync(`${file}-broken`));
        const other = { threadId: OTHER_THREAD, graphId: 'counts' };
        assert.equal((await preparePoolRun(pool, { file }, other).start()).kind, 'success');
        const how = await run;
        assert.deepEqual(how.kind === 'lost' && [how.error, how.charged], ['WorkerProtocol', true]);
        assert.equal(readFileSync(file, 'utf8'), 'x');
        assert.match(faults.join(), /^GraphsUnavailable: The channel of the graph worker is closed or holds/);
      }),
    );
  });

const MANY_SUSPECTS = `import { appendFileSync, existsSync } from 'node:fs';
const turn = () => new Promise((resolve) => setTimeout(resolve, 5));
export async function* works({ gate, log }) {
  appendFileSync(log, 'begin ' + process.pid + '\\n');
  while (!existsSync(gate)) await turn();
  await turn();
  appendFileSync(log, 'end ' + process.pid + '\\n');
}`;

test('X6 suspects take turns, each alone, in as many workers as there may be, which are used again', () =>
  withProject({ 'graph.mjs': MANY_SUSPECTS }, (dir) =>
    withPool(dir, { workers: 2, graphs: { agent: 'works' } }, async (pool) => {
      // Given six runs that begin in one worker and save nothing there, which is killed
      const [gate, log] = [join(dir, 'gate'), join(dir, 'log')];
      const runs = Array.from({ length: 6 }, (_, index) =>
        preparePoolRun(pool, { gate, log }, { threadId: `01970000-0000-7000-8000-00000000001${index}` }),
      );
      const lines = () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : []);
      // The first attempts save their input.
      for (const resume of [false, true]) {
        const started = runs.map(({ start }) => start(undefined, resume));
        const hasSaved = runs.map(
          ({ checkpoints: { saved } }) =>
            () =>
              saved.length > 0,
        );
        await until('all six have begun', async () => lines().length === 6 && hasSaved.every((has) => has()));
        process.kill(Number(lines()[0]!.slice('begin '.length)), 'SIGKILL');
        for (const how of await Promise.all(started)) assert.equal(how.kind === 'lost' && how.charged, false);
        await writeFile(log, '');
      }
      // When they go on
      await writeFile(gate, '');
      const ends = await Promise.all(runs.map(({ start }) => start(undefined, true)));
      // Then all end, never two at once in a process, in two processes
      assert.deepEqual(new Set(ends.map(({ kind }) => kind)), new Set(['success']));
      const busy = new Set<string>();
      for (const line of lines()) {
        const [what, pid] = line.split(' ') as [string, string];
        assert.equal(busy.has(pid), what === 'end', lines().join(', '));
        if (what === 'begin') busy.add(pid);
        else busy.delete(pid);
      }
      const processes = new Set(lines().map((line) => line.split(' ')[1]));
      assert.ok(processes.size <= 2, lines().join(', '));
    }),
  ));

test.run();

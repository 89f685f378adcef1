import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../../src/kernel/clock.ts';
import { GraphLoading } from '../../../src/graphs/port.ts';
import { until } from '../../support/until.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';
import { preparePoolRun, withPool } from './pool-harness.ts';
import { withProject } from '../graphs/project-harness.ts';

const test = suite('workers/pool, questions about types');

test('a question waits for a source that is being read, however long that takes (X4)', () =>
  withProject({ 'graph.mjs': 'export const hello = () => ({});' }, async (dir) => {
    const manual = createManualClock();
    const real = systemClock();
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const options = {
      graphs: { agent: 'hello' },
      // Looks at the worker come in real time; the limit of an answer is the test's to pass.
      patience: { after: (ms: number, fn: () => void) => (ms < 1_000 ? real : manual).after(ms, fn) },
      async readSource() {
        begin();
        await finished;
        return { kind: 'function' as const, schemas: { input: { title: 'read' } }, subgraphs: {} };
      },
    };
    await withPool(dir, options, async (pool) => {
      const schemas = pool.describer.schemas({ graphId: 'agent', configurable: {} });
      schemas.catch(() => undefined);
      await begun;
      await manual.advance(100_000);
      finish();
      assert.deepEqual((await schemas).input, { title: 'read' });
    });
  }));

const SLOW = `import { existsSync, writeFileSync } from 'node:fs';
const folder = import.meta.dirname;
const wait = () => new Promise((resolve) => setTimeout(resolve, 10));
if (existsSync(folder + '/first')) {
  writeFileSync(folder + '/again', '');
  while (!existsSync(folder + '/gate')) await wait();
}
writeFileSync(folder + '/first', '');
export const ends = () => process.kill(process.pid, 'SIGKILL');`;

test('a question about a graph that a new worker is still loading says so', () =>
  withProject({ 'graph.mjs': SLOW }, async (dir) => {
    const manual = createManualClock();
    const real = systemClock();
    const patience = {
      after: (ms: number, fn: () => void) => (ms < 1_000 ? real : manual).after(ms, fn),
    };
    await withPool(dir, { graphs: { agent: 'ends' }, patience }, async (pool) => {
      // Given: the worker died, and the next one loads the graph for a question
      await preparePoolRun(pool, {}).start();
      const asked = pool.describer.schemas({ graphId: 'agent', configurable: {} });
      asked.catch(() => undefined);
      await until('the graph loads again', async () => existsSync(join(dir, 'again')));
      // When
      await manual.advance(100_000);
      // Then
      await assert.rejects(
        asked,
        (error) => error instanceof GraphLoading && /"agent" is still loading$/.test(error.message),
      );
      await writeFile(join(dir, 'gate'), '');
    });
  }));

test.run();

import assert from 'node:assert/strict';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';
import { withPool } from './pool-harness.ts';
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

test.run();

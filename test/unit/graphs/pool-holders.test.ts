/** Runs that keep a worker to themselves, and those beside them. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite } from '../../support/suite.ts';
import { until } from '../../support/until.ts';
import { preparePoolRun, withPool } from './pool-harness.ts';
import { withProject } from './project-harness.ts';

const test = suite('graphs/pool/holders');

const WORK = `import { existsSync, writeFileSync } from 'node:fs';
export async function* waits({ gate }) {
  yield { begun: true };
  while (!existsSync(gate)) await new Promise((resolve) => setTimeout(resolve, 5));
}
export async function* holds({ gate }) {
  yield { begun: true };
  writeFileSync(gate + '-held', '');
  while (!existsSync(gate));
}`;

test('X4 given a run that keeps its worker to itself, when another one of it has to stop, then that one alone is stopped, and the first goes on apart, where it is in the way of nobody', () =>
  withProject({ 'graph.mjs': WORK }, (dir) =>
    withPool(dir, { graphs: { waits: 'waits', holds: 'holds' } }, async (pool) => {
      const [waitGate, holdGate] = [join(dir, 'wait'), join(dir, 'hold')];
      const prepare = (graphId: string, gate: string, thread: number) =>
        preparePoolRun(pool, { gate }, { graphId, threadId: `01970000-0000-7000-8000-00000000000${thread}` });
      const stopped = prepare('waits', waitGate, 1);
      const waiting = prepare('waits', waitGate, 2);
      const holding = prepare('holds', holdGate, 3);

      const stop = new AbortController();
      const first = [stopped.start(stop.signal), waiting.start()];
      await Promise.all([stopped.begun, waiting.begun]);
      first.push(holding.start());
      await until('it is held', async () => existsSync(`${holdGate}-held`));
      stop.abort('interrupt');
      const charges = (await Promise.all(first)).map((how) => how.kind === 'lost' && how.charged);
      assert.deepEqual(charges, [false, false, false]);

      const again = holding.start();
      await writeFile(waitGate, '');
      assert.equal((await waiting.start()).kind, 'success');
      assert.equal((await stopped.start()).kind, 'success');
      await writeFile(holdGate, '');
      assert.equal((await again).kind, 'success');
    }),
  ));

test.run();

/** Graphs whose file does not load again, beside others. */
import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openGraphPool, type GraphPool } from '../../../src/graphs/pool/pool.ts';
import { suite } from '../../support/suite.ts';
import { preparePoolRun } from './pool-harness.ts';
import { withProject } from './project-harness.ts';

const test = suite('graphs/pool/slots');

const OTHERS = `import { existsSync } from 'node:fs';
export async function* waits({ gate }) {
  yield { begun: true };
  while (!existsSync(gate)) await new Promise((resolve) => setTimeout(resolve, 5));
}
export const exits = () => process.reallyExit(3);
export const fine = () => ({ fine: true });`;
/** It loads as long as nothing is in its way. */
const lateIf = (what: string): string => `import { existsSync, mkdirSync } from 'node:fs';
const way = import.meta.dirname + '/way';
${what}
export const late = () => ({ late: true });`;
const THROWS = lateIf(`if (existsSync(way)) throw new Error('something is in the way');`);
const HANGS = lateIf(`if (existsSync(way)) await new Promise(() => undefined);`);
const SPINS = lateIf(`while (existsSync(way));`);
const ENDS = lateIf(`if (existsSync(way)) process.reallyExit(4);`);
const TAKES = lateIf(`mkdirSync(way);`);

const GRAPHS = { waits: 'others.mjs', exits: 'others.mjs', fine: 'others.mjs', late: 'late.mjs' };

const withFiles = (
  late: string,
  workers: number,
  use: (pool: GraphPool, dir: string, faults: string[]) => Promise<void>,
): Promise<void> =>
  withProject({ 'others.mjs': OTHERS, 'late.mjs': late }, async (dir) => {
    const faults: string[] = [];
    const pool = await openGraphPool({
      ...{ workers, heapMb: 256, fetch, onHeld: () => undefined, readSource: async () => undefined },
      onFault: (error) => void faults.push(String(error)),
      graphs: Object.entries(GRAPHS).map(([id, file]) => ({ id, exportName: id, file: join(dir, file) })),
      laterLimit: () => 4_000,
    });
    try {
      await use(pool, dir, faults);
    } finally {
      await pool.close();
    }
  });

const startRun = (pool: GraphPool, graphId: keyof typeof GRAPHS, threadId?: string) =>
  preparePoolRun(pool, {}, { graphId, ...(threadId !== undefined && { threadId }) }).start();

for (const [way, file, word] of [
  ['throws', THROWS, /"late" \(the file throws on import: Error: \S+:\d+:\d+: something is in the way\)/],
  ['waits for ever', HANGS, /"late" \(the file has not loaded within 2 s\)/],
  ['never gives its thread back', SPINS, /"late" \(it was left out, because/],
  ['ends its thread', ENDS, /"late" \(it was left out, because/],
] as const)
  test(
    `X4 given a file that ${way} when it is loaded again, when its worker has ended, then runs of other files go on, and its own wait until it loads`,
    () =>
      withFiles(file, 1, async (pool, dir, faults) => {
        await mkdir(join(dir, 'way'));
        assert.equal((await startRun(pool, 'exits')).kind, 'lost');
        let isOver = false;
        const late = startRun(pool, 'late').finally(() => (isOver = true));
        assert.equal((await startRun(pool, 'fine')).kind, 'success');
        assert.match(faults.join('\n'), word);
        assert.equal(isOver, false);
        await rm(join(dir, 'way'), { recursive: true });
        assert.equal((await late).kind, 'success');
        assert.equal((await startRun(pool, 'fine')).kind, 'success');
      }),
    { timeoutMs: 60_000 },
  );

test(
  'X4 given a file that only one worker at a time can load, when there are two, then its runs go to the one that has it',
  () =>
    withFiles(TAKES, 2, async (pool, dir, faults) => {
      // It has more to do than the other one, which would be given the next runs.
      const gate = join(dir, 'gate');
      const { begun, start } = preparePoolRun(pool, { gate }, { graphId: 'waits' });
      const waiting = start();
      await begun;
      while (!faults.some((fault) => fault.includes('EEXIST'))) await startRun(pool, 'fine');
      const threads = Array.from({ length: 6 }, (_, i) => `01970000-0000-7000-8000-00000000000${i}`);
      for (const graphId of ['late', 'fine'] as const)
        for (const thread of threads) assert.equal((await startRun(pool, graphId, thread)).kind, 'success');
      await writeFile(gate, '');
      assert.equal((await waiting).kind, 'success');
    }),
  { timeoutMs: 60_000 },
);

test.run();

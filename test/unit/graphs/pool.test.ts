import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { CheckpointReader } from '../../../src/graphs/port.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';
import { preparePoolRun, withPool } from './pool-harness.ts';
import { withProject } from './project-harness.ts';

const test = suite('graphs/pool');

const OTHER_THREAD = '01970000-0000-7000-8000-000000000001';

const HARD_WORK = `import { existsSync, writeFileSync } from 'node:fs';
export function* works({ gate }) {
  yield { begun: true };
  writeFileSync(gate + '-spins', '');
  while (!existsSync(gate));
}`;

test('X4 given a worker that works hard, when a question to it is asked once more, then the time of the first one does not end the worker', () =>
  withProject({ 'graph.mjs': HARD_WORK }, async (dir) => {
    const gate = join(dir, 'gate');
    const manual = createManualClock();
    const real = systemClock();
    const faults: unknown[] = [];
    const options = {
      graphs: { agent: 'works' },
      onFault: (error: unknown) => void faults.push(error),
      // Looks whether the worker turns come in real time; how long an answer may take is for the test to say.
      patience: { after: (ms: number, fn: () => void) => (ms < 1_000 ? real : manual).after(ms, fn) },
    };
    await withPool(dir, options, async (pool) => {
      const { begun, start } = preparePoolRun(pool, { gate });
      const run = start();
      await begun;
      // What came before would be answered before.
      await until(() => (existsSync(`${gate}-spins`) ? [true] : []));

      const drawing = pool.describer.drawing({ graphId: 'agent', configurable: {} }, false);
      const [first] = await until(() => manual.pending());
      await manual.advance(10_000);
      await until(() => manual.pending().filter((due) => due !== first));
      await manual.advance(25_000);
      await writeFile(gate, '');
      assert.equal((await drawing).nodes.length > 0, true);
      assert.equal((await run).kind, 'success');
      assert.deepEqual(faults, []);
    });
  }));

const HARD_QUESTION = `import { appendFileSync, existsSync } from 'node:fs';
import { Annotation, StateGraph } from '@langchain/langgraph';
const State = Annotation.Root({});
const graph = new StateGraph(State).addNode('a', () => ({})).addEdge('__start__', 'a').compile();
const folder = import.meta.dirname;
graph.getGraphAsync = async () => {
  appendFileSync(folder + '/asked', 'x');
  while (!existsSync(folder + '/gate'));
  return { toJSON: () => ({ nodes: [], edges: [] }) };
};
export { graph as drawn };
export const works = () => ({ done: true });`;

test('X4 given a question that holds a worker up, when it is asked once more, then the other worker still has time for runs', () =>
  withProject(
    { 'graph.mjs': HARD_QUESTION },
    (dir) =>
      withPool(dir, { workers: 2, graphs: { drawn: 'drawn', agent: 'works' } }, async (pool) => {
        const drawing = pool.describer.drawing({ graphId: 'drawn', configurable: {} }, false);
        await until(() => (asked(dir) === 2 ? [true] : []));
        assert.equal((await preparePoolRun(pool, {}).start()).kind, 'success');
        assert.equal(existsSync(join(dir, 'gate')), false);
        await writeFile(join(dir, 'gate'), '');
        assert.deepEqual((await drawing).nodes, []);
      }),
    { libraries: true },
  ));

const LONG_READING = `import { appendFileSync } from 'node:fs';
import { Annotation, StateGraph } from '@langchain/langgraph';
const State = Annotation.Root({});
const graph = new StateGraph(State).addNode('a', () => ({})).addEdge('__start__', 'a').compile();
async function getState({ configurable }) {
  await this.checkpointer.getTuple({ configurable });
  appendFileSync(import.meta.dirname + '/asked', 'x');
  for (const end = Date.now() + 1_500; Date.now() < end; );
  return { values: {}, next: [], config: { configurable }, tasks: [] };
}
const { withConfig } = graph;
graph.withConfig = (config) => Object.assign(withConfig.call(graph, config), { getState });
export { graph as agent };`;

test('X4 given a question with very much to read, when its worker is silent over it for a while, then nobody else is asked', () =>
  withProject(
    { 'graph.mjs': LONG_READING },
    (dir) =>
      withPool(dir, { workers: 2, graphs: { agent: 'agent' } }, async (pool) => {
        const run = preparePoolRun(pool, {});
        assert.equal((await run.start()).kind, 'success');
        // At its end a run asks for the state as well.
        const before = asked(dir);
        const unused = { channel: 'unused', version: '1', data: JSON.stringify('x'.repeat(20_000_000)) };
        const checkpoints: CheckpointReader = {
          ...run.checkpoints,
          async load(ns, checkpointId) {
            const found = await run.checkpoints.load(ns, checkpointId);
            return found && { ...found, blobs: [...found.blobs, unused] };
          },
        };
        const order = { graphId: 'agent', threadId: OTHER_THREAD, ns: '', subgraphs: false };
        await pool.state({ ...order, config: { configurable: {}, metadata: {} } }, checkpoints);
        assert.equal(asked(dir) - before, 1);
      }),
    { libraries: true },
  ));

const ENDLESS_QUESTION = `import { existsSync } from 'node:fs';
import { Annotation, StateGraph } from '@langchain/langgraph';
const State = Annotation.Root({});
const graph = new StateGraph(State).addNode('a', () => ({})).addEdge('__start__', 'a').compile();
graph.getGraphAsync = async () => { for (;;); };
export { graph as drawn };
export async function* works({ gate }) {
  yield { begun: true };
  while (!existsSync(gate)) await new Promise((resolve) => setTimeout(resolve, 5));
}`;

test('X4 given a question that never ends, when it is asked once more, then the run beside the first one goes on elsewhere and no attempt is lost', () =>
  withProject(
    { 'graph.mjs': ENDLESS_QUESTION },
    (dir) =>
      withPool(dir, { graphs: { drawn: 'drawn', agent: 'works' } }, async (pool) => {
        const { begun, start } = preparePoolRun(pool, { gate: join(dir, 'gate') });
        const run = start();
        await begun;
        const drawing = pool.describer.drawing({ graphId: 'drawn', configurable: {} }, false);
        drawing.catch(() => undefined);
        const how = await run;
        assert.equal(how.kind === 'lost' && how.charged, false);
        await writeFile(join(dir, 'gate'), '');
        assert.equal((await start()).kind, 'success');
      }),
    { libraries: true },
  ));

const SPINS_OUTSIDE = `import { existsSync } from 'node:fs';
let spins = false;
setInterval(() => { if (spins) for (;;); }, 5).unref();
export async function* works({ gate }) {
  yield { begun: true };
  while (!existsSync(gate)) await new Promise((resolve) => setTimeout(resolve, 5));
}
export const sets = () => void (spins = true);`;

test('X4 given a spin that belongs to no run, when its worker has stood still for a while, then the open run goes on elsewhere and no attempt is lost', () =>
  withProject({ 'graph.mjs': SPINS_OUTSIDE }, (dir) =>
    withPool(dir, { graphs: { agent: 'works', sets: 'sets' } }, async (pool) => {
      const { begun, start } = preparePoolRun(pool, { gate: join(dir, 'gate') });
      const run = start();
      await begun;
      void preparePoolRun(pool, {}, { threadId: OTHER_THREAD, graphId: 'sets' }).start();
      const how = await run;
      assert.equal(how.kind === 'lost' && how.charged, false);
      await writeFile(join(dir, 'gate'), '');
      assert.equal((await start()).kind, 'success');
    }),
  ));

const WORK_AND_COUNT = `import { appendFileSync, existsSync } from 'node:fs';
export function* works({ gate }) {
  appendFileSync(gate + '-spins', '');
  while (!existsSync(gate));
}
export const counts = ({ file }) => appendFileSync(file, 'x');`;

test('X4 given a run whose worker stands still before it begins it, when another worker is there, then that one does it, and nobody does it again', () =>
  withProject({ 'graph.mjs': WORK_AND_COUNT }, (dir) =>
    withPool(dir, { workers: 2, graphs: { agent: 'works', counts: 'counts' } }, async (pool) => {
      const [gate, file] = [join(dir, 'gate'), join(dir, 'counted')];
      const { start } = preparePoolRun(pool, { gate });
      const run = start();
      // From now on it hears nothing, and the second worker comes only now.
      await until(() => (existsSync(`${gate}-spins`) ? [true] : []));
      const other = { threadId: OTHER_THREAD, graphId: 'counts' };
      assert.equal((await preparePoolRun(pool, { file }, other).start()).kind, 'success');
      await writeFile(gate, '');
      assert.equal((await run).kind, 'success');
      // Whatever the first worker was told meanwhile it has heard when it has done this.
      assert.equal((await start()).kind, 'success');
      assert.equal(readFileSync(file, 'utf8'), 'x');
    }),
  ));

const WORK_AND_EXIT = `import { appendFileSync, existsSync } from 'node:fs';
export function* exits({ gate }) {
  yield { begun: true };
  appendFileSync(gate + '-spins', '');
  while (!existsSync(gate));
  process.reallyExit(3);
}
export const counts = ({ file }) => appendFileSync(file, 'x');`;

test('X4 given a run whose worker ends before it begins it, when the next worker comes, then that one does it, and the other run alone is to blame', () =>
  withProject({ 'graph.mjs': WORK_AND_EXIT }, (dir) =>
    withPool(dir, { graphs: { agent: 'exits', counts: 'counts' } }, async (pool) => {
      const [gate, file] = [join(dir, 'gate'), join(dir, 'counted')];
      const { start } = preparePoolRun(pool, { gate });
      const run = start();
      // From now on it hears nothing.
      await until(() => (existsSync(`${gate}-spins`) ? [true] : []));
      const other = preparePoolRun(pool, { file }, { threadId: OTHER_THREAD, graphId: 'counts' }).start();
      await writeFile(gate, '');
      const how = await run;
      assert.equal(how.kind === 'lost' && how.charged, true);
      assert.equal((await other).kind, 'success');
      assert.equal(readFileSync(file, 'utf8'), 'x');
    }),
  ));

const HANGS_SECOND = `import { appendFileSync, readFileSync } from 'node:fs';
const loads = import.meta.dirname + '/loads';
appendFileSync(loads, 'x');
if (readFileSync(loads).length === 2) for (;;);
export const exits = () => process.reallyExit(3);
export const fine = () => ({ fine: true });`;

test(
  'X4 given modules that hang in the second worker, when the first one ends, then the next run waits as long as follows from the first, and the third does it',
  () =>
    withProject({ 'graph.mjs': HANGS_SECOND }, (dir) => {
      const faults: string[] = [];
      const options = {
        graphs: { agent: 'exits', fine: 'fine' },
        onFault: (error: unknown) => void faults.push(String(error)),
        laterLimit: () => 1_500,
      };
      return withPool(dir, options, async (pool) => {
        assert.equal((await preparePoolRun(pool, {}).start()).kind, 'lost');
        const { start, checkpoints } = preparePoolRun(pool, {}, { graphId: 'fine' });
        assert.equal((await start()).kind, 'success');
        assert.deepEqual(checkpoints.values(), { fine: true });
        assert.match(faults.join('\n'), /loading took longer than 2 s/);
      });
    }),
  { timeoutMs: 60_000 },
);

const MAKES_GRAPHS = `export const makes = async (config) => (await import('./made.mjs')).graph;`;

test('given a new worker that cannot find the library of a graph, when the first one could, then it is not used', () =>
  withProject(
    { 'graph.mjs': MAKES_GRAPHS },
    (dir) => {
      const faults: string[] = [];
      const onFault = (error: unknown): void => void faults.push(String(error));
      return withPool(dir, { workers: 2, graphs: { made: 'makes' }, onFault }, async () => {
        await rm(join(dir, 'node_modules'));
        // It comes by itself.
        const [fault] = await until(() => faults);
        assert.match(fault!, /did not load what the first one has: the library of "made"$/);
      });
    },
    { libraries: true },
  ));

/** How often the graph was asked for its drawing. */
function asked(dir: string): number {
  const file = join(dir, 'asked');
  return existsSync(file) ? readFileSync(file).length : 0;
}

/** What there is once there is any of it. The cores are for those who are waited for. */
async function until<T>(find: () => T[]): Promise<T[]> {
  for (;;) {
    const found = find();
    if (found.length > 0) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test.run();

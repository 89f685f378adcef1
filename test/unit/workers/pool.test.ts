import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite } from '../../support/suite.ts';
import { preparePoolRun, withPool } from './pool-harness.ts';
import { withProject } from '../graphs/project-harness.ts';

const test = suite('workers/pool');

const OTHER_THREAD = '01970000-0000-7000-8000-000000000001';

/** No question is late on a busy machine. */
const ENDLESS = { after: () => () => undefined };

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

test('X4 a question that holds its worker up is asked once more, in a worker of its own', () =>
  withProject(
    { 'graph.mjs': HARD_QUESTION },
    (dir) =>
      withPool(
        dir,
        { workers: 2, patience: ENDLESS, graphs: { drawn: 'drawn', agent: 'works' } },
        async (pool) => {
          const drawing = pool.describer.drawing({ graphId: 'drawn', configurable: {} }, false);
          await until(() => (asked(dir) === 2 ? [true] : []));
          assert.equal((await preparePoolRun(pool, {}).start()).kind, 'success');
          assert.equal(existsSync(join(dir, 'gate')), false);
          await writeFile(join(dir, 'gate'), '');
          assert.deepEqual((await drawing).nodes, []);
        },
      ),
    { libraries: true },
  ));

test('all that a function shows and saves before it returns at once has arrived at its end, in order', () =>
  withProject({ 'graph.mjs': 'export const doubles = ({ n }) => ({ n: n * 2 });' }, (dir) =>
    withPool(dir, { graphs: { agent: 'doubles' } }, async (pool) => {
      // The first run of a worker loads what later ones have.
      await preparePoolRun(pool, {}).start();
      const run = preparePoolRun(pool, { n: 21 }, { threadId: OTHER_THREAD });
      const end = await run.start();
      assert.equal(end.kind, 'success');
      assert.deepEqual(
        run.frames.map(([event, data]) => [event, JSON.parse(data)]),
        [
          ['values', { n: 21 }],
          ['values', { n: 42 }],
        ],
      );
      assert.deepEqual(
        run.checkpoints.saved.map(({ checkpointId }) => run.checkpoints.values(checkpointId)),
        [{ n: 21 }, { n: 42 }],
      );
    }),
  ));

const WORK_AND_COUNT = `import { appendFileSync, existsSync } from 'node:fs';
export function* works({ gate }) {
  appendFileSync(gate + '-spins', '');
  while (!existsSync(gate));
}
export const counts = ({ file }) => appendFileSync(file, 'x');`;

test('X4 a run that a worker which stands still has not begun is begun by another one, once', () =>
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

test('X4 X6 a run not begun when its worker ended begins in the next; the begun one is charged', () =>
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

const CRASHES = `import { existsSync } from 'node:fs';
export async function* crashes({ gate }) {
  yield { begun: true };
  while (!existsSync(gate)) await new Promise((resolve) => setTimeout(resolve, 5));
  process.abort();
}
export async function* waits({ gate }) {
  yield { begun: true };
  while (!existsSync(gate + '-too')) await new Promise((resolve) => setTimeout(resolve, 5));
}`;

test('X6 a crash with one begun run charges it, and one with two begun runs charges neither', () =>
  withProject({ 'graph.mjs': CRASHES }, (dir) =>
    withPool(dir, { graphs: { agent: 'crashes', waits: 'waits' } }, async (pool) => {
      const gate = join(dir, 'gate');
      const guilty = preparePoolRun(pool, { gate });
      const neighbour = preparePoolRun(pool, { gate }, { threadId: OTHER_THREAD, graphId: 'waits' });
      const both = [guilty.start(), neighbour.start()];
      await Promise.all([guilty.begun, neighbour.begun]);
      await writeFile(gate, '');
      const ends = await Promise.all(both);
      assert.deepEqual(
        ends.map((end) => end.kind === 'lost' && end.charged),
        [false, false],
      );
      const again = await guilty.start();
      assert.equal(again.kind === 'lost' && again.charged, true);
      assert.match(again.kind === 'lost' ? again.message : '', /SIGABRT/);
      await writeFile(`${gate}-too`, '');
      assert.equal((await neighbour.start()).kind, 'success');
    }),
  ));

const TELLS_PROCESS = `import { spawn } from 'node:child_process';
export const agent = () => ({ pid: process.pid, secret: process.env.PLATFORM_SECRET ?? null, kept: process.env.KEPT });
export async function* parent() {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  yield { child: child.pid, pid: process.pid };
  await new Promise(() => {});
}`;

test("X4 graph code runs in a process of its own, without the server's settings", () => {
  process.env['PLATFORM_SECRET'] = 'secret';
  process.env['KEPT'] = 'kept';
  return withProject({ 'graph.mjs': TELLS_PROCESS }, (dir) =>
    withPool(dir, { graphs: { agent: 'agent' } }, async (pool) => {
      const { start, checkpoints } = preparePoolRun(pool, {});
      assert.equal((await start()).kind, 'success');
      const { pid, ...rest } = checkpoints.values() as Record<string, unknown>;
      assert.notEqual(pid, process.pid);
      assert.deepEqual(rest, { secret: null, kept: 'kept' });
    }),
  ).finally(() => {
    delete process.env['PLATFORM_SECRET'];
    delete process.env['KEPT'];
  });
});

test('X4 children of graph code die with their worker', () =>
  withProject({ 'graph.mjs': TELLS_PROCESS }, (dir) =>
    withPool(dir, { graphs: { agent: 'parent' } }, async (pool) => {
      const { start, checkpoints } = preparePoolRun(pool, {});
      const run = start();
      const valuesOf = () => (checkpoints.values() ?? {}) as { child?: number; pid?: number };
      const [{ child, pid }] = (await until(() =>
        [valuesOf()].filter((each) => each.child !== undefined),
      )) as [{ child: number; pid: number }];
      assert.equal(isAlive(child), true);
      process.kill(pid, 'SIGKILL');
      const end = await run;
      assert.equal(end.kind === 'lost' && end.charged, true);
      await until(() => (isAlive(child) ? [] : [true]));
    }),
  ));

function isAlive(pid: number): boolean {
  try {
    // A process that has ended and was not waited for still has a number.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

const FALLS_ON_LOAD = `export const agent = () => ({ fine: true });
if (process.env.FALLS === 'yes') process.exit(7);`;

test('X4 a file that ends its process as it loads is a problem, until a run of its graph loads it', () => {
  process.env['FALLS'] = 'yes';
  return withProject({ 'graph.mjs': FALLS_ON_LOAD }, (dir) =>
    withPool(dir, { graphs: { agent: 'agent' } }, async (pool) => {
      const reason = 'The process of the graph ended with exit code 7';
      const [problem] = pool.problems;
      assert.deepEqual([problem?.graphId, problem?.reason], ['agent', reason]);
      const message = `The graph "agent" did not load: ${reason}`;
      const failed = await preparePoolRun(pool, {}).start();
      assert.deepEqual(failed, { kind: 'error', error: 'GraphNotLoaded', message });
      delete process.env['FALLS'];
      assert.equal((await preparePoolRun(pool, {}).start()).kind, 'success');
      assert.deepEqual(pool.problems, []);
    }),
  ).finally(() => delete process.env['FALLS']);
});

const FALLS_LATER = `import { appendFileSync, readFileSync } from 'node:fs';
const loads = import.meta.dirname + '/loads';
appendFileSync(loads, 'x');
if (readFileSync(loads).length > 1) throw new Error('not again');
export const exits = () => process.reallyExit(3);
export const fine = () => ({ fine: true });`;

test('X3 a graph that does not load in a later worker ends its runs with the reason', () =>
  withProject({ 'graph.mjs': FALLS_LATER }, (dir) =>
    withPool(dir, { graphs: { agent: 'exits', fine: 'fine' } }, async (pool) => {
      assert.equal((await preparePoolRun(pool, {}).start()).kind, 'lost');
      const end = await preparePoolRun(pool, {}, { graphId: 'fine' }).start();
      assert.equal(end.kind === 'error' && end.error, 'GraphNotLoaded');
      assert.match(end.kind === 'error' ? end.message : '', /"fine" did not load: .*not again/);
    }),
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

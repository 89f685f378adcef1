import assert from 'node:assert/strict';
import { createLoadPlan } from '../../../src/graphs/pool/load-plan.ts';
import type { Loaded } from '../../../src/graphs/pool/sides.ts';
import { died, SPOILED, type WorkerEnd } from '../../../src/graphs/pool/worker-end.ts';
import { createRandom, seedFromEnv } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';

const test = suite('graphs/load-plan');

/** Graphs of so many files; the plan is told what becomes of workers, and says what the next one loads. */
function given(count: number) {
  const files = Array.from({ length: count }, (_, i) => `/${i}.ts`);
  const plan = createLoadPlan(files.map((file) => ({ id: file, file, exportName: 'graph' })));
  return {
    files,
    /** What the worker loads; it does not come up with one of `bad`, and then ends like this. */
    async worker(isTrial: boolean, bad: readonly string[], end: WorkerEnd = died('WorkerExit', 'it ended')) {
      const specs = plan.next(isTrial);
      const loads = specs.flatMap(({ file, leftOut }) => (leftOut === undefined ? [file] : []));
      const comesUp = !loads.some((file) => bad.includes(file));
      const loaded = comesUp ? Promise.resolve({} as Loaded) : Promise.reject(new Error(end.message));
      plan.watch(specs, { loaded, ended: Promise.resolve(end) });
      await new Promise((resolve) => setImmediate(resolve));
      return { loads, comesUp };
    },
  };
}

test('given workers that come up, or that are ended for other reasons, when the next is planned, then it loads every file', async () => {
  const { files, worker } = given(3);
  await worker(false, []);
  await worker(false, files, SPOILED);
  assert.deepEqual((await worker(false, [])).loads, files);
});

test('X4 given files with which no worker comes up, when places are filled and trials made, then in a few workers a place has all the others, and the files themselves as soon as they can be loaded', async () => {
  const first = seedFromEnv();
  for (let seed = first; seed < first + 200; seed++) {
    const random = createRandom(seed);
    const { files, worker } = given(random.int(2, 12));
    const bad = random.shuffle(files).slice(0, random.int(1, Math.min(2, files.length - 1)));
    const good = files.filter((file) => !bad.includes(file));
    const doubled = 2 * Math.ceil(Math.log2(files.length));
    let places = 0;
    while (!(await worker(false, bad)).comesUp) places += 1;
    assert.ok(places <= 1 + bad.length * doubled, `SEED=${seed}: ${places} workers did not come up`);
    let trials = 0;
    for (let had = 0; had < good.length; trials++) {
      await worker(true, bad);
      const { loads, comesUp } = await worker(false, bad);
      assert.equal(comesUp, true, `SEED=${seed}: a place that is filled stays filled`);
      had = loads.length;
    }
    assert.ok(trials <= 1 + bad.length * doubled, `SEED=${seed}: ${trials} trials`);
    for (let more = 0; more < bad.length; more++) await worker(true, []);
    assert.deepEqual((await worker(false, [])).loads, files, `SEED=${seed}`);
  }
});

test.run();

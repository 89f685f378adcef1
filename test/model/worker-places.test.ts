/**
 * Random lives of the places of a crew, with workers that are told what they load. `SEED` repeats a run. A failure
 * prints the seed and all that was done.
 */
import assert from 'node:assert/strict';
import type { GraphWorker } from '../../src/graphs/pool/graph-worker.ts';
import type { Loaded } from '../../src/graphs/pool/sides.ts';
import { openSlots } from '../../src/graphs/pool/slots.ts';
import { died, type WorkerEnd } from '../../src/graphs/pool/worker-end.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createRandom, seedFromEnv, type Random } from '../support/random.ts';
import { suite } from '../support/suite.ts';

const test = suite('model/worker-places');

const [LIVES, STEPS] = [40, 120];
const PLACES = 3;
/** The last one wants what only one worker at a time can have. */
const GRAPHS = ['calm', 'shaky', 'single'] as const;
type GraphId = (typeof GRAPHS)[number];
const CRASH = died('Crash', 'it crashed');
const LOOK_MS = 100;
const MOST_LOAD_MS = 3_000;
/** All that is mended is had again: the longest pause between two trials, and what two workers take. */
const SETTLED_MS = 60_000 + 2 * MOST_LOAD_MS + 10_000;

const toLoaded = (graphIds: readonly GraphId[]): Loaded => ({
  ...{ graphIds, withLibrary: graphIds },
  problems: GRAPHS.filter((id) => !graphIds.includes(id)).map((graphId) => ({
    graphId,
    file: 'graphs.mjs',
    reason: 'gone',
  })),
});

function promised<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((...both) => ([resolve, reject] = both));
  return { promise, resolve, reject };
}

interface Standin extends Pick<GraphWorker, 'loaded' | 'ended' | 'end'> {
  /** Undefined until it has loaded. */
  has: readonly GraphId[] | undefined;
  isOver: boolean;
  load: number;
}

const asWorker = (standin: Standin): GraphWorker => standin as Standin & GraphWorker;
const asStandin = (worker: GraphWorker): Standin => worker as GraphWorker & Standin;

function startPlaces(random: Random) {
  const clock = createManualClock();
  const broken = new Set<GraphId>();
  const living = new Set<Standin>();
  const done: string[] = [];
  /** What somebody was to have at the last look; crashes may take it. */
  let had: readonly GraphId[] = [];
  let isRough = true;
  let spawned = 0;
  /** How many had been started when somebody had it last. */
  const lastHad = new Map<GraphId, number>();

  const isHeld = (): boolean => [...living].some(({ has }) => has?.includes('single'));
  const loadable = (): GraphId[] => GRAPHS.filter((id) => !broken.has(id) && !(id === 'single' && isHeld()));

  function spawn(isFirst = false): GraphWorker {
    spawned += 1;
    const loading = promised<Loaded>();
    const ending = promised<WorkerEnd>();
    loading.promise.catch(() => undefined);
    const standin: Standin = {
      ...{ has: undefined, isOver: false, load: 0, loaded: loading.promise, ended: ending.promise },
      end(end) {
        if (standin.isOver) return;
        standin.isOver = true;
        living.delete(standin);
        loading.reject(new Error(end.message));
        ending.resolve(end);
      },
    };
    living.add(standin);
    const come = (): void => {
      if (standin.isOver) return;
      if (!isFirst && isRough && random.chance(0.1)) return standin.end(CRASH);
      standin.has = loadable();
      loading.resolve(toLoaded(standin.has));
    };
    if (isFirst) come();
    else clock.after(random.int(10, MOST_LOAD_MS), come);
    return asWorker(standin);
  }

  const places = openSlots({
    ...{ clock, spawn, whole: toLoaded(GRAPHS) },
    ...{ onFault: () => undefined, onChange: () => undefined },
  });
  places.add(spawn(true));
  for (let more = 1; more < PLACES; more++) places.add(spawn());

  const offered = (): GraphId[] =>
    GRAPHS.filter((id) => places.list.some(({ ready, lacks }) => ready && !lacks.has(id)));

  function look(): void {
    places.dismiss();
    assert.equal(places.list.length, PLACES);
    assert.ok(places.tried().length <= 1, 'one is tried at a time');
    for (const worker of places.followed())
      assert.ok(asStandin(worker).isOver || worker.load > 0, 'who was followed goes with its last run');
    const known = places.list.flatMap(({ worker, next }) => [worker, ...(next === undefined ? [] : [next])]);
    const all = new Set([...known, ...places.tried(), ...places.followed()].map(asStandin));
    for (const standin of living) assert.ok(all.has(standin), 'nobody lives unknown');
    for (const { worker, ready, lacks } of places.list)
      if (ready)
        assert.deepEqual(
          [...lacks],
          GRAPHS.filter((id) => !asStandin(worker).has?.includes(id)),
        );
    for (const id of had) assert.ok(offered().includes(id), `${id} was lost by an exchange`);
    had = offered();
    for (const id of had) lastHad.set(id, spawned);
    for (const id of GRAPHS)
      if (places.isLost(id))
        assert.ok(spawned - lastHad.get(id)! >= 10, `${id} was lost without being looked for`);
  }

  async function pass(ms: number): Promise<void> {
    for (let past = 0; past < ms; past += LOOK_MS) {
      await clock.advance(LOOK_MS);
      look();
    }
  }

  function crash(workers: readonly GraphWorker[]): void {
    had = [];
    for (const worker of workers) worker.end(CRASH);
  }

  const steps: Record<string, () => unknown> = {
    breaks: () => broken.add(random.pick(GRAPHS)),
    mends: () => broken.clear(),
    crashes: () => crash([random.pick(places.list).worker]),
    'all crash': () => crash(places.list.map(({ worker }) => worker)),
    'trial crashes': () => crash(places.tried()),
    runs: () => places.list.forEach(({ worker }) => (asStandin(worker).load = random.int(0, 1))),
    rests: () => [...living].forEach((standin) => (standin.load = 0)),
    doubts: () => {
      const slot = random.pick(places.list);
      if (slot.ready) slot.next ??= spawn();
    },
    recovers: () => {
      for (const slot of places.list) {
        slot.next?.end(CRASH);
        slot.next = undefined;
      }
    },
    waits: () => pass(random.int(0, 40) * LOOK_MS),
    'waits long': () => pass(random.int(5, 100) * 1_000),
  };

  return {
    ...{ places, broken, done, pass, offered, crash, spawned: () => spawned },
    async step(): Promise<void> {
      const [name, act] = random.pick(Object.entries(steps));
      done.push(name);
      await act();
      await pass(LOOK_MS);
    },
    settle: (): Promise<void> => {
      broken.clear();
      isRough = false;
      for (const name of ['rests', 'recovers']) steps[name]!();
      return pass(2 * SETTLED_MS);
    },
  };
}

test(`X4 given random crashes, graphs that break and graphs that mend, when ${PLACES} places are filled again, then nobody loses a graph by it, one is tried at a time, and in the end everything is there`, async () => {
  const first = seedFromEnv();
  let [lost, exchanged] = [0, 0];
  for (let seed = first; seed < first + LIVES; seed++) {
    const life = startPlaces(createRandom(seed));
    try {
      await life.pass(LOOK_MS);
      for (let step = 0; step < STEPS; step++) {
        await life.step();
        if (GRAPHS.some(life.places.isLost)) lost += 1;
        exchanged += life.places.followed().length;
      }
      await life.settle();
      assert.deepEqual(life.offered(), GRAPHS);
      // Nobody could follow the one that has what only one can have, without losing it.
      for (const { ready, lacks } of life.places.list)
        assert.ok(ready && (!lacks.has('single') || lacks.size === 1), 'everybody has what there is');
    } catch (error) {
      console.error(`SEED=${seed}\n${life.done.join('\n')}`);
      throw error;
    }
    life.places.close();
  }
  assert.ok(lost > 0 && exchanged > 0, `graphs were lost ${lost} times, workers followed ${exchanged} times`);
});

test('X4 given a graph that does not load any more, when all workers have crashed, then it is lost after two minutes, little is tried from then on, and a minute after it was mended it is there', async () => {
  const { places, broken, pass, offered, crash, spawned } = startPlaces(createRandom(1));
  await pass(2 * MOST_LOAD_MS);
  broken.add('shaky');
  crash(places.list.map(({ worker }) => worker));
  await pass(30_000);
  assert.equal(places.isLost('shaky'), false);
  await pass(90_000);
  assert.deepEqual(GRAPHS.filter(places.isLost), ['shaky']);
  const before = spawned();
  await pass(600_000);
  assert.ok(spawned() - before <= 11, `${spawned() - before} workers in ten minutes`);
  broken.clear();
  await pass(SETTLED_MS);
  assert.deepEqual([offered(), GRAPHS.filter(places.isLost)], [GRAPHS, []]);
  places.close();
});

test.run();

/**
 * The rule that says which run ended a process (thread/fault.ts), in a small world of servers and workers that die. The
 * world knows the truth: which run killed, and which was only there.
 */
import assert from 'node:assert/strict';
import {
  afterDeath,
  attribute,
  isSuspect,
  trialMs,
  whyOver,
  type Account,
  type OpenRun,
  type Verdict,
} from '../../src/thread/fault.ts';
import { createRandom, seedFromEnv, type Random } from '../support/random.ts';
import { suite } from '../support/suite.ts';

const test = suite('model/fault-attribution');

const MAX_CHARGES = 5;
const NO_ACCOUNT: Account = { deaths: 0, charges: 0 };

interface Run {
  readonly id: string;
  account: Account;
  lost: number;
  over: boolean;
}

const newRun = (id: string): Run => ({ id, account: NO_ACCOUNT, lost: 0, over: false });

function pay(run: Run, verdict: Verdict): void {
  run.account = afterDeath(run.account, verdict);
  run.lost += verdict.lost ? 1 : 0;
  run.over = whyOver(run.account, run.lost, MAX_CHARGES) !== undefined;
}

const open = (more: Partial<OpenRun> = {}): OpenRun => ({
  ...{ begun: true, saved: false, suspect: false },
  ...more,
});
const verdictsOf = (process: 'worker' | 'server', ...runs: OpenRun[]): string[] =>
  attribute(process, runs).map(({ lost, died, charged, suspect }) =>
    [lost && 'lost', died && 'died', charged && 'charged', suspect && 'suspect'].filter(Boolean).join(' '),
  );

test('X6 the verdicts on every kind of run are as the table says', () => {
  assert.deepEqual(verdictsOf('worker', open()), ['lost charged suspect']);
  assert.deepEqual(verdictsOf('worker', open({ saved: true })), ['lost charged suspect']);
  assert.deepEqual(verdictsOf('worker', open(), open({ begun: false })), ['lost charged suspect', '']);
  assert.deepEqual(verdictsOf('worker', open(), open({ saved: true })), ['suspect', '']);
  assert.deepEqual(verdictsOf('worker', open({ begun: false })), ['']);
  assert.deepEqual(verdictsOf('server', open(), open({ saved: true })), ['lost died', 'lost']);
  assert.deepEqual(verdictsOf('server', open({ begun: false, suspect: true })), ['']);
  const suspect = open({ suspect: true });
  assert.deepEqual(verdictsOf('server', suspect, open()), ['lost died charged', 'lost died']);
  assert.deepEqual(verdictsOf('server', suspect, open({ suspect: true })), ['lost died', 'lost died']);
  assert.deepEqual(verdictsOf('server', suspect, open({ suspect: true, begun: false })), [
    'lost died charged',
    '',
  ]);
  assert.deepEqual(verdictsOf('server', open({ suspect: true, saved: true })), ['lost']);
});

test('X6 whatever dies with whatever runs, only the one possible cause is charged, and every run ends', () => {
  const random = createRandom(seedFromEnv());
  let charges = 0;
  for (let world = 0; world < 300; world++) {
    const runs = Array.from({ length: random.int(1, 6) }, (_, index) => newRun(String(index)));
    const left = (): Run[] => runs.filter(({ over }) => !over);
    for (let death = 0; left().length > 0; death++) {
      assert.ok(death < 5_000, 'a run never ends');
      const process = random.pick(['worker', 'server'] as const);
      const there = left().filter(() => random.chance(0.7));
      const found = there.map(({ account }) =>
        open({
          begun: random.chance(0.8),
          saved: random.chance(0.1),
          suspect: process === 'server' && isSuspect(account),
        }),
      );
      for (const [index, run] of there.entries())
        if (found[index]!.begun && found[index]!.saved) run.account = NO_ACCOUNT;
      for (const [index, verdict] of attribute(process, found).entries()) {
        const [run, own] = [there[index]!, found[index]!];
        const others = found.filter((other) => other !== own && other.begun);
        if (verdict.charged) {
          charges += 1;
          assert.ok(own.begun, 'a run that had not begun is charged');
          const causes =
            process === 'worker' ? others : others.filter(({ saved, suspect }) => suspect && !saved);
          assert.deepEqual(causes, [], 'another run could have been the cause');
          assert.ok(process === 'worker' || run.account.deaths >= 2, 'a single death is charged');
        }
        if (!own.begun) assert.ok(!verdict.lost && !verdict.died && !verdict.suspect);
        pay(run, verdict);
        assert.ok(run.account.charges <= MAX_CHARGES && run.lost <= 100);
      }
    }
  }
  assert.ok(charges > 500, `${charges} charges`);
});

/** A run of steps, each as long. `killsAfter`: its code kills the server so long after it began, every time. */
interface Work {
  readonly run: Run;
  readonly stepMs: number;
  readonly killsAfter: number | undefined;
  steps: number;
}

/** Of a life of the server: when it ended, and what had begun until then. */
interface Stay {
  readonly work: Work;
  readonly begun: number;
  readonly suspect: boolean;
}

/** Runs start after so long, in a worker of their own later. */
const START_MS = 20;
const ALONE_MS = 300;

/** One life of the server: who begins when, until it is killed from outside or by a run. Returns the killer. */
function live(works: readonly Work[], killAt: number): Work | undefined {
  const stays: Stay[] = [];
  const saves = ({ work, begun }: Stay): number => begun + work.stepMs;
  const ends = ({ work, begun }: Stay): number =>
    work.killsAfter === undefined ? Infinity : begun + work.killsAfter;
  const isLeft = (work: Work): boolean => !work.run.over && work.steps > 0;
  for (const work of works)
    if (isLeft(work) && !isSuspect(work.run.account)) stays.push({ work, begun: START_MS, suspect: false });
  let free = 0;
  const suspects = works.filter((work) => isLeft(work) && isSuspect(work.run.account));
  suspects.sort((a, b) => a.run.account.charges - b.run.account.charges);
  for (const work of suspects) {
    const stay = { work, begun: free + ALONE_MS, suspect: true };
    stays.push(stay);
    free = Math.min(saves(stay), stay.begun + trialMs(work.run.account));
  }
  const end = Math.min(killAt, ...stays.map(ends));
  const there = stays.filter(({ begun }) => begun < end);
  const found = there.map((stay): OpenRun => {
    const { work, begun, suspect } = stay;
    const steps = Math.min(work.steps, Math.floor((end - begun) / work.stepMs));
    work.steps -= work.killsAfter === undefined ? steps : 0;
    const saved = work.killsAfter === undefined && steps > 0;
    if (saved) work.run.account = NO_ACCOUNT;
    return { begun: true, saved, suspect: suspect && !saved };
  });
  for (const [index, verdict] of attribute('server', found).entries())
    if (there[index]!.work.steps > 0) pay(there[index]!.work.run, verdict);
  return end < killAt ? there.find((stay) => ends(stay) === end)?.work : undefined;
}

const workOf = (id: number, stepMs: number, steps: number, killsAfter?: number): Work => ({
  ...{ run: newRun(String(id)), stepMs, steps, killsAfter },
});

test('X6 a run that kills the server every time costs at most seven deaths, and no run beside it', () => {
  const random = createRandom(seedFromEnv());
  for (let world = 0; world < 200; world++) {
    const innocent = Array.from({ length: random.int(0, 40) }, (_, id) =>
      workOf(id, random.int(20, 3_000), random.int(1, 6)),
    );
    const poison = workOf(99, 60_000, 1, random.int(1, 4_000));
    let deaths = 0;
    while (!poison.run.over) {
      assert.equal(live([...innocent, poison], Infinity), poison);
      deaths += 1;
    }
    assert.ok(deaths <= 7, `${deaths} deaths`);
    for (const { run } of innocent) assert.ok(!run.over, 'an innocent run ended');
  }
});

test('X6 a run that takes long to kill the server ends too, and spares runs as slow as itself', () => {
  const innocent = Array.from({ length: 5 }, (_, id) => workOf(id, 30_000, 1));
  const poison = workOf(99, 600_000, 1, 9_000);
  let deaths = 0;
  for (; !poison.run.over; deaths++) assert.equal(live([...innocent, poison], Infinity), poison);
  assert.ok(deaths <= 10, `${deaths} deaths`);
  for (const { run } of innocent) assert.ok(!run.over, 'an innocent run ended');
});

/** Runs that did nothing wrong and failed, of a hundred, when the server is killed so often. */
function shareHit(random: Random, kills: number, stepMs: number, runs: number): number {
  let failed = 0;
  const worlds = 40;
  for (let world = 0; world < worlds; world++) {
    const works = Array.from({ length: runs }, (_, id) => workOf(id, stepMs, 5));
    for (let kill = 0; kill < kills; kill++) live(works, random.int(80, 480));
    failed += works.filter(({ run }) => run.over).length;
  }
  return (100 * failed) / (worlds * runs);
}

test('X6 external kills end few runs without a fault; the simulation prints how many', () => {
  const random = createRandom(seedFromEnv());
  console.log('failed of 100 innocent runs; kills 80 to 480 ms after each start');
  for (const runs of [1, 10, 100])
    for (const stepMs of [50, 200, 400, 2_000]) {
      const shares = [12, 25, 50].map((kills) => shareHit(random, kills, stepMs, runs));
      const told = shares.map((share) => share.toFixed(1).padStart(5)).join(' ');
      console.log(
        `${String(runs).padStart(4)} runs, steps of ${String(stepMs).padStart(4)} ms: ${told}  (12, 25, 50 kills)`,
      );
      // Steps that end between two kills clear the account.
      if (stepMs <= 50) assert.deepEqual(shares, [0, 0, 0]);
      // Charges go around: one run after the other is on trial.
      if (runs === 100) assert.deepEqual(shares, [0, 0, 0]);
    }
});

test.run();

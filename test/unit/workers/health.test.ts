import assert from 'node:assert/strict';
import type { Heartbeat } from '../../../src/workers/heartbeat.ts';
import { examine, isBusy, type Health } from '../../../src/workers/health.ts';
import type { GraphWorker } from '../../../src/workers/worker.ts';
import { suite } from '../../support/suite.ts';

const test = suite('workers/health');

interface Facts {
  readonly stalled?: number;
  readonly silent?: number;
  readonly deaf?: number;
  readonly loading?: number;
  readonly own?: number;
  readonly load?: number;
  readonly hasBegun?: boolean;
  readonly stopWait?: number;
  readonly overrun?: number;
  readonly mayOverrun?: boolean;
  readonly isLoading?: boolean;
  readonly rss?: number;
  readonly busyPermille?: number;
}

const MIB = 2 ** 20;
const LIMITS = { memoryMb: 100, loadLimitMs: 30_000, patience: 1, isSurplus: true };

function workerWith(facts: Facts): GraphWorker {
  const heartbeat: Heartbeat = {
    ...{ busyPermille: facts.busyPermille ?? 0, stalledMs: facts.stalled ?? 0, rss: facts.rss ?? 0 },
    ownMs: 0,
  };
  return {
    heartbeat: () => heartbeat,
    ownMs: () => facts.own ?? 0,
    silentMs: () => facts.silent ?? 0,
    deafMs: () => facts.deaf ?? 0,
    stopWaitMs: () => facts.stopWait ?? 0,
    overrunMs: () => facts.overrun ?? 0,
    mayOverrun: () => facts.mayOverrun ?? false,
    isSpoiled: () => false,
    loading: {
      culprit: () => (facts.isLoading === true ? 'graph' : undefined),
      loadingMs: () => facts.loading ?? 0,
    },
    load: facts.load ?? 0,
    hasBegun: facts.hasBegun ?? false,
  } as unknown as GraphWorker;
}

const BUSY = { load: 1, hasBegun: true };

const TABLE: readonly [what: string, facts: Facts, by: string | undefined][] = [
  ['computes for a minute with a begun run', { ...BUSY, stalled: 60_000 }, undefined],
  ['stands still with a run told to stop', { ...BUSY, stalled: 1_500, stopWait: 1_500 }, 'stuck'],
  ['turns with a run told to stop', { ...BUSY, stopWait: 60_000 }, undefined],
  ['stands still with nothing to do', { stalled: 6_000 }, 'ended'],
  ['stands still before a run that it has not begun', { load: 1, stalled: 6_000 }, 'ended'],
  ['stands still as it loads', { stalled: 20_000, isLoading: true }, undefined],
  ['computes after a run was stopped', { ...BUSY, stalled: 11_000, mayOverrun: true }, 'ended'],
  ['computes a little after a run was stopped', { ...BUSY, stalled: 6_000, mayOverrun: true }, undefined],
  ['has overruns and nothing to do', { overrun: 11_000 }, 'ended'],
  ['has overruns beside a begun run', { ...BUSY, overrun: 11_000 }, undefined],
  ['does not hear though its event loop turns', { load: 1, deaf: 5_100 }, 'crash'],
  ['has not heard for a little while', { load: 1, deaf: 4_900 }, undefined],
  ['loads a graph for longer than allowed', { isLoading: true, loading: 30_100 }, 'ended'],
  ['is silent for ten seconds with nothing to do', { silent: 10_000 }, undefined],
  ['shows no sign of life', { ...BUSY, silent: 61_000 }, 'crash'],
];

for (const [what, facts, by] of TABLE)
  test(`X4 a worker that ${what}: ${by ?? 'goes on'}`, () =>
    assert.equal(examine(workerWith(facts), { isRetired: false, unusedSince: -1_001 }, LIMITS)?.by, by));

test('X4 a worker over its memory limit gets nothing new, and is ended after two seconds', () => {
  const health: Health = { isRetired: false };
  const at = (own: number) => workerWith({ ...BUSY, own, rss: 101 * MIB });
  assert.equal(examine(at(0), health, LIMITS), undefined);
  assert.equal(health.isRetired, true);
  assert.equal(examine(at(2_001), health, LIMITS)?.by, 'memory');
});

test('a worker beyond the first is ended after five minutes without work', () => {
  const health: Health = { isRetired: false };
  const later = workerWith({ own: 300_001 });
  assert.equal(examine(workerWith({}), health, LIMITS), undefined);
  assert.equal(examine(later, health, { ...LIMITS, isSurplus: false }), undefined);
  assert.equal(examine(later, health, LIMITS)?.by, 'ended');
});

test('a worker counts as busy after its event loop was used for more than a second, with work', () => {
  // given: a worker whose loop is used more than 70 % from now on
  const health: Health = { isRetired: false };
  const busyAt = (own: number) => workerWith({ ...BUSY, own, busyPermille: 701 });
  examine(busyAt(0), health, LIMITS);
  examine(busyAt(1_001), health, LIMITS);
  // then
  assert.deepEqual([isBusy(busyAt(1_000), health), isBusy(busyAt(1_001), health)], [false, true]);
  assert.equal(isBusy(workerWith({ own: 1_001, busyPermille: 701 }), health), false);
  // when: it is used less
  examine(workerWith({ ...BUSY, own: 1_002, busyPermille: 700 }), health, LIMITS);
  // then
  assert.equal(isBusy(busyAt(9_000), health), false);
});

test('X4 limits of a worker that has begun nothing grow with patience, and those of others do not', () => {
  const patient = { ...LIMITS, patience: 2 };
  const endOf = (facts: Facts) =>
    examine(workerWith(facts), { isRetired: false, unusedSince: -1_001 }, patient)?.by;
  assert.deepEqual([endOf({ stalled: 9_000 }), endOf({ stalled: 10_001 })], [undefined, 'ended']);
  assert.deepEqual([endOf({ deaf: 9_000 }), endOf({ deaf: 10_001 })], [undefined, 'crash']);
  assert.equal(endOf({ ...BUSY, stalled: 1_500, stopWait: 1_500 }), 'stuck');
});

test('X4 a worker whose last run has just ended is not ended for a heartbeat from before that', () => {
  const health: Health = { isRetired: false };
  assert.equal(examine(workerWith({ ...BUSY, stalled: 6_000 }), health, LIMITS), undefined);
  assert.equal(examine(workerWith({ own: 250, stalled: 6_250 }), health, LIMITS), undefined);
  assert.equal(examine(workerWith({ own: 1_500, stalled: 7_500 }), health, LIMITS)?.by, 'ended');
});

test.run();

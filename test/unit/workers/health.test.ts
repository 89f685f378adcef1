import assert from 'node:assert/strict';
import type { Heartbeat } from '../../../src/workers/heartbeat.ts';
import { examine, isBusy, type Health } from '../../../src/workers/health.ts';
import type { GraphWorker } from '../../../src/workers/worker.ts';
import { suite } from '../../support/suite.ts';

const test = suite('workers/health');

interface Facts {
  readonly stalled?: number;
  readonly silent?: number;
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
const LIMITS = { memoryMb: 100, isSurplus: true };

function workerWith(facts: Facts): GraphWorker {
  const heartbeat: Heartbeat = {
    ...{ busyPermille: facts.busyPermille ?? 0, stalledMs: facts.stalled ?? 0, rss: facts.rss ?? 0 },
  };
  return {
    heartbeat: () => heartbeat,
    silentMs: () => facts.silent ?? 0,
    stopWaitMs: () => facts.stopWait ?? 0,
    overrunMs: () => facts.overrun ?? 0,
    mayOverrun: () => facts.mayOverrun ?? false,
    isSpoiled: () => false,
    loading: { culprit: () => (facts.isLoading === true ? 'graph' : undefined) },
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
  ['shows no sign of life', { ...BUSY, silent: 61_000 }, 'crash'],
];

for (const [what, facts, by] of TABLE)
  test(`X4 a worker that ${what}: ${by ?? 'goes on'}`, () =>
    assert.equal(examine(workerWith(facts), { isRetired: false }, 0, LIMITS)?.by, by));

test('X4 a worker over its memory limit gets nothing new, and is ended after two seconds', () => {
  const health: Health = { isRetired: false };
  const worker = workerWith({ ...BUSY, rss: 101 * MIB });
  assert.equal(examine(worker, health, 0, LIMITS), undefined);
  assert.equal(health.isRetired, true);
  assert.equal(examine(worker, health, 2_001, LIMITS)?.by, 'memory');
});

test('a worker beyond the first is ended after five minutes without work', () => {
  const health: Health = { isRetired: false };
  assert.equal(examine(workerWith({}), health, 0, LIMITS), undefined);
  assert.equal(examine(workerWith({}), health, 300_001, { ...LIMITS, isSurplus: false }), undefined);
  assert.equal(examine(workerWith({}), health, 300_001, LIMITS)?.by, 'ended');
});

test('a worker counts as busy after its event loop was used for more than a second, with work', () => {
  // given: a worker whose loop is used more than 70 % from now on
  const health: Health = { isRetired: false };
  const busy = workerWith({ ...BUSY, busyPermille: 701 });
  examine(busy, health, 0, LIMITS);
  examine(busy, health, 1_001, LIMITS);
  // then
  assert.deepEqual([isBusy(busy, health, 1_000), isBusy(busy, health, 1_001)], [false, true]);
  assert.equal(isBusy(workerWith({ busyPermille: 701 }), health, 1_001), false);
  // when: it is used less
  examine(workerWith({ ...BUSY, busyPermille: 700 }), health, 1_002, LIMITS);
  // then
  assert.equal(isBusy(busy, health, 9_000), false);
});

test.run();

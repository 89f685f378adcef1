import assert from 'node:assert/strict';
import { fatesOf, type WorkerEnd } from '../../../src/workers/fault-attribution.ts';
import { createRandom, seedFromEnv } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';

const test = suite('workers/fault-attribution');

const end = (by: WorkerEnd['by']): WorkerEnd => ({ by, error: 'E', message: 'm' });
const lost = (charged: boolean) => ({ kind: 'lost', charged, error: 'E', message: 'm' });
const run = (saved = false, stopping = false) => ({ saved, stopping });

const TABLE = [
  { by: 'crash', begun: [run()], fates: [[lost(true), true]] },
  { by: 'crash', begun: [run(true)], fates: [[lost(true), true]] },
  {
    by: 'crash',
    begun: [run(), run(true)],
    fates: [
      [lost(false), true],
      [lost(false), false],
    ],
  },
  { by: 'memory', begun: [run()], fates: [[{ kind: 'error', error: 'E', message: 'm' }, false]] },
  {
    by: 'memory',
    begun: [run(), run(true)],
    fates: [
      [lost(false), true],
      [lost(false), false],
    ],
  },
  {
    by: 'stuck',
    begun: [run(false, true), run()],
    fates: [
      [{ kind: 'stopped' }, false],
      [lost(false), true],
    ],
  },
  {
    by: 'stuck',
    begun: [run(true, true), run(true)],
    fates: [
      [{ kind: 'stopped' }, false],
      [lost(false), false],
    ],
  },
  {
    by: 'ended',
    begun: [run(), run(true), run(false, true)],
    fates: [
      [lost(false), false],
      [lost(false), false],
      [lost(false), false],
    ],
  },
] as const;

for (const { by, begun, fates } of TABLE)
  test(`X6 ${by} with ${begun.length} begun runs (${begun.map(({ saved }) => (saved ? 'saved' : 'unsaved')).join(', ')})`, () =>
    assert.deepEqual(
      fatesOf(end(by), begun).map(({ end: how, isSuspect }) => [how, isSuspect]),
      fates,
    ));

test('X6 no run is charged while another one could have been the cause', () => {
  const random = createRandom(seedFromEnv());
  for (let i = 0; i < 1_000; i++) {
    const begun = Array.from({ length: random.int(0, 5) }, () => run(random.chance(0.5), random.chance(0.3)));
    const by = random.pick(['crash', 'memory', 'stuck', 'ended'] as const);
    const fates = fatesOf(end(by), begun);
    assert.equal(fates.length, begun.length);
    const charged = fates.filter(
      ({ end: how }) => how.kind === 'error' || (how.kind === 'lost' && how.charged),
    );
    assert.ok(charged.length === 0 || begun.length === 1, JSON.stringify({ by, begun }));
  }
});

test.run();

/** The thread machine against the running server, over HTTP: once over its edges, then wherever chance leads. */
import * as assert from 'node:assert/strict';
import { createWalk, type Step } from '../conformance/walk.ts';
import { createRandom, seedFromEnv, type Random } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';

const test = suite('model: the running server');
const seed = seedFromEnv();

const STRATEGIES = ['reject', 'enqueue', 'interrupt', 'rollback'] as const;
type Strategy = (typeof STRATEGIES)[number];
type Which = 'active' | 'queued' | 'ended';

const [make, patch, write, finish, restart, remove] = (
  ['make', 'patch', 'write', 'finish', 'restart', 'delete'] as const
).map((name): Step => ({ do: name })) as [Step, Step, Step, Step, Step, Step];
const run = (strategy: Strategy, delayed = false): Step => ({ do: 'run', strategy, delayed });
const cancel = (which: Which, action: 'interrupt' | 'rollback' = 'interrupt'): Step => ({
  do: 'cancel',
  which,
  action,
});

/** Every edge that a request reaches for certain, and the requests that none of them allows. */
const TOUR: readonly Step[] = [
  ...[patch, run('enqueue'), remove, write, make, make, patch, write],
  // Waiting for its time.
  ...[run('reject', true), run('reject'), patch, write, run('enqueue', true), cancel('queued')],
  ...[cancel('queued', 'rollback'), cancel('ended')],
  // Running, with others behind.
  ...[run('reject'), run('reject'), patch, write, run('enqueue'), run('enqueue'), cancel('queued'), restart],
  ...[finish, finish, cancel('ended', 'rollback')],
  // Told to stop.
  ...[run('enqueue'), cancel('active'), write, run('enqueue'), run('interrupt'), run('rollback'), restart],
  ...[run('enqueue', true), cancel('active', 'rollback'), run('enqueue'), remove, make, patch, write],
];

const EDGES = [
  'absent ThreadCreated idle',
  'deleted ThreadCreated idle',
  ...['ThreadUpdated idle', 'StateUpdated idle', 'RunCreated queued', 'ThreadDeleted deleted'].map(
    (edge) => `idle ${edge}`,
  ),
  ...['ThreadUpdated queued', 'RunCreated queued', 'RunStarted running'].map((edge) => `queued ${edge}`),
  ...['RunCompleted queued', 'RunCompleted idle'].map((edge) => `queued ${edge}`),
  ...['ThreadUpdated running', 'RunCreated running', 'CheckpointSaved running'].map(
    (edge) => `running ${edge}`,
  ),
  ...['RunCancelRequested stopping', 'RunRequeued queued'].map((edge) => `running ${edge}`),
  ...['RunCompleted idle', 'RunCompleted queued', 'RunCompleted running'].map((edge) => `running ${edge}`),
  ...['RunCompleted idle', 'RunCompleted queued'].map((edge) => `stopping ${edge}`),
];

test('over HTTP every edge of the machine is answered as the machine says (D3, X1, X3)', () =>
  withServer({}, async (s) => {
    const walk = createWalk(s);
    try {
      for (const step of TOUR) await walk.take(step);
    } finally {
      walk.release();
    }
    assert.equal(walk.status, 'idle');
    assert.deepEqual(
      EDGES.filter((edge) => !walk.edges.has(edge)),
      [],
    );
  }));

function randomStep(random: Random): Step {
  const which = random.pick(['active', 'queued', 'ended'] as const);
  const step = random.int(1, 100);
  if (step <= 4) return make;
  if (step <= 10) return patch;
  if (step <= 16) return write;
  if (step <= 48) return run(random.pick(STRATEGIES), random.chance(0.15));
  if (step <= 66) return cancel(which, random.pick(['interrupt', 'rollback'] as const));
  if (step <= 90) return finish;
  if (step <= 95) return { do: 'burst' };
  return step <= 98 ? restart : remove;
}

for (let number = 0; number < 4; number++)
  test(`random walk ${number} over HTTP: API and machine agree after each step (X1, X3)`, () =>
    withServer({}, async (s) => {
      const random = createRandom(seed + number);
      const walk = createWalk(s);
      const steps = [make, ...Array.from({ length: 40 }, () => randomStep(random))];
      let taken = 0;
      try {
        for (const step of steps) {
          taken += 1;
          await walk.take(step);
        }
      } catch (error) {
        throw new Error(`after ${JSON.stringify(steps.slice(0, taken))}`, { cause: error });
      } finally {
        walk.release();
      }
    }));

test.run();

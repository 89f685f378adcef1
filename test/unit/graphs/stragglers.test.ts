import * as assert from 'uvu/assert';
import { createStragglers } from '../../../src/graphs/pool/stragglers.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';

const test = suite('graphs/pool/stragglers');

const MB = 2 ** 20;
const LIMIT = 100 * MB;
const [SMALL, LARGE] = [1, 2];

/** A worker with two threads that do not end. `stopped` is who was told, and when, in ms after the worker was. */
function given() {
  const clock = createManualClock();
  const stopped: (readonly [threadId: number, at: number])[] = [];
  let onTold: () => void = () => undefined;
  const told = new Promise<void>((resolve) => (onTold = resolve));
  let toldAt = 0;
  const stragglers = createStragglers({
    ...{ limit: LIMIT, clock },
    threadsOf: () => [SMALL, LARGE],
    used: (threadId) => (threadId === LARGE ? 80 : 5) * MB,
    stop: (threadId) => void stopped.push([threadId, clock.monotonic() - toldAt]),
  });
  const worker = { threadId: SMALL, mark: 'mark', told };
  return {
    stopped,
    tell(): void {
      toldAt = clock.monotonic();
      onTold();
    },
    /** `grows` in bytes a second. */
    async pass(ms: number, grows = 0): Promise<void> {
      for (let past = 0; past < ms; past += 100) {
        stragglers.look(worker, 500 * MB + (grows * past) / 1_000);
        await clock.advance(100);
      }
    },
  };
}

test('X4 given threads whose worker is about to be told to end, when time passes, then nobody speaks to them', async () => {
  const { stopped, pass } = given();
  await pass(20_000);
  assert.equal(stopped, []);
});

test('X4 given threads whose worker was told to end, when they are still there, then what used much is told soon, the others late, and none often', async () => {
  const { stopped, pass, tell } = given();
  await pass(100);
  tell();
  await pass(10_050);
  const at = (wanted: number): number[] => stopped.flatMap(([id, at]) => (id === wanted ? [at] : []));
  assert.equal(at(SMALL), [5_000, 10_000]);
  assert.equal(at(LARGE)[0], 500);
  assert.is(at(LARGE).length, 20);
});

test('X4 given threads whose worker was told to end, when the process grows by more than a limit, then all of them are told', async () => {
  const { stopped, pass, tell } = given();
  await pass(100);
  tell();
  await pass(1_600, LIMIT);
  assert.equal(
    stopped.filter(([id]) => id === SMALL),
    [[SMALL, 1_200]],
  );
});

test.run();

import * as assert from 'uvu/assert';
import { Worker } from 'node:worker_threads';
import { createStragglers } from '../../../src/graphs/pool/stragglers.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { openWorkerMemory } from '../../../src/kernel/worker-memory.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';
import { until } from '../../support/until.ts';

const test = suite('graphs/pool/stragglers');

const MB = 2 ** 20;
const LIMIT = 100 * MB;
const [OWN, SMALL, LARGE] = [1, 2, 3];

/** A worker and two threads that it started, which do not end. `stopped`: who was told, in ms after the worker was. */
function given() {
  const clock = createManualClock();
  const stopped: (readonly [threadId: number, at: number])[] = [];
  let onTold: () => void = () => undefined;
  const told = new Promise<void>((resolve) => (onTold = resolve));
  let toldAt = 0;
  const stop = (threadId: number) => void stopped.push([threadId, clock.monotonic() - toldAt]);
  const stragglers = createStragglers({
    ...{ limit: LIMIT, clock },
    threadsOf: () => [OWN, SMALL, LARGE],
    used: (threadId) => (threadId === LARGE ? 80 : 5) * MB,
    stop,
  });
  const worker = { threadId: OWN, mark: 'mark', told, tellAgain: () => stop(OWN) };
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

test('X4 given threads whose worker was told to end, when they are still there, then what used much is told soon, the others late, and the worker itself soon and then late', async () => {
  const { stopped, pass, tell } = given();
  await pass(100);
  tell();
  await pass(10_050);
  const at = (wanted: number): number[] => stopped.flatMap(([id, at]) => (id === wanted ? [at] : []));
  assert.equal(at(SMALL), [5_000, 10_000]);
  assert.equal(at(OWN), [500, 5_500]);
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

test('X4 given threads in endless loops that are asked something as they are told to end, when they are told again, then all of them end', async () => {
  const [clock, memory] = [systemClock(), openWorkerMemory()];
  const code = "require('node:worker_threads').parentPort.postMessage('begun'); for (;;);";
  try {
    // Every second one misses it, on two cores.
    for (let round = 0; round < 6; round++) {
      const thread = new Worker(code, { eval: true });
      const exited = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
      await new Promise((resolve) => thread.once('message', resolve));
      const { threadId } = thread;
      await until('it is known', async () => memory.threads().includes(threadId));
      const stragglers = createStragglers({
        ...{ limit: LIMIT, clock, stop: () => undefined },
        ...{ threadsOf: () => [threadId], used: () => 0 },
      });
      void memory.read(threadId, true);
      const tellAgain = () => void thread.terminate();
      const worker = { threadId, mark: 'mark', told: Promise.resolve(tellAgain()), tellAgain };
      let gone = false;
      void exited.then(() => (gone = true));
      await until('it is gone', async () => {
        stragglers.look(worker, undefined);
        return gone;
      });
    }
  } finally {
    memory.close();
  }
});

test.run();

import * as assert from 'uvu/assert';
import { createLeftovers } from '../../../src/graphs/pool/leftovers.ts';
import type { GraphWorker } from '../../../src/graphs/pool/graph-worker.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';

const test = suite('graphs/pool/leftovers');

const [NO_JOB, OPEN_JOB, OVER] = [-1, 1, 2];

/** A worker that stands still from the beginning, with one open run. `answer` is what it says when it is asked. */
function given(answer: () => Promise<unknown>) {
  const clock = createManualClock();
  let turnedAt = 0;
  const silence = (): number => clock.monotonic() - turnedAt;
  const state = { ends: 0, asked: 0 };
  const worker = {
    ...{ threadId: 7, load: 1, silence, stillness: silence, standsStill: () => silence() > 500 },
    has: (job: number) => job === OPEN_JOB,
    end: () => void state.ends++,
  } as unknown as GraphWorker;
  const evaluate = (): Promise<unknown> => {
    state.asked += 1;
    return answer();
  };
  const leftovers = createLeftovers(clock, { evaluate });
  return {
    state,
    turn: () => void (turnedAt = clock.monotonic()),
    async pass(ms: number): Promise<void> {
      for (let past = 0; past < ms; past += 100) {
        leftovers.look(worker);
        await clock.advance(100);
      }
    },
  };
}

test('X4 given a worker without a job whose event loop turns, when it is busy for a minute, then it is ended, and not when it rests or gets a job', () => {
  const ends = (part: number, loads: (at: number) => number): number[] => {
    let [now, busy] = [0, 0];
    const at: number[] = [];
    const worker = {
      get load() {
        return loads(now);
      },
      ...{ threadId: 7, silence: () => 0, stillness: () => 0, standsStill: () => false, has: () => true },
      ...{ busy: () => busy, end: () => void at.push(now) },
    } as unknown as GraphWorker;
    const clock = { ...createManualClock(), monotonic: () => now };
    const leftovers = createLeftovers(clock, { evaluate: async () => undefined });
    for (; now <= 100_000; now += 500, busy += 500 * part) leftovers.look(worker);
    return at;
  };
  assert.equal(
    ends(1, () => 0),
    [60_000],
  );
  assert.equal(
    ends(0.9, () => 0),
    [],
  );
  assert.equal(
    ends(1, (at) => (at === 50_000 ? 1 : 0)),
    [],
  );
});

test('X4 given a worker that works for a job that is over, when it is asked, then it is ended', async () => {
  const { state, pass } = given(async () => OVER);
  await pass(3_500);
  assert.is(state.ends, 1);
});

test('X4 given a worker that works for no job, when it says so twice, then it is ended, and not before', async () => {
  const { state, pass } = given(async () => NO_JOB);
  await pass(5_900);
  assert.equal(state, { ends: 0, asked: 1 });
  await pass(500);
  assert.equal(state, { ends: 1, asked: 2 });
});

for (const [what, between] of Object.entries({ 'an open run': OPEN_JOB, nothing: undefined }))
  test(`X4 given a worker that works for no job now and then, when it says ${what} in between, then it is not ended`, async () => {
    let times = 0;
    const { state, pass } = given(async () => (times++ % 2 === 0 ? NO_JOB : between));
    await pass(30_000);
    assert.is(state.ends, 0);
  });

test('X4 given a worker that works for no job, when its event loop turns before it is asked again, then it begins anew', async () => {
  const { state, pass, turn } = given(async () => NO_JOB);
  for (let rounds = 0; rounds < 5; rounds++) {
    await pass(4_000);
    turn();
  }
  assert.is(state.ends, 0);
});

test('X4 given a worker in native code, when it answers nothing, then no more questions are put to it', async () => {
  const { state, pass } = given(() => new Promise(() => undefined));
  await pass(30_000);
  assert.equal(state, { ends: 0, asked: 1 });
});

test.run();

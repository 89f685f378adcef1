import assert from 'node:assert/strict';
import { openPulse } from '../../../src/graphs/pool/pulse.ts';
import { createServerSide } from '../../../src/graphs/pool/server-side.ts';
import { BEATS } from '../../../src/graphs/pool/sides.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';

const test = suite('graphs/pool/pulse');

/** A worker whose loop turns only when it is told to, looked at all the time. */
function given() {
  const clock = createManualClock();
  const pulse = openPulse(clock);
  return {
    pulse,
    turn: () => Atomics.add(new Int32Array(pulse.shared), BEATS, 1),
    async pass(ms: number): Promise<void> {
      for (let past = 0; past < ms; past += 100) {
        await clock.advance(100);
        pulse.look();
      }
    },
  };
}

test('X4 given a worker that was given nothing, when it does not turn, then it is silent and stands still', async () => {
  const { pulse, pass, turn } = given();
  await pass(500);
  assert.deepEqual([pulse.isSilent(), pulse.standsStill()], [false, false]);
  await pass(100);
  assert.deepEqual([pulse.isSilent(), pulse.standsStill(), pulse.stillness()], [true, true, 600]);
  turn();
  await pass(100);
  assert.deepEqual([pulse.isSilent(), pulse.standsStill()], [false, false]);
});

test('X4 given a worker that was given much to read, when it does not turn, then it is silent, and stands still only after the time for that', async () => {
  const { pulse, pass } = given();
  pulse.give(1_000);
  pulse.give(2_000);
  await pass(3_500);
  assert.deepEqual([pulse.isSilent(), pulse.silence(), pulse.standsStill()], [true, 3_500, false]);
  await pass(100);
  assert.deepEqual([pulse.standsStill(), pulse.stillness()], [true, 600]);
});

test('X4 given a worker that was given more than anybody reads, when it does not turn, then it stands still all the same', async () => {
  const { pulse, pass } = given();
  for (let i = 0; i < 100; i++) pulse.give(60_000);
  await pass(10_500);
  assert.equal(pulse.standsStill(), false);
  await pass(100);
  assert.equal(pulse.standsStill(), true);
});

test('X4 given checkpoints that a worker asks for, when it is given them, then it is known how much there is to read', async () => {
  const heard: number[] = [];
  const part = (data: string) => ({ channel: 'c', version: '1', data });
  const found = { body: 'four', blobs: [part('x'.repeat(1_000))], writes: [part('five!')] } as never;
  const checkpoints = {
    load: async (ns: string) => (ns === '' ? found : undefined),
    list: async () => [found, found],
  };
  const { server } = createServerSide({
    ...{ jobs: new Map([[1, { checkpoints, lose: () => undefined }]]), clock: createManualClock(), fetch },
    readSource: async () => undefined,
    onReady: () => undefined,
    onGiven: (characters) => heard.push(characters),
    onFile: () => undefined,
    onStray: () => undefined,
  });
  await server.load(1, '');
  await server.load(1, 'nothing');
  await server.list(1, {});
  assert.deepEqual(heard, [1_009, 2_018]);
});

test.run();

import * as assert from 'uvu/assert';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { endThread } from '../../../src/graphs/pool/end-thread.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';

const test = suite('graphs/end-thread');
const ROUNDS = 20;
const port = { close: () => undefined };

/** Keys are made by other threads of Node, and arrive all the time. */
const KEYS = `const { parentPort } = require('node:worker_threads');
const { subtle } = require('node:crypto').webcrypto;
const leave = process.reallyExit.bind(process, 0);
parentPort.on('message', () => leave());
const next = () => subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt']).then(next);
for (let i = 0; i < 8; i++) next().catch(() => undefined);
parentPort.postMessage('begun');`;

test('X4 given a thread with native work under way, when it is ended, then the process lives', async () => {
  const clock = systemClock();
  for (let round = 0; round < ROUNDS; round++) {
    const worker = new Worker(KEYS, { eval: true });
    const exited = once(worker, 'exit').then(() => undefined);
    await once(worker, 'message');
    const ask = (): void => worker.postMessage('leave');
    await endThread({ worker, port, exited, clock, ask });
    await exited;
  }
});

test('X4 given a thread that does not hear, when it is ended, then it is gone all the same', async () => {
  for (const ask of [undefined, () => undefined]) {
    const worker = new Worker('for (;;);', { eval: true });
    const exited = once(worker, 'exit').then(() => undefined);
    await once(worker, 'online');
    await endThread({ worker, port, exited, clock: systemClock(), ask });
    await exited;
  }
});

test('a thread that misses its termination is terminated again until it is gone, without a warning (X4)', async () => {
  // given a thread that ignores the first twelve calls
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on('warning', onWarning);
  const worker = new Worker('for (;;);', { eval: true });
  const exited = once(worker, 'exit').then(() => undefined);
  await once(worker, 'online');
  let calls = 0;
  const deaf = {
    setMaxListeners: (count: number) => worker.setMaxListeners(count),
    terminate: () => {
      // Each listens for the exit, as a call that is missed does.
      worker.once('exit', () => undefined);
      return ++calls > 12 ? worker.terminate() : Promise.resolve(0);
    },
  } as unknown as Worker;
  try {
    // when it is ended
    const clock = createManualClock();
    await endThread({ worker: deaf, port, exited, clock, ask: undefined });
    for (let again = 0; again < 12; again++) await clock.advance(500);
    // then it is gone, and nothing is left to do
    assert.is(calls, 13);
    await exited;
    assert.equal([clock.pending(), warnings], [[], []]);
  } finally {
    process.off('warning', onWarning);
    await worker.terminate();
  }
});

test.run();

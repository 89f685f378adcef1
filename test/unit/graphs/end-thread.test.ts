import * as assert from 'uvu/assert';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { endThread } from '../../../src/graphs/pool/end-thread.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { openLinkGate } from '../../../src/kernel/link-gate.ts';
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
    await endThread({ worker, port, exited, linkGate: openLinkGate(), clock, ask });
    await exited;
  }
});

test('X4 given a thread that does not hear, when it is ended, then it is gone all the same', async () => {
  for (const ask of [undefined, () => undefined]) {
    const worker = new Worker('for (;;);', { eval: true });
    const exited = once(worker, 'exit').then(() => undefined);
    await once(worker, 'online');
    await endThread({ worker, port, exited, linkGate: openLinkGate(), clock: systemClock(), ask });
    await exited;
  }
});

test('given a thread that was ended, when it is told again and again, then nobody is warned of those who wait for it', async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on('warning', onWarning);
  const worker = new Worker('for (;;);', { eval: true });
  const exited = once(worker, 'exit').then(() => undefined);
  await once(worker, 'online');
  const ended = { worker, port, exited, linkGate: openLinkGate(), clock: systemClock(), ask: undefined };
  await endThread(ended);
  for (let i = 0; i < 12; i++) void worker.terminate();
  await exited;
  process.off('warning', onWarning);
  assert.equal(warnings, []);
});

test.run();

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { openWorkerMemory } from '../../../src/kernel/worker-memory.ts';
import { suite } from '../../support/suite.ts';

const test = suite('kernel/worker-memory');

test('X4 given a thread in an endless loop, when it is stopped from outside, then it ends', async () => {
  const memory = openWorkerMemory();
  const worker = new Worker('for (;;);', { eval: true });
  try {
    const exited = once(worker, 'exit');
    // Known a moment after its start.
    while (!memory.threads().includes(worker.threadId)) await new Promise(setImmediate);
    memory.stop(worker.threadId);
    await exited;
  } finally {
    memory.close();
    await worker.terminate();
  }
});

test.run();

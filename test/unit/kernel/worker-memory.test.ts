import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { openWorkerMemory } from '../../../src/kernel/worker-memory.ts';
import { ownScript } from '../../../src/kernel/own-modules.ts';
import { suite } from '../../support/suite.ts';

const test = suite('kernel/worker-memory');

const LOOP = "require('node:worker_threads').parentPort.postMessage('begun'); for (;;);";
const LOOPS = {
  'an endless loop': LOOP,
  // Node keeps books of what it calls, and ends the process when something has left them open.
  'an endless loop that Node has called': `setImmediate(() => { ${LOOP} })`,
};

for (const [what, code] of Object.entries(LOOPS))
  test(`X4 given a thread in ${what}, when it is stopped from outside, then it ends, and the process does not`, async () => {
    const memory = openWorkerMemory();
    const execArgv = ['--require', ownScript('graphs/pool/thread-guard')];
    const worker = new Worker(code, { eval: true, execArgv });
    try {
      const exited = once(worker, 'exit');
      await once(worker, 'message');
      // Known a moment after its start.
      while (!memory.threads().includes(worker.threadId)) await new Promise(setImmediate);
      memory.stop(worker.threadId);
      await exited;
    } finally {
      memory.close();
      await worker.terminate();
    }
  });

test('X4 given threads that do nothing, when they are stopped from outside, then they end, and the process does not', async () => {
  const memory = openWorkerMemory();
  const code =
    "require('node:worker_threads').parentPort.on('message', () => undefined).postMessage('begun')";
  const execArgv = ['--require', ownScript('graphs/pool/thread-guard')];
  // Something that is said to a thread while it is taken apart is not always met.
  for (let round = 0; round < 10; round++) {
    const workers = Array.from({ length: 5 }, () => new Worker(code, { eval: true, execArgv }));
    const exited = workers.map((worker) => once(worker, 'exit'));
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    const ids = workers.map(({ threadId }) => threadId);
    while (!ids.every((id) => memory.threads().includes(id))) await new Promise(setImmediate);
    ids.forEach(memory.stop);
    await Promise.all(exited);
  }
  memory.close();
});

test('X4 given threads that have missed their end over a question, when they are stopped from outside, then they end', async () => {
  const memory = openWorkerMemory();
  const execArgv = ['--require', ownScript('graphs/pool/thread-guard')];
  // Every second one misses it, on two cores.
  for (let round = 0; round < 6; round++) {
    const worker = new Worker(LOOP, { eval: true, execArgv });
    const exited = once(worker, 'exit');
    await once(worker, 'message');
    while (!memory.threads().includes(worker.threadId)) await new Promise(setImmediate);
    void memory.read(worker.threadId, true);
    void worker.terminate();
    // Who has not missed it is taken apart by then.
    const late = setTimeout(() => memory.stop(worker.threadId), 500);
    await exited;
    clearTimeout(late);
  }
  memory.close();
});

test('X4 given a thread that cannot leave by itself, when it is stopped from outside, then nothing of it breaks off, for that would end the process', async () => {
  const memory = openWorkerMemory();
  const code = `const { parentPort } = require('node:worker_threads');
    const turn = () => { for (const end = Date.now() + 5; Date.now() < end;); parentPort.postMessage('turned'); setImmediate(turn); };
    setImmediate(turn);`;
  const worker = new Worker(code, { eval: true });
  try {
    await once(worker, 'message');
    while (!memory.threads().includes(worker.threadId)) await new Promise(setImmediate);
    memory.stop(worker.threadId);
    for (let turns = 0; turns < 20; turns++) await once(worker, 'message');
  } finally {
    memory.close();
    await worker.terminate();
  }
});

test.run();

/** The times that decide about a worker's health, from what its heartbeats say. */
import assert from 'node:assert/strict';
import { duplexPair, PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { ownTime } from '../../../src/worker/own-time.ts';
import { encode } from '../../../src/workers/frame.ts';
import { isDoubtful } from '../../../src/workers/health.ts';
import { encodeHeartbeat, type Heartbeat } from '../../../src/workers/heartbeat.ts';
import { PROTOCOL, TYPE } from '../../../src/workers/messages.ts';
import { openWorker, type GraphWorker } from '../../../src/workers/worker.ts';
import { suite } from '../../support/suite.ts';

const test = suite('workers/worker-time');

interface Scene {
  readonly worker: GraphWorker;
  hello(): Promise<void>;
  beat(heartbeat: Partial<Heartbeat>): Promise<void>;
  /** The server looks after so many milliseconds of its clock. */
  look(afterMs: number): void;
}

/** A worker whose process is the test. */
function scene(): Scene {
  const [channel, end] = duplexPair();
  end.resume();
  const lifeline = new PassThrough();
  let now = 0;
  const worker = openWorker({
    process: {
      ...{ pid: 1, channel, lifeline, stdout: new PassThrough(), stderr: new PassThrough() },
      ...{ exited: new Promise(() => undefined), kill: () => undefined, leave: async () => undefined },
    },
    clock: { monotonic: () => now, now: () => now, after: () => () => undefined },
    ...{
      welcome: { graphs: [], base: '', token: '', isDevelopment: false },
      memoryMb: 100,
      readSource: async () => undefined,
    },
    ...{
      onFile: () => undefined,
      onUncaught: () => undefined,
      onSuspect: () => undefined,
      lastWords: () => '',
    },
  });
  return {
    worker,
    async hello() {
      end.write(encode({ type: TYPE.hello, stream: 0, head: { protocol: PROTOCOL }, blobs: [] }));
      await turn();
    },
    async beat(heartbeat) {
      lifeline.write(encodeHeartbeat({ stalledMs: 0, busyPermille: 0, rss: 0, ownMs: 0, ...heartbeat }));
      await turn();
    },
    look(afterMs) {
      now += afterMs;
      worker.tick();
    },
  };
}

test('X4 no time of a worker passes before its hello', async () => {
  const { worker, hello, beat, look } = scene();
  await beat({ ownMs: 60_000 });
  look(100_000);
  assert.deepEqual([worker.ownMs(), worker.silentMs()], [0, 0]);
  await hello();
  await beat({ ownMs: 60_250 });
  look(100);
  assert.equal(worker.ownMs(), 250);
});

test('X4 a worker that has not been scheduled for nine seconds is not doubtful, one that is stalled is', async () => {
  const { worker, hello, beat, look } = scene();
  await hello();
  await beat({ ownMs: 10 });
  for (let passed = 0; passed < 9_000; passed += 100) look(100);
  assert.deepEqual([worker.ownMs(), worker.silentMs(), isDoubtful(worker)], [10, 9_000, false]);
  await beat({ ownMs: 400, stalledMs: 350 });
  look(100);
  assert.equal(isDoubtful(worker), true);
});

test('X4 a minute in which the server stood still is no minute of silence, and none of a stall', async () => {
  const { worker, hello, beat, look } = scene();
  await hello();
  look(100);
  look(61_000);
  assert.equal(worker.silentMs() <= 600, true, `${worker.silentMs()}`);
  for (let ownMs = 250; ownMs <= 60_000; ownMs += 250) await beat({ ownMs });
  look(100);
  assert.equal(worker.ownMs(), 500);
});

test('a thread that computes has its processor time and no more, however long that took', () => {
  const own = ownTime();
  const before = process.cpuUsage();
  while (process.cpuUsage(before).user < 100_000);
  const ownMs = own(10_000, false);
  assert.ok(ownMs > 50 && ownMs < 5_000, `${ownMs} ms`);
});

test('a thread that waits has the time that passes, half a second a heartbeat at most', async () => {
  const code = `import { parentPort } from 'node:worker_threads';
    import { ownTime } from ${JSON.stringify(new URL('../../../src/worker/own-time.ts', import.meta.url).href)};
    const own = ownTime();
    // The main thread may be busy at the first looks.
    while (own(10_000, false) !== 500);
    parentPort.postMessage('waits');`;
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), {
    execArgv: process.execArgv,
  });
  assert.equal(await new Promise((resolve) => thread.once('message', resolve)), 'waits');
  await thread.terminate();
});

test.run();

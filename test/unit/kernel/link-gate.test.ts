import * as assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setEnvironmentData, Worker } from 'node:worker_threads';
import { systemClock } from '../../../src/kernel/clock.ts';
import {
  LINK_GATE,
  LINK_GATE_OPTION,
  LINK_GATE_SCRIPT,
  openLinkGate,
  type LinkGate,
} from '../../../src/kernel/link-gate.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';

const test = suite('kernel/link-gate');

/** As in the gate. */
const CLOSED = -(2 ** 30);
const MODULES = 400;
const ROUNDS = 4;
const LINKED = 'linked';
const clock = systemClock();

const OPTIONS = {
  lacking:
    Number.parseInt(process.versions.node) < 24 ? undefined : 'this version of Node links without a question',
};

/** A program that requires a module of many, and says so. */
async function writeModules(dir: string): Promise<string> {
  const names = Array.from({ length: MODULES }, (_, i) => `m${i}`);
  for (const name of names) await writeFile(join(dir, `${name}.mjs`), `export const ${name} = 1;`);
  const imports = names.map((name) => `import { ${name} } from './${name}.mjs'; export { ${name} };`);
  await writeFile(join(dir, 'all.mjs'), imports.join('\n'));
  const program = join(dir, 'program.cjs');
  await writeFile(
    program,
    `const { getEnvironmentData, parentPort } = require('node:worker_threads');
    require('./all.mjs');
    Atomics.store(getEnvironmentData(${JSON.stringify(LINKED)}), 0, 1);
    parentPort.postMessage(0);`,
  );
  return program;
}

const { closeBeforeEnds } = createRequire(import.meta.url)(LINK_GATE_SCRIPT) as {
  closeBeforeEnds(ending: typeof Worker, gates: WeakMap<Worker, Int32Array>): void;
};

const startThread = (program: string, gate: LinkGate, nested = false, Thread = Worker) => {
  const linked = new Int32Array(new SharedArrayBuffer(4));
  setEnvironmentData(LINK_GATE, [gate.inside]);
  setEnvironmentData(LINKED, linked);
  const options = { execArgv: [LINK_GATE_OPTION, '--require', LINK_GATE_SCRIPT] };
  const thread = nested
    ? new Worker(
        `const { Worker } = require('node:worker_threads');
        new Worker(${JSON.stringify(program)}, ${JSON.stringify(options)});`,
        { eval: true },
      )
    : new Thread(program, options);
  return { thread, linked };
};

for (const nested of [false, true])
  test(
    `X4 given a thread that links modules${nested ? ', started by another,' : ''} when it is told to end, then the process lives`,
    () =>
      withTempDir(async (dir) => {
        const program = await writeModules(dir);
        for (let caught = 0; caught < ROUNDS;) {
          const gate = openLinkGate();
          const { thread, linked } = startThread(program, gate, nested);
          // It is inside for a millisecond: nothing else is done here until then.
          while (Atomics.load(gate.inside, 0) === 0 && Atomics.load(linked, 0) === 0);
          if (Atomics.load(linked, 0) === 0) caught += 1;
          await gate.close(clock, 10_000);
          await thread.terminate();
          assert.equal(Atomics.load(gate.inside, 0), CLOSED);
        }
      }),
    OPTIONS,
  );

test(
  'X4 given a thread that links modules, when its owner ends it as threads of graphs are ended, then the process lives',
  () =>
    withTempDir(async (dir) => {
      class Owned extends Worker {}
      const gates = new WeakMap<Worker, Int32Array>();
      closeBeforeEnds(Owned, gates);
      const program = await writeModules(dir);
      for (let caught = 0; caught < ROUNDS;) {
        const gate = openLinkGate();
        const { thread, linked } = startThread(program, gate, false, Owned);
        gates.set(thread, gate.inside);
        while (Atomics.load(gate.inside, 0) === 0 && Atomics.load(linked, 0) === 0);
        if (Atomics.load(linked, 0) === 0) caught += 1;
        await thread.terminate();
        assert.equal(Atomics.load(gate.inside, 0), CLOSED);
      }
    }),
  OPTIONS,
);

test(
  'X4 given a closed gate, when a thread wants to link, then it waits for its end',
  () =>
    withTempDir(async (dir) => {
      const program = await writeModules(dir);
      const gate = openLinkGate();
      await gate.close(clock, 0);
      const { thread, linked } = startThread(program, gate);
      const other = startThread(program, openLinkGate());
      await once(other.thread, 'message');
      await thread.terminate();
      assert.equal(Atomics.load(linked, 0), 0);
    }),
  OPTIONS,
);

test('X4 given a thread that is inside nearly all the time, when its gate is closed, then it enters no more, and the gate is closed as it leaves', async () => {
  const gate = openLinkGate();
  Atomics.add(gate.inside, 0, 1);
  const closed = gate.close(clock, 60_000);
  assert.ok(Atomics.load(gate.inside, 0) < 0);
  Atomics.sub(gate.inside, 0, 1);
  await closed;
  assert.equal(Atomics.load(gate.inside, 0), CLOSED);
});

test('given a gate that graph code holds open, when it is closed, then that is waited for no longer than allowed', async () => {
  const gate = openLinkGate();
  Atomics.add(gate.inside, 0, 1);
  await gate.close(clock, 5);
  assert.equal(Atomics.load(gate.inside, 0), CLOSED + 1);
});

test.run();

/** What a re-execution cannot reach: every function of Node that leads outside is called, with receivers that listen. */
import assert from 'node:assert/strict';
import dgram from 'node:dgram';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import net, { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/kernel/clock.ts';
import type { Json } from '../../src/kernel/json.ts';
import { startClosed, type ClosedProcess } from '../../src/past/reexecution/closed-process.ts';
import type { Reexecution } from '../../src/past/reexecution/execute.ts';
import type { RunData } from '../../src/past/reexecution/run-data.ts';
import { waysOf, type Outside } from '../fixtures/outside/ways.ts';
import { scaled } from '../support/scaled.ts';
import { suite } from '../support/suite.ts';
import { withTempDir } from '../support/temp-dir.ts';
import { withModelServer } from './model-server.ts';
import { INVENTORY } from './outside-inventory.ts';
import { withPrograms } from './programs.ts';

const test = suite('what a re-execution cannot reach');

const WAYS = fileURLToPath(new URL('../fixtures/outside/ways.ts', import.meta.url));

const ENDING = fileURLToPath(new URL('../fixtures/recorded/outside.ts', import.meta.url));
const CONFIG = fileURLToPath(new URL('../fixtures/recorded', import.meta.url));

interface Receivers {
  readonly outside: Outside;
  /** What the receivers got. */
  readonly arrived: readonly string[];
}

async function withReceivers(use: (receivers: Receivers) => Promise<void>): Promise<void> {
  await withTempDir(async (dir) => {
    const folder = join(dir, 'outside');
    await mkdir(folder);
    await writeFile(join(folder, 'kept'), 'kept');
    const arrived: string[] = [];
    const socket = join(dir, 'socket');
    const [tcp, path] = ['TCP', 'path socket'].map((name) =>
      net.createServer((connection) => {
        arrived.push(name);
        connection.destroy();
      }),
    ) as [net.Server, net.Server];
    const udp = dgram.createSocket('udp4', () => void arrived.push('UDP'));
    tcp.listen(0, '127.0.0.1');
    path.listen(socket);
    udp.bind(0, '127.0.0.1');
    await Promise.all([tcp, path, udp].map((receiver) => once(receiver, 'listening')));
    try {
      const outside = {
        ...{ folder, tcp: (tcp.address() as AddressInfo).port, udp: udp.address().port, socket },
      };
      await use({ arrived, outside });
    } finally {
      for (const receiver of [tcp, path, udp]) receiver.close();
    }
  });
}

/** Executes runs of a plain function that have no recording. Returns what its code was refused after them. */
async function withClosed(
  { file, graphId, env = {} }: { file: string; graphId: string; env?: Record<string, string> },
  use: (run: (input: Json) => Promise<Reexecution | string>) => Promise<void>,
): Promise<readonly string[]> {
  const closed = startClosed({
    ...{ graphs: [{ id: graphId, file, exportName: graphId }], env, live: false, memoryMb: 128 },
    ...{ timeoutMs: scaled(20_000), clock: systemClock(), output: 'nowhere' },
  });
  let late: readonly string[] = [];
  try {
    await use((input) => closed.execute(...orderOf(graphId, input)));
  } finally {
    late = await closed.end();
  }
  return late;
}

function orderOf(graphId: string, input: Json): Parameters<ClosedProcess['execute']> {
  const [threadId, runId] = ['01a2156e-4bff-7000-8435-884746cae09b', '01a2156e-4c60-7000-8e4d-0c4b05150093'];
  const kwargs = { input, config: {}, streamMode: ['values'], streamSubgraphs: false };
  const data = {
    run: { threadId, runId, graphId, assistantId: threadId, attempt: 1, kwargs, metadata: {} },
    ...{ base: null, parts: [], replaced: new Set(), isWhole: true, resume: false },
    trace: {
      checkpoints: [],
      writes: [],
      frames: [],
      outcome: { kind: 'success', next: [], interrupts: [] },
    },
    before: async () => undefined,
    listBefore: async () => [],
    writesBefore: async () => [],
  } as unknown as RunData;
  return [data, { match: 'exact', live: false, answers: new Map(), set: {}, stubs: [], allowUnused: false }];
}

test('every export of Node is in the inventory of what reaches outside', () => {
  const require = createRequire(import.meta.url);
  const missing: string[] = [];
  for (const [module, { closed = '', harmless = '', why = {} }] of Object.entries(INVENTORY)) {
    const listed = new Set([...closed.split(' '), ...harmless.split(' '), ...Object.keys(why)]);
    for (const name of Object.getOwnPropertyNames(require(`node:${module}`)))
      if (!listed.has(name) && !['length', 'name', 'prototype'].includes(name))
        missing.push(`${module}.${name}`);
  }
  assert.deepEqual(missing, []);
});

test('every closed export is called by the test below', () => {
  const called = new Set(
    Object.keys(waysOf({ folder: '', tcp: 0, udp: 0, socket: '' })).map((way) => way.split(' ')[0]),
  );
  const require = createRequire(import.meta.url);
  const uncalled = Object.entries(INVENTORY).flatMap(([module, { closed = '' }]) =>
    closed
      .split(' ')
      .filter((name) => name !== '' && require(`node:${module}`)[name] !== undefined)
      .map((name) => `${module}.${name}`)
      .filter((way) => !called.has(way)),
  );
  assert.deepEqual(uncalled, []);
});

test('whatever leads outside is refused by name in a re-execution, and nothing arrives (R1)', () =>
  withReceivers(async ({ outside, arrived }) => {
    // when
    const open: string[] = [];
    await withClosed({ file: WAYS, graphId: 'reach' }, async (run) => {
      for (const way of Object.keys(waysOf(outside))) {
        const result = await run({ way, outside } as unknown as Json);
        const isRefused =
          typeof result !== 'string' && (result.reasons.length > 0 || result.request !== undefined);
        if (!isRefused) open.push(`${way}: ${JSON.stringify(result)}`);
      }
    });
    // then
    assert.deepEqual(open, []);
    assert.deepEqual(arrived, []);
    assert.deepEqual(await readdir(outside.folder), ['kept']);
    assert.equal(await readFile(join(outside.folder, 'kept'), 'utf8'), 'kept');
  }));

/** What the report says of runs that end their process. */
const DEATHS: Readonly<Record<string, RegExp>> = {
  kill: /^the process ended with SIGKILL$/,
  ends: /^the process ended with 4$/,
  memory: /^the process ended with SIGABRT: .*heap/,
};

/** What the report says of runs whose errors nothing catches, or whose code has lost its context. */
const PLANTED: Readonly<Record<string, RegExp>> = {
  exit: /"error":"ProcessExit".*"verdict":"different"/,
  throws: /"message":"thrown outside of any await".*"verdict":"different"/,
  awaited: /"outcome":\{"kind":"success".*"reasons":\[\]/,
  waits: /"verdict":"different"/,
  collected: /"reasons":\["a socket in node ending, step 0"\],"verdict":"untried"/,
};

test('whatever ends the process of a re-execution ends in a verdict', async () => {
  for (const [how, expected] of Object.entries(DEATHS))
    await withClosed({ file: ENDING, graphId: 'ending' }, async (run) => {
      assert.match(String(await run({ how })), expected, how);
    });
});

test('errors that nothing catches belong to their run; code without a context is closed (R1)', async () => {
  const late = await withClosed({ file: ENDING, graphId: 'ending' }, async (run) => {
    for (const [how, expected] of Object.entries(PLANTED))
      assert.match(JSON.stringify(await run({ how })), expected, how);
    await run({ how: 'late' });
  });
  assert.match(late.join(), /^a child process \(touch\) after run \S+ had ended$/);
});

test('what modules are refused while they load counts for every run of the process (R1)', async () => {
  const refused = /^a request \(GET .*\) in the graph, while it loads$/;
  const late = await withClosed(
    { file: ENDING, graphId: 'ending', env: { PLANTED: 'load' } },
    async (run) => {
      await run({});
      const second = (await run({})) as Reexecution;
      assert.match(second.reasons.join(), refused);
      assert.equal(second.verdict, 'untried');
    },
  );
  // The module does not await its request, which may have come after the first run.
  for (const what of late) assert.match(what, refused);
});

/** What `replay` says of each way that a recorded run took. */
const NAMED: Readonly<Record<string, string>> = {
  write: 'a write to .*/written',
  spawn: 'a child process \\(true\\)',
  worker: 'a worker thread',
  lookup: 'DNS',
  datagram: 'UDP',
  database: 'a database \\(.*/written.db\\)',
};

test('runs that reach outside are named; a run that ends its process leaves the others judged', () =>
  withModelServer((model) =>
    withPrograms(async (programs) => {
      // given
      const data = join(programs.dir, 'data');
      const [temporary, outside] = [join(programs.dir, 'temporary'), join(programs.dir, 'outside')];
      await mkdir(temporary);
      await mkdir(outside);
      const env = { MODEL_URL: model.url, OUTSIDE: outside, TMPDIR: temporary };
      const server = await programs.serve({ args: ['--config', CONFIG], env });
      const start = async (graph: string, input: object): Promise<void> => {
        await server.ask('POST', '/runs/wait', { assistant_id: graph, input, on_completion: 'keep' });
      };
      await start('ending', { isPlanted: true });
      await start('ending', { isPlanted: false });
      for (const graph of ['counting', 'counting', 'cached', 'cached']) await start(graph, {});
      for (const way of [...Object.keys(NAMED), 'temporary']) await start('reaching', { way });
      const { json } = await server.ask('POST', '/threads', {});
      const waiting = { assistant_id: 'counting', input: {}, after_seconds: 10_000 };
      await server.ask('POST', `/threads/${json.thread_id}/runs`, waiting);
      // when
      const replay = (planted: string) =>
        programs.run({
          args: ['replay', '--check', '--config', CONFIG, '--data', data, '--all'],
          env: { ...env, PLANTED: planted },
        });
      const [killed, leaking] = [await replay('kill'), await replay('leak')];
      // then
      assert.match(killed.output, /untried .*: the run has not ended/);
      assert.match(killed.output, /untried .*: the process ended with SIGKILL/);
      assert.match(
        killed.output,
        /untried .*: a request .*\/token\) in node cached, .* was answered before this run/,
      );
      for (const name of Object.values(NAMED))
        assert.match(
          killed.output,
          new RegExp(`untried .*: ${name} of node reaching, step 0 is not recorded`),
        );
      assert.match(killed.output, /14 runs: 9 untried, 5 equal/);
      assert.match(leaking.output, /14 runs: 8 untried, 6 equal/);
    }),
  ));

test.run();

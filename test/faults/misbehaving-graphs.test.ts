/** Graphs with the faults of ordinary code, on one server: what becomes of each run, and that the server goes on. */
import * as assert from 'uvu/assert';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRandom, seedFromEnv } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';
import { assertVerified } from '../support/assert-verified.ts';
import { withPrograms, type ServerProgram } from '../e2e/programs.ts';

const test = suite('misbehaving graphs');

const CONFIG = fileURLToPath(new URL('../fixtures/misbehaving/platform.json', import.meta.url));

type Expected =
  /** What the run leaves behind. */
  | { readonly values: object }
  /** How it fails: the error's name, and what its message says. */
  | { readonly error: string; readonly says?: RegExp }
  /** It never ends by itself: is cancelled once it has begun. */
  | 'cancelled';

const OUT_OF_MEMORY: Expected = { error: 'WorkerHeapLimit', says: /PLATFORM_WORKER_MEMORY_MB/ };
const FINE: Expected = { values: { fine: true } };

const GRAPHS: Readonly<Record<string, Expected>> = {
  spins: 'cancelled',
  spinsInMicrotasks: 'cancelled',
  backtracks: 'cancelled',
  waitsForMemory: 'cancelled',
  ignoresSignal: 'cancelled',
  neverResolves: 'cancelled',
  returnHangs: 'cancelled',
  yieldsForEver: 'cancelled',
  nodeSpins: 'cancelled',
  nodeNeverResolves: 'cancelled',
  eatsHeap: OUT_OF_MEMORY,
  eatsSlowly: OUT_OF_MEMORY,
  nodeEatsHeap: OUT_OF_MEMORY,
  exitsForReal: { error: 'WorkerCrashed', says: /code 5/ },
  throwsNullUnheard: { error: 'WorkerCrashed', says: /throw null/ },
  floodsOutputAtOnce: FINE,
  exits: { error: 'ProcessExit', says: /process\.exit\(3\)/ },
  exitsLater: { error: 'ProcessExit', says: /process\.exit\(4\)/ },
  nodeExits: { error: 'ProcessExit', says: /process\.exit\(3\)/ },
  aborts: { error: 'WorkerCrashed', says: /SIGABRT/ },
  throwsLater: { error: 'RangeError', says: /nobody catches this/ },
  nodeThrowsLater: { error: 'RangeError', says: /nobody catches this/ },
  rejectsUnheard: { error: 'RangeError', says: /nobody hears this/ },
  nodeRejectsUnheard: { error: 'RangeError', says: /nobody hears this/ },
  rejectsMuch: { error: 'RangeError', says: /nobody hears any of these/ },
  throwsUndefined: { error: 'Error', says: /undefined/ },
  throwsText: { error: 'Error', says: /a text/ },
  throwsMuch: { error: 'Error', says: /^x{16384}… \(20000000 characters\)$/ },
  throwsOddClass: { error: 'Error', says: /of a class without a name/ },
  throwsUnreadable: { error: 'RangeError', says: /not even this/ },
  returnsCircular: { error: 'UnstorableValue', says: /contains itself/ },
  returnsSymbol: { error: 'UnstorableValue', says: /is a symbol/ },
  returnsGetter: { error: 'RangeError', says: /do not touch/ },
  returnsOddJson: { error: 'RangeError', says: /no text of mine/ },
  returnsBigInt: { values: { value: '10' } },
  nodeReturnsCircular: { error: 'UnstorableValue', says: /contains itself/ },
  nodeReturnsFunction: { error: 'UnstorableValue', says: /is a function/ },
  recurses: { error: 'RangeError', says: /call stack/ },
  loopsForEver: { error: 'GraphRecursionError' },
  deletesEnvironment: FINE,
  changesTitle: FINE,
  changesDirectory: FINE,
  leavesTimers: FINE,
  opensMuch: FINE,
  floodsOutput: FINE,
  asksMuch: FINE,
  nodeFloods: { values: { begun: true, value: 'flooded' } },
};

/** What the server's output says of it. */
const TELLS: Readonly<Record<string, RegExp>> = {
  // Not only was the run given up: nothing spins on.
  spins: /kept its worker busy/,
};

/**
 * These cost their worker. Who has been the only one in it is to blame for its end, anybody else is tried again apart: so
 * they come one after the other, each in a new worker, and the run after the last of them stands for all.
 */
const COSTS_WORKER = /^(WorkerHeapLimit|WorkerCrashed)$/;
/** Such a graph takes the time of twenty others: so a few of them are drawn, and `MISBEHAVING_GRAPHS=.` names all. */
const SHARE = 0.25;

function choose(named: string | undefined): [graph: string, Expected][] {
  if (named !== undefined) return Object.entries(GRAPHS).filter(([graph]) => new RegExp(named).test(graph));
  const random = createRandom(seedFromEnv());
  return Object.entries(GRAPHS).filter(([, expected]) => !isDear(expected) || random.chance(SHARE));
}

const costsWorker = (expected: Expected): boolean =>
  typeof expected === 'object' && 'error' in expected && COSTS_WORKER.test(expected.error);
const isDear = (expected: Expected): boolean => expected === 'cancelled' || costsWorker(expected);

/** Runs the graph on a thread of its own to its end, whichever that is. */
async function runOnce(
  server: ServerProgram,
  [graph, expected]: [string, Expected],
  next: Expected | undefined,
): Promise<void> {
  const thread = (await server.ask('POST', '/threads', {})).json.thread_id as string;
  const order = { assistant_id: graph, input: {}, stream_mode: ['values', 'custom'] };
  const { json } = await server.ask('POST', `/threads/${thread}/runs`, order);
  const path = `/threads/${thread}/runs/${json.run_id}`;
  if (expected === 'cancelled') {
    const begun = async () => (await server.ask('GET', `/threads/${thread}`)).json.values?.begun === true;
    await until(`${graph} begins`, begun);
    assert.is((await server.ask('POST', `${path}/cancel?wait=true`)).status, 200, graph);
    assert.is((await server.ask('GET', path)).json.status, 'interrupted', graph);
  } else {
    const result = (await server.ask('GET', `${path}/join`)).json;
    const { status } = (await server.ask('GET', path)).json;
    if ('values' in expected) assert.equal([graph, status, result], [graph, 'success', expected.values]);
    else {
      assert.equal([graph, status, result.__error__?.error], [graph, 'error', expected.error]);
      assert.match(result.__error__.message, expected.says ?? /./);
      if (expected.error === 'ProcessExit') {
        const facts = (await server.ask('GET', `/threads/${thread}/events`)).json.events as any[];
        const [, first] = facts.find(({ type }) => type === 'RunCompleted').error.stack.split('\n');
        assert.match(first, /misbehaving/, 'the stack begins where the graph ends its process');
      }
    }
  }
  assert.is((await server.ask('GET', '/ok')).status, 200, `after ${graph}`);
  const told = TELLS[graph];
  if (told !== undefined) await until(`${graph} is told of`, async () => told.test(server.output()));
  if (costsWorker(expected) && next !== undefined && costsWorker(next)) return;
  const after = await server.ask('POST', `/threads/${thread}/runs/wait`, { assistant_id: 'fine', input: {} });
  assert.is(after.json.fine, true, `the run after ${graph}`);
}

test('graphs that spin, leak, exit, throw late or flood end as listed; later runs succeed (X3, X4)', () =>
  withPrograms(async ({ serve, dir }) => {
    // Half of the memory is what `asksMuch` holds at once: on a busy machine it holds it for seconds.
    const env = {
      ...{ PLATFORM_WORKER_MEMORY_MB: '384', PLATFORM_WORKERS: '1', PLATFORM_STOP_GRACE_SECS: '1' },
      PLATFORM_MAX_ATTEMPTS: '1',
      TMPDIR: dir,
    };
    const server = await serve({ args: ['--config', CONFIG], env });
    const named = process.env['MISBEHAVING_GRAPHS'];
    const chosen = choose(named);
    for (const [index, one] of chosen.entries()) {
      const [graph] = one;
      const began = performance.now();
      await runOnce(server, one, chosen[index + 1]?.[1]).catch(async (error: unknown) => {
        // 0 when it had lived until now.
        const code = await server.end('SIGTERM');
        throw new Error(`${graph}: the server ended with ${code}: ${server.output().slice(-4_000)}`, {
          cause: error,
        });
      });
      if (named !== undefined) console.log(graph, Math.round(performance.now() - began), 'ms');
    }
    // Which none of them has taken away.
    assert.is(await server.end('SIGINT'), 0, server.output());
    // Each would be a message to the server's thread, and a line here.
    const told = server.output().match(/nobody hears any of these/g) ?? [];
    assert.ok(told.length < 100, `${told.length} rejections are told`);
    await assertVerified(join(dir, 'data'));
  }));

test.run();

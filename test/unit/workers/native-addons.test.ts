/** A native addon of the kind that one process can load once, which a pool of threads could not serve. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { suite } from '../../support/suite.ts';
import { withProject } from '../graphs/project-harness.ts';
import { preparePoolRun, withPool } from './pool-harness.ts';

const test = suite('workers/native-addons');

/** Node's record of an addon, in its binary form: this one has no entry for a second context of the process. */
const ADDON = `
struct addon {
  int version; unsigned flags; void *handle; const char *file;
  void (*run)(void *, void *, void *); void *run_in_context;
  const char *name; void *priv; void *next;
};
extern void node_module_register(void *);
static void run(void *exports, void *module, void *priv) {}
static struct addon addon = { MODULES, 0, 0, "addon.c", run, 0, "addon", 0, 0 };
__attribute__((constructor)) static void load(void) { node_module_register(&addon); }`;

const LOADS_ADDON = `import { createRequire } from 'node:module';
import { isMainThread, Worker } from 'node:worker_threads';
const addon = import.meta.dirname + '/addon.node';
createRequire(import.meta.url)(addon);
const inThread = () =>
  new Promise((resolve) => {
    const thread = new Worker('require(' + JSON.stringify(addon) + ')', { eval: true });
    thread.on('error', ({ message }) => resolve(message)).on('exit', () => resolve('loaded'));
  });
export const agent = async () => ({ pid: process.pid, isMainThread, thread: await inThread() });
export const exits = () => process.reallyExit(3);`;

const ownLibrary = process.platform === 'darwin' ? ['-bundle', '-undefined', 'dynamic_lookup'] : ['-shared'];

function lacking(): string | undefined {
  if (process.platform === 'win32') return 'the addon is for compilers of other systems';
  return spawnSync('cc', ['--version']).error === undefined ? undefined : 'there is no C compiler (cc)';
}

test(
  'an addon that loads once per process loads in each worker, in its main thread (X4)',
  () =>
    withProject({ 'graph.mjs': LOADS_ADDON, 'addon.c': ADDON }, async (dir) => {
      // Given an addon that no second thread of a process can load
      const [source, binary] = [join(dir, 'addon.c'), join(dir, 'addon.node')];
      const options = [...ownLibrary, '-fPIC', `-DMODULES=${process.versions.modules}`];
      execFileSync('cc', [...options, '-o', binary, source]);
      await withPool(dir, { graphs: { agent: 'agent', exits: 'exits' } }, async (pool) => {
        const told = async () => {
          const { start, checkpoints } = preparePoolRun(pool, {});
          assert.equal((await start()).kind, 'success');
          const { pid, isMainThread, thread } = checkpoints.values() as Record<string, unknown>;
          assert.equal(isMainThread, true);
          assert.match(String(thread), /did not self-register/);
          return Number(pid);
        };
        // When a graph loads it, and again after its worker has ended, then both workers run the graph
        const pid = await told();
        const exit = await preparePoolRun(pool, {}, { graphId: 'exits' }).start();
        assert.equal(exit.kind, 'lost');
        assert.notEqual(await told(), pid);
      });
    }),
  { lacking: lacking() },
);

test.run();

/**
 * `node scripts/test-files.ts FILE...`: runs test files sequentially in one process, because loading the server costs
 * more than most files. Marks around each file's output tell the runner where it belongs. A file that fails to load
 * ends the process, since its side effects might disturb the next one.
 */
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { resolvePackageImport } from '../src/graphs/modules/package-imports.ts';
import { beginOf, endOf } from './test-output.ts';
import { measureTimeScale, TIME_SCALE } from './time-scale.ts';

/** Linux reports processor time in hundredths of a second. */
const MS_PER_TICK = 10;

type Suites = [name: string | null, ...suites: unknown[]][];

// Loading graph libraries takes half the time with it.
registerHooks({
  resolve: (specifier, context, next) => resolvePackageImport(specifier, context) ?? next(specifier, context),
});
process.env[TIME_SCALE] ??= String(measureTimeScale());
// uvu runs a file's tests at once unless its own command line is present.
process.argv.push('uvu/bin.js');
const { exec } = await import('uvu');
const queue = (globalThis as unknown as { UVU_QUEUE: Suites }).UVU_QUEUE;

// Each suite adds an exit listener.
process.setMaxListeners(0);
let failed = false;
let cpuMs = 0;
for (const file of process.argv.slice(2, -1)) {
  queue.splice(0, queue.length, [null]);
  console.log(beginOf(file));
  const start = performance.now();
  await import(pathToFileURL(resolve(file)).href);
  if (queue[0]!.length > 1) await exec();
  failed ||= process.exitCode !== undefined && process.exitCode !== 0;
  const before = cpuMs;
  cpuMs = processorTime();
  console.log(endOf(performance.now() - start, cpuMs - before));
}
if (failed) process.exitCode = 1;

/** Processor time in ms of this process and, on Linux, of its awaited child processes. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + childrenTime();
}

function childrenTime(): number {
  if (!existsSync('/proc/self/stat')) return 0;
  // Fields follow the command's name in parentheses: state is the 3rd, `cutime` the 16th, `cstime` the 17th, in ticks.
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * MS_PER_TICK;
}

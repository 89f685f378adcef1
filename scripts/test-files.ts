/**
 * `node scripts/test-files.ts FILE...`: runs test files one after another in this process, because loading the server
 * costs more than most files do with it. A line before and after each tells the runner which output is whose. A file
 * that cannot be loaded ends the process: what it began might disturb the next one.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beginOf, endOf } from './test-output.ts';

type Suites = [name: string | null, ...suites: unknown[]][];

// uvu starts a file's tests by itself, unless a command line like this one looks after several.
process.argv.push('uvu/bin.js');
const { exec } = await import('uvu');
const queue = (globalThis as unknown as { UVU_QUEUE: Suites }).UVU_QUEUE;

// Each suite listens to the end of the process.
process.setMaxListeners(0);
let failed = false;
for (const file of process.argv.slice(2, -1)) {
  queue.splice(0, queue.length, [null]);
  console.log(beginOf(file));
  const start = performance.now();
  await import(pathToFileURL(resolve(file)).href);
  if (queue[0]!.length > 1) await exec();
  failed ||= process.exitCode !== undefined && process.exitCode !== 0;
  console.log(endOf(performance.now() - start));
}
if (failed) process.exitCode = 1;

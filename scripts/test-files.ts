/**
 * `node scripts/test-files.ts FILE...`: runs test files sequentially in one process, because loading the server costs
 * more than most files. Marks around each file's output tell the runner where it belongs. A file that fails to load
 * ends the process, since its side effects might disturb the next one.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beginOf, endOf } from './test-output.ts';

type Suites = [name: string | null, ...suites: unknown[]][];

// uvu runs a file's tests at once unless its own command line is present.
process.argv.push('uvu/bin.js');
const { exec } = await import('uvu');
const queue = (globalThis as unknown as { UVU_QUEUE: Suites }).UVU_QUEUE;

// Each suite adds an exit listener.
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

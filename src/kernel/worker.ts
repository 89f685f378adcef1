/** Threads of this process that run a module of ours. */
import { Worker, type TransferListItem } from 'node:worker_threads';
import { isBuilt, ownModule } from './own-modules.ts';

/**
 * Starts a module of ours (see `ownModule`) in a thread with `data` as its `workerData`; `transfer` is moved rather than copied. A thread's entry is loaded
 * before the loader of this process reaches into it, so lines of JavaScript register the loader there and go on to the
 * module. What was built needs none.
 */
export function startWorker(
  module: string,
  data: unknown,
  transfer: readonly TransferListItem[] = [],
): Worker {
  const lines = [
    ...(isBuilt ? [] : [`(await import(${JSON.stringify(import.meta.resolve('tsx/esm/api'))})).register();`]),
    `await import(${JSON.stringify(ownModule(module).href)});`,
  ];
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(lines.join('\n'))}`), {
    workerData: data,
    // The loader is registered above, by its full address: it must not depend on the working directory.
    execArgv: [],
    // Passed on unread: modules compare themselves with the second to see whether they are the program.
    argv: process.argv.slice(1),
    transferList: [...transfer],
  });
}

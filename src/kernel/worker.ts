/** Threads of this process that run a module of ours. */
import { Worker, type TransferListItem } from 'node:worker_threads';
import { ownModule } from './own-modules.ts';

/** Starts a module of ours in a thread with `data` as its `workerData`; `transfer` is moved rather than copied. */
export function startWorker(
  module: string,
  data: unknown,
  transfer: readonly TransferListItem[] = [],
): Worker {
  return new Worker(ownModule(module), {
    workerData: data,
    // Node itself loads the module, built or not: a loader of this process would only make the start slower.
    execArgv: [],
    // Passed on unread: modules compare themselves with the second to see whether they are the program.
    argv: process.argv.slice(1),
    transferList: [...transfer],
  });
}

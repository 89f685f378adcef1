/** Starts modules of this program in threads. */
import { Worker, type TransferListItem } from 'node:worker_threads';
import { ownModule } from './own-modules.ts';

/** Starts a module (see `ownModule`) in a thread with `data` as its `workerData`; `transfer` is moved, not copied. */
export function startWorker(
  module: string,
  data: unknown,
  transfer: readonly TransferListItem[] = [],
): Worker {
  return new Worker(ownModule(module), {
    workerData: data,
    // Node loads the module without a loader, built or not: an inherited loader only delays the start.
    execArgv: [],
    // Modules compare their path with `argv[1]` to detect whether they are the main program.
    argv: process.argv.slice(1),
    transferList: [...transfer],
  });
}

/** Threads of this process that run a TypeScript module of ours. */
import { Worker, type TransferListItem } from 'node:worker_threads';

export interface WorkerThreadOptions {
  /** What is moved to the thread rather than copied. */
  readonly transfer?: readonly TransferListItem[];
  /** The module loads code of projects, which may be TypeScript that is CommonJS. */
  readonly loadsProjects?: boolean;
  /** Where V8 gives up, in MiB. */
  readonly hardHeapMb?: number;
}

/**
 * Starts `module` in a thread with `data` as its `workerData`. A thread's entry is loaded before the loader of this
 * process reaches into it, so a line of JavaScript registers the loader there and goes on to the module.
 */
export function startWorker(module: URL, data: unknown, options: WorkerThreadOptions = {}): Worker {
  const loaders = ['tsx/esm/api', ...(options.loadsProjects === true ? ['tsx/cjs/api'] : [])];
  const lines = loaders.map(
    (name) => `(await import(${JSON.stringify(import.meta.resolve(name))})).register();`,
  );
  const entry = `${lines.join('')} await import(${JSON.stringify(module.href)});`;
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(entry)}`), {
    workerData: data,
    // The loader is registered above, by its full address: it must not depend on the working directory.
    execArgv: [],
    // Passed on unread: modules compare themselves with the second to see whether they are the program.
    argv: process.argv.slice(1),
    ...(options.transfer && { transferList: [...options.transfer] }),
    ...(options.hardHeapMb !== undefined && {
      resourceLimits: { maxOldGenerationSizeMb: options.hardHeapMb },
    }),
  });
}

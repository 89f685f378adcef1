/** Threads of this process that run a TypeScript module of ours. */
import { Worker } from 'node:worker_threads';

/**
 * Starts `module` in a thread with `data` as its `workerData`. A thread's entry is loaded before the loader of this
 * process reaches into it, so a line of JavaScript registers the loader there and goes on to the module.
 */
export function startWorker(module: URL, data: unknown): Worker {
  const loader = import.meta.resolve('tsx/esm/api');
  const entry = `import { register } from ${JSON.stringify(loader)}; register(); await import(${JSON.stringify(module.href)});`;
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(entry)}`), {
    workerData: data,
    // The loader is registered above, by its full address: it must not depend on the working directory.
    execArgv: [],
  });
}

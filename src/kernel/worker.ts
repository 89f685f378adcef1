/** Threads of this process that run a module of ours. */
import { pathToFileURL } from 'node:url';
import { setEnvironmentData, Worker, type TransferListItem } from 'node:worker_threads';
import { LINK_GATE, LINK_GATE_OPTION, LINK_GATE_SCRIPT, type LinkGate } from './link-gate.ts';
import { isBuilt, ownModule } from './own-modules.ts';

export interface WorkerThreadOptions {
  /** What is moved to the thread rather than copied. */
  readonly transfer?: readonly TransferListItem[];
  /** Where V8 gives up, in MiB. */
  readonly hardHeapMb?: number;
  /** Closed before the thread is told to end. */
  readonly linkGate?: LinkGate;
}

/**
 * Starts a module of ours (see `ownModule`) in a thread with `data` as its `workerData`. A thread's entry is loaded
 * before the loader of this process reaches into it, so lines of JavaScript register the loader there and go on to the
 * module. What was built needs none.
 */
export function startWorker(module: string, data: unknown, options: WorkerThreadOptions = {}): Worker {
  const { transfer, hardHeapMb, linkGate } = options;
  const lines = [
    ...(linkGate ? [loadScript(LINK_GATE_SCRIPT)] : []),
    ...(isBuilt ? [] : [`(await import(${JSON.stringify(import.meta.resolve('tsx/esm/api'))})).register();`]),
    `await import(${JSON.stringify(ownModule(module).href)});`,
  ];
  // A thread has what was there when it was started.
  setEnvironmentData(LINK_GATE, linkGate && [linkGate.inside]);
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(lines.join('\n'))}`), {
    workerData: data,
    // The loader is registered above, by its full address: it must not depend on the working directory.
    execArgv: linkGate ? [LINK_GATE_OPTION] : [],
    // Passed on unread: modules compare themselves with the second to see whether they are the program.
    argv: process.argv.slice(1),
    ...(transfer && { transferList: [...transfer] }),
    ...(hardHeapMb !== undefined && { resourceLimits: { maxOldGenerationSizeMb: hardHeapMb } }),
  });
  setEnvironmentData(LINK_GATE, undefined);
  return worker;
}

const loadScript = (file: string): string =>
  `process.getBuiltinModule('node:module').createRequire(${JSON.stringify(pathToFileURL(file).href)})(${JSON.stringify(file)});`;

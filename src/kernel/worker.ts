/** Threads of this process that run a module of ours. */
import { pathToFileURL } from 'node:url';
import { setEnvironmentData, Worker, type TransferListItem } from 'node:worker_threads';
import { LINK_GATE, LINK_GATE_OPTION, LINK_GATE_SCRIPT, type LinkGate } from './link-gate.ts';
import { isBuilt, ownModule } from './own-modules.ts';

/** Lets a module ask how another one would resolve a name. */
export const RESOLVES_FOR_OTHERS = '--experimental-import-meta-resolve';

export interface WorkerThreadOptions {
  /** What is moved to the thread rather than copied. */
  readonly transfer?: readonly TransferListItem[];
  /** The module loads code of projects, which may be TypeScript that is CommonJS. */
  readonly loadsProjects?: boolean;
  /**
   * Libraries that code of this file (absolute path) imports, if it can. They are imported before any loader reaches
   * into the thread: it would look at each of their hundreds of files, and finds nothing to do there.
   */
  readonly libraries?: { readonly file: string; readonly names: readonly string[] };
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
  const { libraries, transfer, hardHeapMb, linkGate, loadsProjects = false } = options;
  const loaders = isBuilt ? [] : ['tsx/esm/api', ...(loadsProjects ? ['tsx/cjs/api'] : [])];
  const lines = [
    ...(linkGate ? [loadScript(LINK_GATE_SCRIPT)] : []),
    ...(libraries?.names ?? []).map((name) => loadEarly(name, libraries!.file)),
    ...loaders.map((name) => `(await import(${JSON.stringify(import.meta.resolve(name))})).register();`),
    `await import(${JSON.stringify(ownModule(module).href)});`,
  ];
  // A thread has what was there when it was started.
  setEnvironmentData(LINK_GATE, linkGate && [linkGate.inside]);
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(lines.join('\n'))}`), {
    workerData: data,
    // The loader is registered above, by its full address: it must not depend on the working directory.
    execArgv: [...(libraries ? [RESOLVES_FOR_OTHERS] : []), ...(linkGate ? [LINK_GATE_OPTION] : [])],
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

/**
 * `require` reads modules of both kinds, at once and without the pool of threads that `import` reads with: a library of
 * hundreds of files takes a third less. One that awaits something while it loads has to be imported. Whatever fails here
 * fails again, and is told, where the file itself imports it.
 */
function loadEarly(name: string, file: string): string {
  const place = `import.meta.resolve(${JSON.stringify(name)}, ${JSON.stringify(pathToFileURL(file).href)})`;
  return `await (async () => {
    const url = ${place};
    const { createRequire } = process.getBuiltinModule('node:module');
    try {
      createRequire(url)(process.getBuiltinModule('node:url').fileURLToPath(url));
    } catch {
      await import(url);
    }
  })().catch(() => undefined);`;
}

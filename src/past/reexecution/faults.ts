/**
 * Errors of graph code that nothing catches end its run, as in a graph worker, and so does a `process.exit` of its own.
 * Errors that belong to no run are printed.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { exitError } from '../../graphs/failure.ts';
import type { Faults, Process } from './sandbox.ts';

/** Installs the error handlers of the process. */
export function catchFaults(): Process['during'] {
  const current = new AsyncLocalStorage<Faults>();
  /** Rejections that nothing handles so far. A recorded answer comes at once, so that code may handle it later. */
  const unhandled = new Map<unknown, unknown>();

  function fail(error: unknown): void {
    const faults = current.getStore();
    if (faults === undefined) console.error(error);
    else faults.fail(error);
  }
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', (reason, promise) => {
    if (current.getStore()?.isRecorded(reason) === false) unhandled.set(promise, reason);
    else fail(reason);
  });
  process.on('rejectionHandled', (promise) => unhandled.delete(promise));

  const { exit } = process;
  process.exit = (code) => {
    const faults = current.getStore();
    if (faults === undefined) return exit.call(process, code);
    const error = exitError(code, process.exit);
    faults.fail(error);
    throw error;
  };
  return async (faults, work) => {
    unhandled.clear();
    const result = await current.run(faults, work);
    for (const reason of unhandled.values()) faults.fail(reason);
    return result;
  };
}

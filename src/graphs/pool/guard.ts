/**
 * X4 Exceptions and rejections of graph code that nothing handles, and `process.exit`, end the run they come from and
 * no other run of its thread.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { CURRENT_JOB } from './sides.ts';

/** A run, or a question about a graph. */
export interface GuardedJob {
  /** As the server knows it. */
  readonly job: number;
  readonly title: string;
  /** Ends a run with this error, unless it is over. */
  fail(thrown: unknown): void;
}

export interface Guard {
  /** Whatever `work` sets off belongs to the job, also what comes later. */
  inside<T>(job: GuardedJob, work: () => T): T;
  /** The graphs are loaded: from now on `process.exit` ends a run instead of the thread. */
  lock(): void;
}

/** `onStray` hears what graph code let happen without a handler. */
export function guardThread(onStray: (thrown: unknown, context: string) => void): Guard {
  const current = new AsyncLocalStorage<GuardedJob>();

  const hear = (thrown: unknown, what: string): void => {
    const job = current.getStore();
    onStray(thrown, job === undefined ? what : `${job.title}: ${what}`);
    job?.fail(thrown);
  };
  process.on('uncaughtException', (thrown: unknown) => hear(thrown, 'an exception that nothing catches'));
  process.on('unhandledRejection', (thrown: unknown) => hear(thrown, 'a rejection that nothing handles'));
  // The server evaluates it through the debugger (current-job.ts).
  Object.defineProperty(globalThis, Symbol.for(CURRENT_JOB), { value: () => current.getStore()?.job });

  return {
    inside: (job, work) => current.run(job, work),
    lock() {
      process.exit = (code) => {
        const error = named('ProcessExit', `The graph called process.exit(${code ?? ''})`);
        const job = current.getStore();
        if (job === undefined) onStray(error, 'outside of a run');
        job?.fail(error);
        throw error;
      };
    },
  };
}

function named(name: string, message: string): Error {
  const error = new Error(message);
  error.name = name;
  return error;
}

/**
 * X4 Exceptions and rejections of graph code that nothing handles, and `process.exit`, end the run that they come from and
 * no other run of its process.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../kernel/clock.ts';

/** A run, or a question about a graph. */
export interface Attributed {
  readonly title: string;
  /** Ends a run with this error, unless it is over. */
  fail(thrown: unknown): void;
}

export interface Attribution {
  /** Everything that `work` sets off belongs to the job, also what comes later. */
  inside<T>(job: Attributed, work: () => T): T;
}

type OnStray = (thrown: unknown, context: string) => void;

/** `onStray` hears every error without a handler. */
export function attributeErrors(onStray: OnStray): Attribution {
  const current = new AsyncLocalStorage<Attributed>();

  const hear = (thrown: unknown, what: string): void => {
    const job = current.getStore();
    onStray(thrown, job === undefined ? what : `${job.title}: ${what}`);
    job?.fail(thrown);
  };
  process.on('uncaughtException', (thrown: unknown) => hear(thrown, 'an exception that nothing catches'));
  process.on('unhandledRejection', (thrown: unknown) => hear(thrown, 'a rejection that nothing handles'));

  const { exit } = process;
  process.exit = (code) => {
    const job = current.getStore();
    // Outside of a run: a module that ends the process while it loads.
    if (job === undefined) return exit.call(process, code);
    const error = new Error(`The graph called process.exit(${code ?? ''})`);
    error.name = 'ProcessExit';
    job.fail(error);
    throw error;
  };
  return { inside: (job, work) => current.run(job, work) };
}

const WINDOW_MS = 1_000;
/** Strays told within a window; each is a message to the server and a line of its log with a stack. */
const MAX_TOLD = 5;

/** Tells the first strays of every second, and then how many more there were. */
export function limitStrays(tell: OnStray, clock: Pick<Clock, 'after'>): OnStray {
  let told = 0;
  let more = 0;

  function count(): void {
    if (more > 0)
      tell(
        new Error(`${more} more within ${WINDOW_MS / 1000} s`),
        'errors of graph code that nothing handles',
      );
    told = more = 0;
  }

  return (thrown, context) => {
    if (told === MAX_TOLD) {
      more += 1;
      return;
    }
    if (told === 0) clock.after(WINDOW_MS, count);
    told += 1;
    tell(thrown, context);
  };
}

/** X4 An unhandled error or a `process.exit` of graph code ends the run that caused it and no other run. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { exitError } from '../graphs/failure.ts';
import type { Clock } from '../kernel/clock.ts';

/** A run or a graph query to which errors are attributed. */
interface Attributed {
  readonly title: string;
  /** What begins the lines that its code prints in development. */
  readonly label?: string;
  /** Ends the run with this error, unless the run has ended. A query ignores it. */
  fail(thrown: unknown): void;
}

export interface Attribution {
  current(): Attributed | undefined;
  /** Attributes errors of `work`, and of everything asynchronous that `work` starts, to the job. */
  inside<T>(job: Attributed, work: () => T): T;
}

type OnUnhandled = (thrown: unknown, context: string) => void;

/** Installs the process's error handlers and replaces `process.exit`. `onUnhandled` gets every unhandled error. */
export function attributeErrors(onUnhandled: OnUnhandled): Attribution {
  const current = new AsyncLocalStorage<Attributed>();

  const report = (thrown: unknown, what: string): void => {
    const job = current.getStore();
    onUnhandled(thrown, job === undefined ? what : `${job.title}: ${what}`);
    job?.fail(thrown);
  };
  process.on('uncaughtException', (thrown: unknown) => report(thrown, 'an exception that nothing catches'));
  process.on('unhandledRejection', (thrown: unknown) => report(thrown, 'a rejection that nothing handles'));

  const { exit } = process;
  process.exit = (code) => {
    const job = current.getStore();
    // A module may end the process while it loads; no run is attributed then.
    if (job === undefined) return exit.call(process, code);
    const error = exitError(code, process.exit);
    job.fail(error);
    throw error;
  };
  return { current: () => current.getStore(), inside: (job, work) => current.run(job, work) };
}

const WINDOW_MS = 1_000;
/** Maximum errors reported within one window: each adds a stack to the server's log. */
const MAX_REPORTS = 5;

/** Passes the first errors of every window on to `report`, and then the number of the others. */
export function limitUnhandled(report: OnUnhandled, clock: Pick<Clock, 'after'>): OnUnhandled {
  let count = 0;

  function endWindow(): void {
    const more = count - MAX_REPORTS;
    count = 0;
    if (more <= 0) return;
    const message = `${more} more within ${WINDOW_MS / 1000} s`;
    report(new Error(message), 'errors of graph code that nothing handles');
  }

  return (thrown, context) => {
    if (count === 0) clock.after(WINDOW_MS, endWindow);
    count += 1;
    if (count <= MAX_REPORTS) report(thrown, context);
  };
}

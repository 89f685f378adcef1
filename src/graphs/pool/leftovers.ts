/**
 * X4 What a run leaves behind when it is over, such as a timer whose code never ends, must not stand in the way of the
 * runs beside it; nor must a question whose answer nobody waits for any more, or what a module began while it was
 * imported. A worker whose event loop stands still is asked, through its debugger, for whom it works: when that job is
 * over, or nobody needs the worker, or it works for no job at all, it is ended, and its runs go on elsewhere with no
 * attempt lost. So is one whose event loop turns, and that is busy all the time although it has nothing to do. Code of a
 * run that is not over may take as long as it likes.
 */
import type { Clock } from '../../kernel/clock.ts';
import type { ThreadDebugger } from '../../kernel/thread-debugger.ts';
import { currentJob, NO_JOB } from './current-job.ts';
import type { GraphWorker } from './graph-worker.ts';
import type { WorkerEnd } from './worker-end.ts';

export interface Leftovers {
  /** Asked all the time, of a worker that has come up. */
  look(worker: GraphWorker): void;
}

/** For how long a worker may stand still, and between two questions. */
const GRACE_MS = 3_000;
/** The same when nobody waits for it. */
const UNUSED_MS = 6_000;
/** For how long a worker without a job may be busy, with less than a twentieth of rest: a module may prepare something. */
const BUSY_MS = 60_000;
const BUSY = 0.95;
const END: WorkerEnd = {
  by: 'close',
  error: 'WorkerUnresponsive',
  message: 'What a run or a question left behind kept its worker busy, so the worker was ended',
};

export function createLeftovers(clock: Clock, threads: Pick<ThreadDebugger, 'evaluate'>): Leftovers {
  /** When it answered last; never, as long as it has not. */
  const asked = new WeakMap<GraphWorker, number>();
  /** When it said for the first time that it works for no job. */
  const aimless = new WeakMap<GraphWorker, number>();

  /** While it has no job: when it was last asked how long its event loop has worked, and what it said. */
  const unused = new WeakMap<GraphWorker, { readonly at: number; readonly busy: number }>();

  function isBusyForNobody(worker: GraphWorker, now: number): boolean {
    if (worker.load > 0) {
      unused.delete(worker);
      return false;
    }
    const since = unused.get(worker);
    if (since !== undefined && now - since.at < BUSY_MS) return false;
    const busy = worker.busy();
    unused.set(worker, { at: now, busy });
    return since !== undefined && busy - since.busy > BUSY * (now - since.at);
  }

  async function ask(worker: GraphWorker): Promise<void> {
    asked.set(worker, Infinity);
    const job = await currentJob(threads, worker.threadId);
    const now = clock.monotonic();
    asked.set(worker, now);
    const since = aimless.get(worker);
    aimless.delete(worker);
    if (job === undefined || !worker.standsStill()) return;
    if (job !== NO_JOB) return worker.has(job) ? undefined : worker.end(END);
    // Code of an open run may have lost sight of it for a moment, so it has to be the same all the time.
    if (since !== undefined && worker.stillness() > now - since) worker.end(END);
    else aimless.set(worker, now);
  }

  return {
    look(worker) {
      const now = clock.monotonic();
      if (isBusyForNobody(worker, now)) return worker.end(END);
      if (worker.load === 0 && worker.silence() > UNUSED_MS) return worker.end(END);
      if (worker.load === 0 || worker.stillness() < GRACE_MS) return;
      if (now - (asked.get(worker) ?? -Infinity) < GRACE_MS) return;
      void ask(worker);
    },
  };
}

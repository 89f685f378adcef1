/**
 * X4 What a run leaves behind when it is over, such as a timer whose code never ends, must not stand in the way of the
 * runs beside it; nor must a question whose answer nobody waits for any more. A worker whose event loop stands still is
 * asked, through its debugger, for whom it works: when that job is over, or nobody needs the worker, it is ended, and its
 * runs go on elsewhere with no attempt lost. Code of a run that is not over may take as long as it likes.
 */
import type { Clock } from '../../kernel/clock.ts';
import type { WorkerMemory } from '../../kernel/worker-memory.ts';
import type { GraphWorker } from './graph-worker.ts';
import type { WorkerEnd } from './worker-end.ts';
import { CURRENT_JOB } from './sides.ts';

export interface Leftovers {
  /** Asked all the time, of a worker that has come up. */
  look(worker: GraphWorker): void;
}

/** For how long a worker may stand still, and between two questions. */
const GRACE_MS = 3_000;
/** The same when nobody waits for it. */
const UNUSED_MS = 6_000;
const END: WorkerEnd = {
  by: 'close',
  error: 'WorkerUnresponsive',
  message: 'What a run or a question left behind kept its worker busy, so the worker was ended',
};

export function createLeftovers(clock: Clock, memory: WorkerMemory): Leftovers {
  const asked = new WeakMap<GraphWorker, number>();

  async function ask(worker: GraphWorker): Promise<void> {
    const job = await memory.evaluate(
      worker.threadId,
      `globalThis[Symbol.for(${JSON.stringify(CURRENT_JOB)})]()`,
    );
    if (typeof job === 'number' && worker.isSilent() && !worker.has(job)) worker.end(END);
  }

  return {
    look(worker) {
      const now = clock.monotonic();
      if (worker.load === 0 && worker.silence() > UNUSED_MS) return worker.end(END);
      if (worker.load === 0 || worker.silence() < GRACE_MS) return;
      if (now - (asked.get(worker) ?? -Infinity) < GRACE_MS) return;
      asked.set(worker, now);
      void ask(worker);
    },
  };
}

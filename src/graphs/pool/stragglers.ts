/**
 * X4 Threads that are still there although their worker was told to end. The worker's own thread may have missed it, as
 * it answered a question in that moment (every second one does that is asked just then), and is told again. The threads
 * that it has started are told by it, and go on, and may go on eating, as long as native code holds it.
 *
 * To those only the debugger speaks, and it is the last resort: Node ends the whole process when something is said to a
 * thread in the moment in which it is taken apart, and nobody outside knows when that is. So those that end by
 * themselves, as nearly all do, are left in peace, and the others are told now and then.
 */
import type { Clock } from '../../kernel/clock.ts';
import type { GraphWorker } from './graph-worker.ts';

export interface StragglersOptions {
  /** Of one worker, in bytes. */
  readonly limit: number;
  readonly clock: Clock;
  readonly threadsOf: (worker: Straggling) => readonly number[];
  /** What the thread used when it was asked last, in bytes. */
  readonly used: (threadId: number) => number;
  /** A thread that the worker has started. */
  readonly stop: (threadId: number) => void;
}

export type Straggling = Pick<GraphWorker, 'threadId' | 'mark' | 'told' | 'tellAgain'>;

export interface Stragglers {
  /** Asked all the time, of a worker that is to end; `resident` is what the process has, if that is known. */
  look(worker: Straggling, resident: number | undefined): void;
}

/** How long threads may take to end, and between two tries. */
const PATIENT_MS = 5_000;
/** The same of those that may be eating, and before a worker is told again: dozens of threads end in a second or two. */
const HURRIED_MS = 500;
/** Of the limit; one that used so much may go on. */
const MUCH = 0.5;

interface Ending {
  /** When it was told. */
  at?: number;
  /** The least that the process has had since then. */
  least: number;
  readonly tried: Map<number, number>;
}

export function createStragglers({ limit, clock, threadsOf, used, stop }: StragglersOptions): Stragglers {
  const endings = new WeakMap<Straggling, Ending>();

  function endingOf(worker: Straggling): Ending {
    const found = endings.get(worker);
    if (found !== undefined) return found;
    const begun: Ending = { least: Infinity, tried: new Map() };
    endings.set(worker, begun);
    void worker.told.then(() => (begun.at = clock.monotonic()));
    return begun;
  }

  return {
    look(worker, resident = 0) {
      const ending = endingOf(worker);
      const { at, tried } = ending;
      if (at === undefined) return;
      const now = clock.monotonic();
      if (resident > 0) ending.least = Math.min(ending.least, resident);
      const hasGrown = resident > ending.least + limit;
      for (const each of threadsOf(worker)) {
        const isOwn = each === worker.threadId;
        const isHurried = hasGrown || used(each) > MUCH * limit || (isOwn && !tried.has(each));
        if (now - (tried.get(each) ?? at) < (isHurried ? HURRIED_MS : PATIENT_MS)) continue;
        tried.set(each, now);
        if (isOwn) worker.tellAgain();
        else stop(each);
      }
    },
  };
}

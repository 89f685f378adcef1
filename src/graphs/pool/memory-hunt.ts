/**
 * Memory of the process that no thread tells of: who has it is found by ending workers, and seeing what comes back.
 *
 * X4 Bounded: when it has grown by more than what all workers that do anything may use together (or, earlier, by what
 * one may use and a good part of the machine), one of them uses more than its limit. The busiest is ended first; when
 * about as much as the limit comes back with its end, its runs are told so, and when not, they go on in its successor
 * from their last checkpoints, and the next one is ended. When none had it, it is the server's own, and no more is
 * looked for until as much has come again; if that is in vain as well, the busiest is to blame. So the process has at
 * most what it had at rest, for every worker its limit of what threads tell of, for every active one the same again of
 * what they do not tell, SLACK, and what is eaten within the second or two of a look.
 */
import { totalmem } from 'node:os';
import type { Clock } from '../../kernel/clock.ts';
import type { GraphWorker, WorkerEnd } from './graph-worker.ts';

export interface Sighting {
  /** Bytes that the process has and no thread tells of. */
  readonly unseen: number;
  readonly threads: number;
}

export interface MemoryHuntOptions {
  /** Of one worker, in bytes. */
  readonly limit: number;
  readonly clock: Clock;
  /** As they are now: successors as well. */
  readonly workers: () => readonly GraphWorker[];
  /** `collect`: what is dead in any thread is given back first. */
  readonly survey: (collect: boolean) => Promise<Sighting>;
  /** What is told to the runs of the worker that had the memory. */
  readonly end: WorkerEnd;
}

export interface MemoryHunt {
  /** There was too much when it was last looked: worth a look, although the process grows no more. */
  isOnTrail(): boolean;
  /** Looks once, and does what has to be done; does nothing while it is at it. */
  follow(): Promise<void>;
}

const MIB = 2 ** 20;
/** What comes and goes in the server itself: pages of the database, bodies, messages on their way. */
const SLACK = 256 * MIB;
/** What a thread has beside its heap: its stack, its code, the compiler's memory. */
const THREAD = 16 * MIB;
/** Of what has to come back so that a worker is to blame, this part is enough: some stays with the allocator. */
const ENOUGH = 0.75;
/** Beyond this part of the machine's memory the limit of one worker is too much already. */
const MACHINE = 0.4;
/** A worker does something when it has runs, or works for this part of the time. */
const ACTIVE = 0.05;
/** As long as no more than this part of the limit has come, who works does not matter yet. */
const LITTLE = 0.5;
const GONE_MS = 2_000;
const BACK_MS = 100;
const MOST_LOOKS = 8;

export function createMemoryHunt(options: MemoryHuntOptions): MemoryHunt {
  const { limit, clock, workers, survey, end } = options;
  /** When nothing was wrong. */
  let calm: number | undefined;
  let since = { at: clock.monotonic(), busy: new WeakMap<GraphWorker, number>() };
  let times = 0;
  let fruitless = false;
  let hunting = false;

  const after = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));
  const look = async (collect: boolean): Promise<number> => {
    const { unseen, threads } = await survey(collect);
    return unseen - threads * THREAD;
  };
  const activity = (worker: GraphWorker): number => worker.busy() - (since.busy.get(worker) ?? 0);
  const isActive = (worker: GraphWorker): boolean =>
    worker.load > 0 || activity(worker) > ACTIVE * (clock.monotonic() - since.at);

  function remember(): void {
    since = {
      at: clock.monotonic(),
      busy: new WeakMap(workers().map((worker) => [worker, worker.busy()])),
    };
  }

  /** What may be there. */
  function most(): number {
    const together = Math.max(1, workers().filter(isActive).length) * limit + SLACK;
    const machine = Math.min(totalmem(), process.constrainedMemory() || Infinity);
    return (calm ?? 0) + Math.min(together, Math.max(limit + SLACK, MACHINE * machine));
  }

  /** Ends the worker and returns what is left without it. */
  async function tryWithout(worker: GraphWorker, isBusiest: boolean, before: number): Promise<number> {
    let tell: (verdict: WorkerEnd) => void = () => undefined;
    const verdict = new Promise<WorkerEnd>((resolve) => (tell = resolve));
    const message = 'A graph uses more memory than it may, and the workers are ended to find out which';
    const innocent: WorkerEnd = { by: 'close', error: 'WorkerSuspected', message };
    worker.end(innocent, verdict);
    await Promise.race([worker.exited, after(GONE_MS)]);
    let left = await look(false);
    // Its successor loads meanwhile, and what is given back is so piece by piece.
    for (let looks = 1; looks < MOST_LOOKS && before - left < ENOUGH * limit; looks++) {
      await after(BACK_MS);
      left = Math.min(left, await look(false));
    }
    const isGuilty = before - left >= ENOUGH * limit || (fruitless && isBusiest);
    if (isGuilty) fruitless = false;
    tell(isGuilty ? end : innocent);
    return left;
  }

  async function hunt(): Promise<void> {
    const enough = most();
    // Those that do nothing come last: what a run left behind may have it, and nobody loses by their end.
    const suspects = [...workers()].sort((a, b) => activity(b) - activity(a));
    suspects.sort((a, b) => Number(isActive(b)) - Number(isActive(a)));
    // What is dead is not known to V8 as much, so it may lie there for long.
    let unseen = await look(true);
    for (const suspect of suspects) {
      if (unseen <= enough) return;
      unseen = await tryWithout(suspect, suspect === suspects[0], unseen);
    }
    if (unseen <= enough) return;
    calm = unseen;
    fruitless = true;
  }

  return {
    isOnTrail: () => times > 0,
    async follow() {
      if (hunting) return;
      hunting = true;
      try {
        const unseen = await look(false);
        calm = Math.min(calm ?? unseen, unseen);
        if (unseen <= calm + LITTLE * limit) remember();
        if (unseen <= most()) times = 0;
        // Once may be a message on its way.
        else if (++times > 1) await hunt();
      } finally {
        hunting = false;
      }
    },
  };
}

/**
 * Memory of the process that no thread tells of: who has it is found by ending workers, and seeing what comes back.
 *
 * X4 Bounded: when it has grown by more than what all workers that do anything may use together (or, earlier, by what
 * one may use and a good part of the machine), one of them uses more than its limit, and is searched (suspects.ts). When
 * none had it, it is the server's own, and no more is looked for until as much has come again. So the process has at
 * most what it had at rest, for every worker its limit of what threads tell of, for every active one the same again of
 * what they do not tell, SLACK, and what is eaten within the second or two of a look.
 */
import { totalmem } from 'node:os';
import type { Clock } from '../../kernel/clock.ts';
import type { GraphWorker } from './graph-worker.ts';
import type { WorkerEnd } from './worker-end.ts';
import { createSuspects } from './suspects.ts';

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
/** As long as no more than this part of the limit has come, who works does not matter yet. */
const LITTLE = 0.5;

export function createMemoryHunt(options: MemoryHuntOptions): MemoryHunt {
  const { limit, clock, workers, survey, end } = options;
  const look = async (collect: boolean): Promise<number> => {
    const { unseen, threads } = await survey(collect);
    return unseen - threads * THREAD;
  };
  const suspects = createSuspects({
    ...{ clock, workers, end },
    measure: () => look(false),
    share: ENOUGH * limit,
  });
  /** When nothing was wrong. */
  let calm: number | undefined;
  let times = 0;
  let hunting = false;

  /** What may be there. */
  function most(): number {
    const together = Math.max(1, suspects.active()) * limit + SLACK;
    const machine = Math.min(totalmem(), process.constrainedMemory() || Infinity);
    return (calm ?? 0) + Math.min(together, Math.max(limit + SLACK, MACHINE * machine));
  }

  return {
    isOnTrail: () => times > 0,
    async follow() {
      if (hunting) return;
      hunting = true;
      try {
        let unseen = await look(false);
        calm = Math.min(calm ?? unseen, unseen);
        if (unseen <= calm + LITTLE * limit) suspects.remember();
        const enough = most();
        if (unseen <= enough) times = 0;
        // Once may be a message on its way.
        else if (++times > 1) {
          // What is dead is not known to V8 as much, so it may lie there for long.
          unseen = await look(true);
          if (unseen > enough) unseen = await suspects.search(enough);
          if (unseen > enough) calm = unseen;
        }
      } finally {
        hunting = false;
      }
    },
  };
}

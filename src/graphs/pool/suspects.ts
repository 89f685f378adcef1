/**
 * Finds the worker that has too much of what the threads of a process share, where nobody can say whose it is: workers
 * are ended one after the other, until enough has come back.
 *
 * X4 The busiest comes first. The runs of a worker are told that it was theirs only when it was: the others go on in
 * another worker from their last checkpoints, with no attempt lost.
 */
import type { Clock } from '../../kernel/clock.ts';
import { within } from '../../kernel/within.ts';
import type { GraphWorker } from './graph-worker.ts';
import type { WorkerEnd } from './worker-end.ts';

export type Suspect = Pick<GraphWorker, 'busy' | 'end' | 'exited' | 'load'>;

export interface SuspectsOptions {
  readonly clock: Clock;
  /** As they are now: successors as well. */
  readonly workers: () => readonly Suspect[];
  /** How much there is, in whatever unit. */
  readonly measure: () => Promise<number>;
  /** So much has to come back with a worker that is to blame. */
  readonly share: number;
  /** What is told to the runs of the worker that had it. */
  readonly end: WorkerEnd;
}

export interface Suspects {
  /** Nothing is wrong now: who works from now on may be to blame. */
  remember(): void;
  /** How many have runs or work on something. */
  active(): number;
  /** Ends workers until there is no more than `most`; returns what is left. */
  search(most: number): Promise<number>;
}

interface Trial {
  readonly left: number;
  readonly gaveBack: boolean;
  isGone(): boolean;
  tell(verdict: WorkerEnd): void;
}

/** A worker does something when it has runs, or works for this part of the time. */
const ACTIVE = 0.05;
const GONE_MS = 2_000;
const BACK_MS = 100;
const MOST_LOOKS = 8;
const MESSAGE =
  'A graph uses more of what all share than it may, and the workers are ended to find out which';

export function createSuspects({ clock, workers, measure, share, end }: SuspectsOptions): Suspects {
  const innocent: WorkerEnd = { by: 'close', error: 'WorkerSuspected', message: MESSAGE };
  let since = { at: clock.monotonic(), busy: new WeakMap<Suspect, number>() };
  /** Nobody was found the last time: whoever works most is to blame, or it would go on for ever. */
  let inVain = false;

  const after = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));
  const activity = (worker: Suspect): number => worker.busy() - (since.busy.get(worker) ?? 0);
  const isActive = (worker: Suspect): boolean =>
    worker.load > 0 || activity(worker) > ACTIVE * (clock.monotonic() - since.at);

  /** Ends the worker, and looks what is left without it. Its runs wait until `tell` is called. */
  async function tryWithout(worker: Suspect, before: number): Promise<Trial> {
    let tell: (verdict: WorkerEnd) => void = () => undefined;
    const verdict = new Promise<WorkerEnd>((resolve) => (tell = resolve));
    worker.end(innocent, verdict);
    let gone = false;
    await within(
      clock,
      GONE_MS,
      worker.exited.then(() => (gone = true)),
    );
    let left = await measure();
    // Its successor loads meanwhile, and what is given back is so piece by piece.
    for (let looks = 1; looks < MOST_LOOKS && before - left < share; looks++) {
      await after(BACK_MS);
      left = Math.min(left, await measure());
    }
    return { left, gaveBack: before - left >= share, isGone: () => gone, tell };
  }

  return {
    remember() {
      const busy = new WeakMap(workers().map((worker) => [worker, worker.busy()]));
      since = { at: clock.monotonic(), busy };
    },
    active: () => workers().filter(isActive).length,
    async search(most) {
      // Those that do nothing come last: what a run left behind may have it, and nobody loses by their end.
      const suspects = [...workers()].sort((a, b) => activity(b) - activity(a));
      suspects.sort((a, b) => Number(isActive(b)) - Number(isActive(a)));
      let left = await measure();
      let isFound = false;
      /** Of the busiest, as long as it may still be another one. */
      let open: Trial | undefined;
      /** It went while another one was tried, and either may have had what came back. */
      let isUnclear = false;
      for (const suspect of suspects) {
        if (left <= most) break;
        const mayGo = open?.isGone() === false;
        const trial = await tryWithout(suspect, left);
        left = trial.left;
        isUnclear ||= trial.gaveBack && mayGo && open!.isGone();
        const isGuilty = trial.gaveBack && !isUnclear;
        isFound ||= isGuilty;
        // Native code that nothing interrupts may hold a thread, and gives nothing back until then.
        if (!isGuilty && suspect === suspects[0] && (inVain || !trial.isGone())) open = trial;
        else trial.tell(isGuilty ? end : innocent);
      }
      const isBlamed = open !== undefined && !isFound && (inVain || !isUnclear);
      open?.tell(isBlamed ? end : innocent);
      if (isFound || isBlamed) inVain = false;
      if (left > most || (isUnclear && !isBlamed)) inVain = true;
      return left;
    },
  };
}

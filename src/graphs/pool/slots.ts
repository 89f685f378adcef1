/**
 * The places of a crew: which worker has each, and who comes when it ends.
 *
 * X4 A worker that ends is replaced at once. One that lacks a graph that the first worker has (its module wants a file or
 * a port that is not to be had now) does what it can, while others are tried in its place, less and less often: a
 * graph that does not load again is no matter of the other graphs.
 */
import type { Clock } from '../../kernel/clock.ts';
import { GraphsUnavailable } from '../port.ts';
import type { GraphWorker } from './graph-worker.ts';
import type { Loaded } from './sides.ts';
import type { WorkerEnd } from './worker-end.ts';

export interface Slot {
  worker: GraphWorker;
  ready: boolean;
  /** The graphs that it has not loaded. */
  lacks: ReadonlySet<string>;
  next?: GraphWorker | undefined;
}

export interface SlotsOptions {
  readonly clock: Clock;
  readonly spawn: () => GraphWorker;
  /** What the first worker has. */
  readonly whole: Loaded;
  readonly onFault: (error: unknown, context: string) => void;
  /** A worker is ready, or nothing is hoped for any more. */
  readonly onChange: () => void;
}

export interface Slots {
  readonly list: readonly Slot[];
  add(worker: GraphWorker): void;
  /** Workers that are tried, and workers that were followed while they had runs. */
  others(): readonly GraphWorker[];
  /** Resolves when the worker has loaded the graphs, with those that it lacks. */
  lacksOf(worker: GraphWorker): Promise<ReadonlySet<string>>;
  /** So many workers in a row lacked something that the project itself may have lost it: nobody waits for it. */
  isHopeless(): boolean;
  /** Asked all the time: ends those that were followed and have no runs any more. */
  look(): void;
  close(): void;
}

/** Between two tries to start a worker that does not come up. */
const RETRY_MS = 1_000;
/** Between two tries to find one that lacks less: while somebody may wait for it, and later. */
const MOST_RETRY_MS = 8_000;
const SELDOM_MS = 60_000;
const MOST_INCOMPLETE = 10;
const UNNEEDED: WorkerEnd = { by: 'close', error: 'Unneeded', message: 'it is no better than the other one' };
const FOLLOWED: WorkerEnd = { by: 'close', error: 'Followed', message: 'another one has more graphs' };

export function openSlots({ clock, spawn, whole, onFault, onChange }: SlotsOptions): Slots {
  const slots: Slot[] = [];
  const tried = new Set<GraphWorker>();
  const followed = new Set<GraphWorker>();
  const pauses = new Set<() => void>();
  let incomplete = 0;
  let closed = false;

  function after(ms: number, act: () => void): void {
    const cancel = clock.after(ms, () => {
      pauses.delete(cancel);
      act();
    });
    pauses.add(cancel);
  }

  async function lacksOf(worker: GraphWorker): Promise<ReadonlySet<string>> {
    const loaded = await worker.loaded;
    const lacks = new Set(whole.graphIds.filter((id) => lacksGraph(id, whole, loaded)));
    incomplete = lacks.size === 0 ? 0 : incomplete + 1;
    if (lacks.size > 0) onFault(new GraphsUnavailable(toWords(lacks, loaded)), 'a graph worker lacks graphs');
    return lacks;
  }

  function occupy(slot: Slot, worker: GraphWorker, known = lacksOf(worker)): void {
    Object.assign(slot, { worker, ready: false, next: undefined });
    const isCurrent = (): boolean => slot.worker === worker && !closed;
    known.then(
      (lacks) => {
        if (!isCurrent()) return;
        Object.assign(slot, { ready: true, lacks });
        if (lacks.size > 0) improve(slot, worker);
        onChange();
      },
      () => undefined,
    );
    void worker.ended.then(({ message }) => {
      if (!isCurrent()) return;
      onFault(new GraphsUnavailable(message), 'a graph worker ended and is replaced');
      const came = slot.ready;
      slot.ready = false;
      if (came) return occupy(slot, slot.next ?? spawn());
      after(RETRY_MS, () => isCurrent() && occupy(slot, spawn()));
    });
  }

  function improve(slot: Slot, worker: GraphWorker, tries = 0): void {
    const isCurrent = (): boolean => slot.worker === worker && slot.ready && !closed;
    after(incomplete > MOST_INCOMPLETE ? SELDOM_MS : Math.min(RETRY_MS * 2 ** tries, MOST_RETRY_MS), () => {
      if (!isCurrent()) return;
      const trial = spawn();
      tried.add(trial);
      const known = lacksOf(trial);
      void known
        .catch(() => slot.lacks)
        .then((lacks) => {
          tried.delete(trial);
          if (isCurrent() && lacks.size < slot.lacks.size) {
            followed.add(worker);
            return occupy(slot, trial, known);
          }
          trial.end(UNNEEDED);
          if (isCurrent()) improve(slot, worker, tries + 1);
          onChange();
        });
    });
  }

  return {
    list: slots,
    add(worker) {
      const slot: Slot = { worker, ready: false, lacks: new Set() };
      slots.push(slot);
      occupy(slot, worker);
    },
    others: () => [...tried, ...followed],
    lacksOf,
    isHopeless: () => incomplete > MOST_INCOMPLETE,
    look() {
      for (const worker of followed) {
        if (worker.load > 0) continue;
        followed.delete(worker);
        worker.end(FOLLOWED);
      }
    },
    close() {
      closed = true;
      for (const cancel of pauses) cancel();
    },
  };
}

/** Without its library a graph cannot run everything that it could. */
const lacksGraph = (id: string, whole: Loaded, { graphIds, withLibrary }: Loaded): boolean =>
  !graphIds.includes(id) || (whole.withLibrary.includes(id) && !withLibrary.includes(id));

function toWords(lacks: ReadonlySet<string>, { problems }: Loaded): string {
  const reasons = [...lacks].map((id) => {
    const reason = problems.find(({ graphId }) => graphId === id)?.reason;
    return reason === undefined ? `the library of "${id}"` : `"${id}" (${reason})`;
  });
  return `A new worker did not load what the first one has: ${reasons.join(', ')}`;
}

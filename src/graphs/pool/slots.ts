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
  /** `isTrial`: nobody depends on it. */
  readonly spawn: (isTrial?: boolean) => GraphWorker;
  /** What the first worker has. */
  readonly whole: Loaded;
  readonly onFault: (error: unknown, context: string) => void;
  /** A worker is ready, or nothing is hoped for any more. */
  readonly onChange: () => void;
}

export interface Slots {
  readonly list: readonly Slot[];
  add(worker: GraphWorker): void;
  /** Workers that are tried. */
  tried(): readonly GraphWorker[];
  /** Workers that another one has followed while they had runs. */
  followed(): readonly GraphWorker[];
  /** Asked all the time: ends those of them that have none any more. */
  dismiss(): void;
  /** Resolves when the worker has loaded the graphs, with those that it lacks. */
  lacksOf(worker: GraphWorker): Promise<ReadonlySet<string>>;
  /** No worker has the graph, and so many were tried that the project itself may have lost it. */
  isLost(graphId: string): boolean;
  close(): void;
}

/** Between two tries to start a worker that does not come up. */
const RETRY_MS = 1_000;
/** Between two tries to find one that lacks less: as long as somebody may wait for it, and later. */
const MOST_RETRY_MS = 8_000;
const SELDOM_MS = 60_000;
const MOST_IN_VAIN = 10;
const UNNEEDED: WorkerEnd = { by: 'close', error: 'Unneeded', message: 'it is no better than the other one' };
const FOLLOWED: WorkerEnd = { by: 'close', error: 'Followed', message: 'another one has more graphs' };

export function openSlots({ clock, spawn, whole, onFault, onChange }: SlotsOptions): Slots {
  const slots: Slot[] = [];
  const tried = new Set<GraphWorker>();
  const followed = new Set<GraphWorker>();
  const pauses = new Set<() => void>();
  /** Tried in a row, and no better than what there is. */
  let inVain = 0;
  /** What no worker has that is ready. */
  let missing: ReadonlySet<string> = new Set();
  let isSeeking = false;
  let cancelPause: (() => void) | undefined;
  let said = '';
  let closed = false;

  function after(ms: number, act: () => void): () => void {
    const cancel = clock.after(ms, () => {
      pauses.delete(cancel);
      act();
    });
    pauses.add(cancel);
    return cancel;
  }

  async function lacksOf(worker: GraphWorker): Promise<ReadonlySet<string>> {
    const loaded = await worker.loaded;
    const lacks = new Set(whole.graphIds.filter((id) => lacksGraph(id, whole, loaded)));
    const words = lacks.size === 0 ? '' : toWords(lacks, loaded);
    // Those that are tried lack the same, again and again.
    if (words === '' || words === said) return lacks;
    said = words;
    onFault(new GraphsUnavailable(words), 'a graph worker lacks graphs');
    return lacks;
  }

  function occupy(slot: Slot, worker: GraphWorker, known = lacksOf(worker)): void {
    Object.assign(slot, { worker, ready: false, next: undefined });
    const isCurrent = (): boolean => slot.worker === worker && !closed;
    known.then(
      (lacks) => {
        if (!isCurrent()) return;
        Object.assign(slot, { ready: true, lacks });
        count();
        seek();
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

  /** What was tried before a graph went missing says nothing about it. */
  function count(): void {
    const there = slots.filter(({ ready }) => ready);
    const now = whole.graphIds.filter((id) => there.every(({ lacks }) => lacks.has(id)));
    const isNews = now.some((id) => !missing.has(id));
    missing = new Set(now);
    if (!isNews) return;
    inVain = 0;
    if (cancelPause === undefined) return;
    cancelPause();
    cancelPause = undefined;
    isSeeking = false;
  }

  /** One at a time for all places, as long as one lacks something. */
  function seek(): void {
    if (isSeeking || closed || slots.every(({ ready, lacks }) => !ready || lacks.size === 0)) return;
    isSeeking = true;
    const pause = inVain >= MOST_IN_VAIN ? SELDOM_MS : Math.min(RETRY_MS * 2 ** inVain, MOST_RETRY_MS);
    cancelPause = after(pause, () => {
      cancelPause = undefined;
      const trial = spawn(true);
      tried.add(trial);
      const known = lacksOf(trial);
      void known
        .catch(() => undefined)
        .then((lacks) => {
          tried.delete(trial);
          isSeeking = false;
          const slot = closed || lacks === undefined ? undefined : worstOf(slots, lacks);
          inVain = slot === undefined ? inVain + 1 : 0;
          if (slot === undefined) trial.end(UNNEEDED);
          else follow(slot, trial, known);
          onChange();
          seek();
        });
    });
  }

  function follow(slot: Slot, worker: GraphWorker, known: Promise<ReadonlySet<string>>): void {
    const { worker: former, next } = slot;
    next?.end(UNNEEDED);
    followed.add(former);
    void former.ended.then(() => followed.delete(former));
    occupy(slot, worker, known);
  }

  return {
    list: slots,
    add(worker) {
      const slot: Slot = { worker, ready: false, lacks: new Set() };
      slots.push(slot);
      occupy(slot, worker);
    },
    tried: () => [...tried],
    followed: () => [...followed],
    dismiss() {
      for (const worker of followed) if (worker.load === 0) worker.end(FOLLOWED);
    },
    lacksOf,
    isLost: (graphId) => inVain >= MOST_IN_VAIN && missing.has(graphId) && slots.every(({ ready }) => ready),
    close() {
      closed = true;
      for (const cancel of pauses) cancel();
    },
  };
}

/** Which of them gains most by a worker that lacks this; none may lose anything. */
function worstOf(slots: readonly Slot[], lacks: ReadonlySet<string>): Slot | undefined {
  const gaining = slots.filter(
    (slot) =>
      slot.ready && lacks.size < slot.lacks.size && [...lacks].every((graphId) => slot.lacks.has(graphId)),
  );
  return gaining.sort((a, b) => b.lacks.size - a.lacks.size)[0];
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

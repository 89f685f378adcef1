/**
 * The graph workers of a server: how many there are, which one is given what, and what happens when one ends.
 *
 * X4 A worker that ends is replaced at once; one that is about to be ended has its successor started before. The first
 * worker comes with the server, the others as soon as there is more than one thing to do, and at the latest a few
 * seconds later.
 */
import type { Clock } from '../../kernel/clock.ts';
import { within } from '../../kernel/within.ts';
import { openThreadDebugger } from '../../kernel/thread-debugger.ts';
import { GraphsUnavailable } from '../port.ts';
import { currentJob, NO_JOB } from './current-job.ts';
import type { GraphWorker } from './graph-worker.ts';
import { createLeftovers } from './leftovers.ts';
import { openSlots } from './slots.ts';
import type { Loaded } from './sides.ts';
import { SPOILED } from './worker-end.ts';

export interface CrewOptions {
  /** How many workers, at least 1. */
  readonly size: number;
  readonly clock: Clock;
  /** `isTrial`: nobody depends on it. */
  readonly spawn: (isTrial?: boolean) => GraphWorker;
  readonly onFault: (error: unknown, context: string) => void;
  /** Threads that are not gone when the graphs are closed, because native code holds them; resolves when they are. */
  readonly onHeld: (gone: Promise<unknown>) => void;
}

export interface Crew {
  readonly loaded: Loaded;
  /**
   * The worker that has the thread, or the one that does least, of those that have the graph. A worker that answers
   * comes first, then one that comes up, and only then one that is busy with itself. Rejects with `GraphsUnavailable`
   * when the server stops.
   */
  choose(graphId: string, threadId?: string): Promise<GraphWorker>;
  /** Every worker has been busy with itself for so long that what is given to one may never be begun. */
  isStuck(): boolean;
  /** Lends a worker of its own to `use`; few at a time, so it may have to wait. */
  apart<T>(graphId: string, use: (worker: GraphWorker) => Promise<T>): Promise<T>;
  each(use: (worker: GraphWorker) => void): void;
  close(): Promise<void>;
}

const WATCH_MS = 100;
/** How long a run may take to stop on a worker that shows no sign of life. */
const STOP_GRACE_MS = 1_000;
/** The same on one that does: its event loop turns, but what the server says is not heard. */
const DEAF_MS = 20_000;
/** How long nothing but silence is taken for hard work. */
const STUCK_MS = 5_000;
/** When its successor is started. */
const DOUBT_MS = 300;
/** How long code may go on after the end of its run, before its worker is given nothing new and is replaced. */
const LEFTOVER_MS = 10_000;
/** The same on a worker that shows no sign of life, and so keeps its other runs from going on. */
const LEFTOVER_GRACE_MS = 3_000;
/** The first requests need the machine as well: the other workers start one after the other, this much later. */
const CALM_MS = 3_000;
/** More threads than ever run at once; beyond it the oldest are forgotten. */
const MOST_REMEMBERED = 10_000;
/** Workers besides the crew that come up at a time. */
const MOST_COMING = 2;
/** Besides the crew: a run that is innocent may go on in one for long, and the others wait to be tried. */
const MOST_APART = 16;
const CLOSE_MS = 1_000;

/** Resolves when the first worker has loaded the graphs; rejects when it cannot. */
export async function openCrew(options: CrewOptions): Promise<Crew> {
  const { size, clock, onFault, onHeld } = options;
  const apart = new Set<GraphWorker>();
  let coming = 0;
  const homes = new Map<string, GraphWorker>();
  const waiting = new Set<() => void>();
  /** Their threads are there, also those of workers that were ended. */
  const alive = new Set<GraphWorker>();
  let closed = false;
  const threads = openThreadDebugger();

  function spawn(isTrial?: boolean): GraphWorker {
    const worker = options.spawn(isTrial);
    alive.add(worker);
    void worker.exited.then(() => alive.delete(worker));
    return worker;
  }

  const wakeAll = (): void => {
    for (const wake of [...waiting]) wake();
  };
  /** Until something has changed. */
  const change = (): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        waiting.delete(wake);
        resolve();
      };
      waiting.add(wake);
    });

  const first = spawn();
  const loaded = await first.loaded.catch((error: unknown) => {
    threads.close();
    throw error;
  });
  const places = openSlots({ clock, spawn, whole: loaded, onFault, onChange: wakeAll });
  const slots = places.list;
  places.add(first);
  const all = (): GraphWorker[] => [
    ...slots.flatMap(({ worker, next }) => (next === undefined ? [worker] : [worker, next])),
    ...places.tried(),
    ...places.followed(),
    ...apart,
  ];
  const leftovers = createLeftovers(clock, threads);

  /** One at a time, unless all are there. */
  function grow(): void {
    if (!closed && slots.length < size && slots.every(({ ready }) => ready)) places.add(spawn());
  }
  let cancelGrowth = clock.after(CALM_MS, growCalmly);
  function growCalmly(): void {
    grow();
    if (slots.length < size && !closed) cancelGrowth = clock.after(CALM_MS, growCalmly);
  }

  /** Whoever keeps a worker to himself while another one has to stop is tried apart the next time. */
  const holders = new WeakMap<GraphWorker, number>();
  function askForHolder(worker: GraphWorker): void {
    if (holders.has(worker)) return;
    holders.set(worker, NO_JOB);
    void currentJob(threads, worker.threadId).then((job) => holders.set(worker, job ?? NO_JOB));
  }

  /** For how long a run has waited to stop on a worker whose event loop stands still. */
  function overdue(worker: GraphWorker): number {
    worker.look();
    const silent = worker.isSilent();
    const asked = worker.stopWaits();
    const waits = silent || asked > DEAF_MS ? asked : 0;
    if (waits === 0) holders.delete(worker);
    else askForHolder(worker);
    const leftover = worker.leftoverFor();
    // What is left of a run that is over may go on for a while, unless it is in the way of others.
    const outstayed =
      (worker.load === 0 && leftover > LEFTOVER_MS) || (silent && leftover > LEFTOVER_GRACE_MS);
    if (waits > STOP_GRACE_MS || outstayed)
      worker.end({
        by: 'stop',
        error: 'WorkerUnresponsive',
        message: 'A graph kept its worker busy and did not stop, so the worker was ended',
        holder: holders.get(worker) ?? NO_JOB,
      });
    return waits;
  }

  const isStuck = (): boolean =>
    slots.length >= size && slots.every(({ worker, ready }) => ready && worker.silence() > STUCK_MS);

  let cancelWatch = clock.after(WATCH_MS, watch);
  function watch(): void {
    const isAnybodyThere = slots.some(({ worker, ready }) => ready && !worker.isSilent()) || isStuck();
    for (const slot of slots) {
      const { next } = slot;
      if (slot.ready) leftovers.look(slot.worker);
      const { worker } = slot;
      if (worker.isSpoiled() && worker.load === 0) worker.end(SPOILED);
      if (isAnybodyThere && worker.isSilent()) worker.giveBack();
      const waits = overdue(slot.worker);
      if (waits > DOUBT_MS) slot.next ??= spawn();
      if (waits > 0 || next === undefined) continue;
      slot.next = undefined;
      next.end({ by: 'close', error: 'Unneeded', message: 'the other one has recovered' });
    }
    places.dismiss();
    for (const worker of places.followed()) {
      leftovers.look(worker);
      if (isAnybodyThere && worker.isSilent()) worker.giveBack();
      overdue(worker);
    }
    apart.forEach(overdue);
    if (!closed) cancelWatch = clock.after(WATCH_MS, watch);
  }

  function remember(threadId: string, worker: GraphWorker): void {
    homes.delete(threadId);
    homes.set(threadId, worker);
    if (homes.size <= MOST_REMEMBERED) return;
    const [oldest] = homes.keys();
    if (oldest !== undefined) homes.delete(oldest);
  }

  const assertOpen = (): void => {
    if (closed) throw new GraphsUnavailable('the server is stopping');
  };

  return {
    loaded,
    async choose(graphId, threadId) {
      for (;;) {
        assertOpen();
        const having = slots.filter(({ ready, lacks }) => !ready || !lacks.has(graphId));
        const able = places.isLost(graphId) ? slots : having;
        const ready = able.flatMap((slot) => (slot.ready ? [slot.worker] : []));
        const answering = ready.filter((worker) => !worker.isSilent());
        const clean = answering.filter((worker) => !worker.isSpoiled() && worker.leftoverFor() < LEFTOVER_MS);
        const home = threadId === undefined ? undefined : homes.get(threadId);
        const worker =
          clean.find((each) => each === home) ??
          leastLoaded(clean) ??
          leastLoaded(answering) ??
          (slots.length === size && ready.length === able.length ? leastLoaded(ready) : undefined);
        if (worker === undefined || worker.load > 0) grow();
        if (worker === undefined) {
          await change();
          continue;
        }
        if (threadId !== undefined) remember(threadId, worker);
        return worker;
      }
    },
    isStuck,
    async apart(graphId, use) {
      while (coming >= MOST_COMING || apart.size >= MOST_APART) await change();
      assertOpen();
      const worker = spawn();
      apart.add(worker);
      coming += 1;
      try {
        const lacks = await places.lacksOf(worker).finally(() => {
          coming -= 1;
          wakeAll();
        });
        if (lacks.has(graphId) && !places.isLost(graphId))
          throw new GraphsUnavailable(`A new worker did not load the graph "${graphId}"`);
        return await use(worker);
      } finally {
        apart.delete(worker);
        worker.end({ by: 'close', error: 'Done', message: 'its run is over' });
        wakeAll();
      }
    },
    each: (use) => all().forEach(use),
    async close() {
      closed = true;
      cancelWatch();
      cancelGrowth();
      places.close();
      threads.close();
      for (const worker of all())
        worker.end({ by: 'close', error: 'Stopped', message: 'the server is stopping' });
      wakeAll();
      const gone = Promise.all([...alive].map(({ exited }) => exited));
      await within(clock, CLOSE_MS, gone);
      if (alive.size > 0) onHeld(gone);
    },
  };
}

const leastLoaded = (workers: readonly GraphWorker[]): GraphWorker | undefined =>
  workers.reduce<GraphWorker | undefined>(
    (least, worker) => (least === undefined || worker.load < least.load ? worker : least),
    undefined,
  );

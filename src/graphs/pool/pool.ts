/**
 * Graph code in worker threads. A thread of the interface goes to the same worker while that lives, a new one to the
 * one that does least.
 *
 * X4 No graph code runs in the server's own thread. A worker that ends is replaced at once, one that is about to be
 * ended has its successor started before. The first worker comes with the server, the others as soon as there is more
 * than one thing to do, and at the latest a few seconds later.
 */
import { totalmem } from 'node:os';
import { systemClock, type Clock } from '../../kernel/clock.ts';
import type { GraphSpec } from '../loader.ts';
import { GraphsUnavailable, type CheckpointReader, type GraphHost } from '../port.ts';
import type { GraphDescriber } from '../schema-port.ts';
import type { SourceReport } from '../schemas/source-report.ts';
import type { StateHost } from '../state-port.ts';
import { startGraphWorker, type GraphWorker } from './graph-worker.ts';
import { createMemoryGuard } from './memory-guard.ts';
import type { Loaded, WorkerSide } from './sides.ts';

export interface GraphPoolOptions {
  readonly graphs: readonly GraphSpec[];
  /** How many workers, at least 1. */
  readonly workers: number;
  /** How much memory the graphs of one worker may use, in MiB. */
  readonly heapMb: number;
  /** The server itself, for clients inside graphs. */
  readonly fetch: typeof fetch;
  readonly readSource: (file: string, exportName: string) => Promise<SourceReport | undefined>;
  readonly onFault: (error: unknown, context: string) => void;
}

export interface GraphPool extends GraphHost, StateHost {
  readonly loaded: Loaded;
  readonly describer: GraphDescriber;
  /** Tells clients inside graphs where the server is. */
  base(url: string): void;
}

const WATCH_MS = 100;
/** How long a run may take to stop on a worker that shows no sign of life. */
const STOP_GRACE_MS = 1_000;
/** When its successor is started. */
const DOUBT_MS = 300;
/** How long a question may take. */
const ASK_MS = 30_000;
/** Between two tries to start a worker that does not come up. */
const RETRY_MS = 1_000;
/** The first requests need the machine as well: the other workers start one after the other, this much later. */
const CALM_MS = 3_000;
/** More threads than ever run at once; beyond it the oldest are forgotten. */
const MOST_REMEMBERED = 10_000;
const CLOSE_MS = 1_000;

/** A single allocation that V8 has no room for ends the whole process: so it gets room, and somebody watches. */
const hardHeapMb = (heapMb: number): number => heapMb + Math.min(8_192, Math.floor(totalmem() / 2 ** 21));

interface Slot {
  worker: GraphWorker;
  ready: boolean;
  next?: GraphWorker;
}

/** Resolves when the first worker has loaded the graphs; rejects when it cannot. */
export async function openGraphPool(options: GraphPoolOptions): Promise<GraphPool> {
  const { graphs, workers, heapMb, onFault } = options;
  const clock: Clock = systemClock();
  const memory = createMemoryGuard(heapMb);
  const slots: Slot[] = [];
  const homes = new Map<string, Slot['worker']>();
  const changed = new Set<() => void>();
  let base = '';
  let closed = false;

  const spawn = (): GraphWorker =>
    startGraphWorker({
      ...{ graphs, base, clock },
      hardHeapMb: hardHeapMb(heapMb),
      fetch: options.fetch,
      readSource: options.readSource,
      onStray: onFault,
    });

  function occupy(slot: Slot, worker: GraphWorker): void {
    Object.assign(slot, { worker, ready: false, next: undefined });
    const isCurrent = (): boolean => slot.worker === worker && !closed;
    worker.loaded.then(
      () => {
        if (!isCurrent()) return;
        slot.ready = true;
        for (const wake of changed) wake();
      },
      () => undefined,
    );
    void worker.ended.then(({ message, by }) => {
      if (!isCurrent()) return;
      onFault(new GraphsUnavailable(message), 'a graph worker ended and is replaced');
      const came = slot.ready || by !== 'itself';
      slot.ready = false;
      if (came) return occupy(slot, slot.next ?? spawn());
      clock.after(RETRY_MS, () => isCurrent() && occupy(slot, spawn()));
    });
  }

  function add(worker: GraphWorker): void {
    const slot = { worker, ready: false };
    slots.push(slot);
    occupy(slot, worker);
  }

  const first = spawn();
  const loaded = await first.loaded.catch((error: unknown) => {
    memory.close();
    throw error;
  });
  add(first);

  /** One at a time, unless all are there. */
  function grow(): void {
    if (!closed && slots.length < workers && slots.every(({ ready }) => ready)) add(spawn());
  }
  let cancelGrowth = clock.after(CALM_MS, growCalmly);
  function growCalmly(): void {
    grow();
    if (slots.length < workers && !closed) cancelGrowth = clock.after(CALM_MS, growCalmly);
  }

  let cancelWatch = clock.after(WATCH_MS, watch);
  function watch(): void {
    for (const slot of slots) {
      const { worker } = slot;
      worker.look();
      const waits = worker.isSilent() ? worker.stopWaits() : 0;
      if (waits > DOUBT_MS) slot.next ??= spawn();
      if (waits > STOP_GRACE_MS)
        worker.end({
          by: 'stop',
          error: 'WorkerUnresponsive',
          message: 'The graph kept its worker busy and did not stop, so the worker was ended',
        });
      if (waits === 0 && slot.next !== undefined) {
        slot.next.end({ by: 'close', error: 'Unneeded', message: 'the other one has recovered' });
        delete slot.next;
      }
    }
    memory.look(slots.map(({ worker }) => worker));
    if (!closed) cancelWatch = clock.after(WATCH_MS, watch);
  }

  const leastLoaded = (found: readonly Slot[]): Slot | undefined =>
    found.reduce<Slot | undefined>(
      (least, slot) => (least === undefined || slot.worker.load < least.worker.load ? slot : least),
      undefined,
    );

  /** A worker that answers; when there is none, one that comes up; and only then one that is busy with itself. */
  async function choose(threadId?: string): Promise<GraphWorker> {
    for (;;) {
      if (closed) throw new GraphsUnavailable('the server is stopping');
      const ready = slots.filter((slot) => slot.ready);
      const answering = ready.filter(({ worker }) => !worker.isSilent());
      const home = threadId === undefined ? undefined : homes.get(threadId);
      const slot =
        answering.find(({ worker }) => worker === home) ??
        leastLoaded(answering) ??
        (ready.length === workers ? leastLoaded(ready) : undefined);
      if (slot === undefined || slot.worker.load > 0) grow();
      if (slot !== undefined) {
        if (threadId !== undefined) remember(threadId, slot.worker);
        return slot.worker;
      }
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          changed.delete(wake);
          resolve();
        };
        changed.add(wake);
      });
    }
  }

  function remember(threadId: string, worker: GraphWorker): void {
    homes.delete(threadId);
    homes.set(threadId, worker);
    if (homes.size <= MOST_REMEMBERED) return;
    const [oldest] = homes.keys();
    if (oldest !== undefined) homes.delete(oldest);
  }

  /** Questions change nothing: when the worker ends for somebody else's reason they are asked once more. */
  async function ask<T>(
    question: (side: WorkerSide, job: number) => Promise<T>,
    checkpoints?: CheckpointReader,
  ): Promise<T> {
    for (let tries = 1; ; tries++) {
      const worker = await choose();
      let cancel: () => void = () => undefined;
      const late = new Promise<never>((_, reject) => {
        cancel = clock.after(ASK_MS, () => {
          const message = `The graph did not answer within ${ASK_MS / 1000} s`;
          if (worker.isSilent()) worker.end({ by: 'stop', error: 'WorkerUnresponsive', message });
          reject(new GraphsUnavailable(message));
        });
      });
      const alone = worker.load === 0;
      try {
        return await Promise.race([worker.ask(question, checkpoints), late]);
      } catch (error) {
        if (!(error instanceof GraphsUnavailable) || tries > 1 || alone) throw error;
      } finally {
        cancel();
      }
    }
  }

  return {
    loaded,
    graphIds: loaded.graphIds,
    async run(order, link, signal) {
      const worker = await choose(order.threadId);
      if (signal.aborted) return { kind: 'stopped' };
      return worker.run(order, link, signal);
    },
    state: (order, checkpoints) => ask((side, job) => side.state(job, order), checkpoints),
    history: (order, checkpoints) => ask((side, job) => side.history(job, order), checkpoints),
    update: (order, checkpoints) => ask((side, job) => side.update(job, order), checkpoints),
    describer: {
      drawing: (order, xray) => ask((side, job) => side.drawing(job, order, xray)),
      schemas: (order) => ask((side, job) => side.schemas(job, order)),
      subgraphs: (order) => ask((side, job) => side.subgraphs(job, order)),
    },
    base(url) {
      base = url;
      for (const { worker } of slots) worker.base(url);
    },
    async close() {
      closed = true;
      cancelWatch();
      cancelGrowth();
      memory.close();
      for (const wake of changed) wake();
      const all = slots.flatMap(({ worker, next }) => (next === undefined ? [worker] : [worker, next]));
      for (const worker of all)
        worker.end({ by: 'close', error: 'Stopped', message: 'the server is stopping' });
      let cancel: () => void = () => undefined;
      const late = new Promise<void>((resolve) => (cancel = clock.after(CLOSE_MS, resolve)));
      await Promise.race([Promise.all(all.map(({ exited }) => exited)), late]).finally(() => cancel());
    },
  };
}

/**
 * Starts graph workers, watches them and chooses one for each run and query. X4 A worker that ends is replaced, and
 * another worker gets the runs that it had not begun.
 */
import { notLoadedText, type GraphProblem, type GraphSpec } from '../graphs/loader.ts';
import { GraphNotLoaded, GraphsUnavailable } from '../graphs/port.ts';
import type { Clock } from '../kernel/clock.ts';
import { within } from '../kernel/within.ts';
import { ended } from './fault-attribution.ts';
import { doubtMs, examine, isBusy, isDoubtful, type Health } from './health.ts';
import { loadAll } from './load-all.ts';
import type { GraphWorker } from './worker.ts';

export interface SupervisorOptions {
  /** Ends the workers of a start that is not awaited any more. */
  readonly abandoned?: AbortSignal | undefined;
  readonly graphs: readonly GraphSpec[];
  /** Maximum number of workers, at least 1. */
  readonly size: number;
  readonly memoryMb: number;
  /** Own time of a worker for loading one graph, in milliseconds. */
  readonly loadLimitMs: number;
  /** When all workers have this many begun runs, another worker starts. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly spawn: () => GraphWorker;
  readonly onFault: (error: unknown, context: string) => void;
  /** Called with the reason when a worker is ended because it had nothing to do. */
  readonly onSurplus: (reason: string) => void;
}

export interface Supervisor {
  readonly problems: readonly GraphProblem[];
  /** True for a graph that has to be loaded in a worker of its own (`GraphProblem.isRetried`). */
  isRetried(graphId: string): boolean;
  /**
   * Resolves with a worker that has loaded the graph: the thread's previous worker, or the least loaded one. Rejects with
   * `GraphsUnavailable` when the server stops, and with `GraphNotLoaded` when the graph loads in no worker. While no worker
   * can be started, runs wait and queries (without `threadId`) reject with `GraphsUnavailable`.
   */
  choose(graphId: string, threadId?: string): Promise<GraphWorker>;
  /** True while workers load and none has loaded the graph. */
  isLoading(graphId: string): boolean;
  /**
   * Calls `use` with a worker that does nothing else. At most `size` callers, or `MIN_ALONE`, have one at once. A retried
   * graph that loads in it is retried no more.
   */
  alone<T>(graphId: string, use: (worker: GraphWorker) => Promise<T>): Promise<T>;
  base(url: string): void;
  close(): Promise<void>;
}

const WATCH_INTERVAL_MS = 100;
/** Pause after a worker could not be started or died while it loaded a graph; doubles up to `MAX_RETRY_MS`. */
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 8_000;
/** Callers of `alone` at once where `size` is smaller: one that waits for long must not hold up all others. */
const MIN_ALONE = 2;
/** Bounds the patience with workers that have begun nothing. */
const MAX_PATIENCE = 10;
/** Maximum number of threads whose last worker is remembered. */
const MAX_REMEMBERED = 10_000;
const CLOSE_MS = 2_000;

interface Member extends Health {
  readonly worker: GraphWorker;
  /** The worker has at most one run or query at a time. */
  readonly isAlone: boolean;
  /** A caller of `alone` has the worker. */
  isTaken: boolean;
}

/** Resolves when each graph has loaded or failed. */
export async function openSupervisor(options: SupervisorOptions): Promise<Supervisor> {
  const { graphs, size, memoryMb, loadLimitMs, concurrency, clock, onFault, onSurplus, abandoned } = options;
  const members = new Set<Member>();
  const homes = new Map<string, GraphWorker>();
  const waiting = new Set<() => void>();
  const problems: GraphProblem[] = [];
  let base: string | undefined;
  let retryMs = MIN_RETRY_MS;
  /** Set after a failed start, until the next attempt. */
  let pause: { readonly reason: string; readonly cancel: () => void } | undefined;
  let closed = false;
  /** Doubles when a worker is ended before it begins a run, up to `MAX_PATIENCE`; the machine may be too slow. */
  let patience = 1;
  let isStarting = true;

  const wakeAll = (): void => {
    for (const wake of waiting) wake();
    waiting.clear();
  };
  const change = (): Promise<void> => new Promise<void>((resolve) => waiting.add(resolve));
  const assertOpen = (): void => {
    if (closed) throw new GraphsUnavailable('the server is stopping');
  };

  function start(isAlone = false): Member {
    const worker = options.spawn();
    if (base !== undefined) worker.base(base);
    const member: Member = { worker, isAlone, isTaken: isAlone, isRetired: false };
    members.add(member);
    void worker.ended.then(({ cause, message }) => {
      members.delete(member);
      wakeAll();
      if (closed) return;
      // `loadAll` and `loadAlone` report the graph.
      if (worker.hasProcess && (isStarting || retried(worker.loading.culprit()) !== undefined)) return;
      if (!worker.hasProcess || worker.loading.culprit() !== undefined) return startLater(message);
      if (cause === 'idle') onSurplus(message);
      else onFault(new GraphsUnavailable(message), 'a graph worker ended and is replaced');
      retryMs = MIN_RETRY_MS;
      if (working().length === 0 && pause === undefined) start();
    });
    wakeAll();
    return member;
  }

  function startLater(reason: string): void {
    if (closed) return;
    if (pause !== undefined) return onFault(new GraphsUnavailable(reason), 'a graph worker ended');
    const context = `a graph worker could not be started; the next attempt follows in ${retryMs / 1_000} s`;
    onFault(
      new GraphsUnavailable(reason),
      working().length > 0 ? context : `${context}, and runs wait for it`,
    );
    const cancel = clock.after(retryMs, () => {
      pause = undefined;
      if (working().length === 0) start();
      wakeAll();
    });
    pause = { reason, cancel };
    retryMs = Math.min(2 * retryMs, MAX_RETRY_MS);
  }

  const all = (): GraphWorker[] => [...members].map(({ worker }) => worker);
  const working = (): Member[] => [...members].filter(({ isRetired, isAlone }) => !isRetired && !isAlone);

  function grow(): void {
    if (!closed && working().length < size) start();
  }

  function check(member: Member): void {
    const { worker } = member;
    worker.tick();
    const isSurplus = member.isAlone || working().length > 1;
    const verdict = examine(worker, member, { memoryMb, loadLimitMs, patience, isSurplus });
    if (worker.begunRuns > 0) patience = 1;
    else if (verdict?.cause === 'stall') patience = Math.min(2 * patience, MAX_PATIENCE);
    if (verdict !== undefined) worker.end(verdict);
    else if (isDoubtful(worker) && working().some((each) => !isDoubtful(each.worker))) worker.giveBack();
  }

  let cancelWatch = clock.after(WATCH_INTERVAL_MS, watch);
  function watch(): void {
    for (const member of [...members]) check(member);
    // A loading worker soon becomes free. A blocked worker without work needs no help, unless callers wait.
    const needsMore = working().every(
      (member) =>
        member.worker.loading.culprit() === undefined &&
        ((isDoubtful(member.worker) && (member.worker.load > 0 || waiting.size > 0)) ||
          member.worker.begunRuns >= concurrency ||
          isBusy(member.worker, member)),
    );
    if (needsMore && pause === undefined) grow();
    wakeAll();
    if (!closed) cancelWatch = clock.after(WATCH_INTERVAL_MS, watch);
  }

  function remember(threadId: string, worker: GraphWorker): void {
    homes.delete(threadId);
    homes.set(threadId, worker);
    if (homes.size > MAX_REMEMBERED) homes.delete(homes.keys().next().value!);
  }

  function best(graphId: string, threadId: string | undefined): GraphWorker | undefined {
    const usable = working()
      .map(({ worker }) => worker)
      .filter((worker) => worker.loading.problemOf(graphId) === undefined);
    const able = usable.filter((worker) => !isDoubtful(worker));
    const home = threadId === undefined ? undefined : homes.get(threadId);
    if (home !== undefined && able.includes(home) && home.begunRuns < concurrency) return home;
    const loaded = able.filter((worker) => worker.loading.has(graphId));
    const found = leastBy(loaded.length > 0 ? loaded : able, ({ load }) => load);
    if (found !== undefined || threadId === undefined) return found;
    // A run waits in the worker whose event loop turns first. It is given back when another worker can begin it.
    return leastBy(
      usable.filter((worker) => worker.loading.has(graphId)),
      doubtMs,
    );
  }

  /** A worker of `alone`; undefined while all are taken. */
  function take(): Member | undefined {
    const own = [...members].filter(({ isAlone, isRetired }) => isAlone && !isRetired);
    const free = own.find(({ isTaken, worker }) => !isTaken && !isDoubtful(worker));
    if (free === undefined) return own.length < Math.max(size, MIN_ALONE) ? start(true) : undefined;
    free.isTaken = true;
    return free;
  }

  const retried = (graphId: string | undefined): GraphProblem | undefined =>
    problems.find((each) => each.graphId === graphId && each.isRetried === true);

  async function loadAlone(worker: GraphWorker, graphId: string): Promise<void> {
    const before = retried(graphId);
    const [problem] = await worker.loading.request([graphId]).catch((error: Error) => {
      if (closed || before === undefined) throw error;
      throw notLoaded({ ...before, reason: error.message });
    });
    if (problem !== undefined) throw notLoaded(problem);
    if (retried(graphId) !== undefined) problems.splice(problems.indexOf(before!), 1);
  }

  async function close(): Promise<void> {
    closed = true;
    cancelWatch();
    pause?.cancel();
    const workers = all();
    for (const worker of workers) worker.end(ended('the server is stopping'));
    wakeAll();
    await within(clock, CLOSE_MS, Promise.all(workers.map(({ exited }) => exited)));
  }

  abandoned?.addEventListener('abort', close);
  await loadAll({ graphs, problems, start: () => start().worker, isClosed: () => closed });
  isStarting = false;
  if (working().length === 0 && pause === undefined) grow();

  return {
    problems,
    isRetried: (graphId) => retried(graphId) !== undefined,
    async choose(graphId, threadId) {
      const unloaded = retried(graphId);
      if (unloaded !== undefined) throw notLoaded(unloaded);
      for (;;) {
        assertOpen();
        const worker = best(graphId, threadId);
        if (worker === undefined) {
          const problems = working().map(({ worker: each }) => each.loading.problemOf(graphId));
          const [problem] = problems;
          if (problem !== undefined && !problems.includes(undefined)) throw notLoaded(problem);
          if (threadId === undefined && problems.length === 0 && pause !== undefined)
            throw new GraphsUnavailable(`No graph worker could be started: ${pause.reason}`);
          await change();
          continue;
        }
        const hasLoaded = await worker.loading.request([graphId]).then(
          ([problem]) => problem === undefined,
          () => false,
        );
        if (!hasLoaded) continue;
        if (threadId !== undefined) remember(threadId, worker);
        return worker;
      }
    },
    async alone(graphId, use) {
      for (;;) {
        assertOpen();
        const member = pause === undefined ? take() : undefined;
        if (member === undefined) {
          await change();
          continue;
        }
        const { worker } = member;
        try {
          if (!worker.hasProcess) {
            await worker.ended;
            continue;
          }
          await loadAlone(worker, graphId);
          return await use(worker);
        } finally {
          // Code that may outlive the run could be blamed on the next one.
          if (worker.mayOverrun()) worker.end(ended('code of its run may go on'));
          member.isTaken = false;
          wakeAll();
        }
      }
    },
    isLoading(graphId) {
      const loadings = working().map(({ worker }) => worker.loading);
      return (
        loadings.some((each) => each.culprit() !== undefined) && !loadings.some((each) => each.has(graphId))
      );
    },
    base(url) {
      base = url;
      for (const worker of all()) worker.base(url);
    },
    close,
  };
}

const notLoaded = (problem: GraphProblem): GraphNotLoaded => new GraphNotLoaded(notLoadedText(problem));

const leastBy = (
  workers: readonly GraphWorker[],
  amount: (worker: GraphWorker) => number,
): GraphWorker | undefined => [...workers].sort((one, other) => amount(one) - amount(other))[0];

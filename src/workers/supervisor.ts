/**
 * Starts graph workers, watches them and chooses one for each run and query. X4 A worker that ends is replaced, and
 * another worker gets the runs that it had not begun.
 */
import type { GraphProblem, GraphSpec } from '../graphs/loader.ts';
import { GraphNotLoaded, GraphsUnavailable } from '../graphs/port.ts';
import type { Clock } from '../kernel/clock.ts';
import { within } from '../kernel/within.ts';
import { ended } from './fault-attribution.ts';
import { examine, isBusy, isDoubtful, type Health } from './health.ts';
import type { GraphWorker } from './worker.ts';

export interface SupervisorOptions {
  readonly graphs: readonly GraphSpec[];
  /** Maximum number of workers, at least 1. */
  readonly size: number;
  readonly memoryMb: number;
  /** When all workers have this many begun runs, another worker starts. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly spawn: () => GraphWorker;
  readonly onFault: (error: unknown, context: string) => void;
}

export interface Supervisor {
  readonly problems: readonly GraphProblem[];
  /**
   * Resolves with a worker that has loaded the graph: the thread's previous worker, or the least loaded one. Rejects with
   * `GraphsUnavailable` when the server stops, and with `GraphNotLoaded` when the graph loads in no worker. While no worker
   * can be started, runs wait and queries (without `threadId`) reject with `GraphsUnavailable`.
   */
  choose(graphId: string, threadId?: string): Promise<GraphWorker>;
  /** Calls `use` with a new worker and ends that afterwards. Waits while `MAX_ALONE` such workers exist. */
  alone<T>(graphId: string, use: (worker: GraphWorker) => Promise<T>): Promise<T>;
  base(url: string): void;
  close(): Promise<void>;
}

const WATCH_INTERVAL_MS = 100;
/** Pause after a worker could not be started or died while it loaded a graph; doubles up to `MAX_RETRY_MS`. */
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 8_000;
const MAX_ALONE = 8;
/** Maximum number of threads whose last worker is remembered. */
const MAX_REMEMBERED = 10_000;
const CLOSE_MS = 2_000;

interface Member extends Health {
  readonly worker: GraphWorker;
}

/** Resolves when each graph has loaded or failed. */
export async function openSupervisor(options: SupervisorOptions): Promise<Supervisor> {
  const { graphs, size, memoryMb, concurrency, clock, onFault } = options;
  const members = new Set<Member>();
  const alone = new Set<GraphWorker>();
  const homes = new Map<string, GraphWorker>();
  const waiting = new Set<() => void>();
  const problems: GraphProblem[] = [];
  let base: string | undefined;
  let retryMs = MIN_RETRY_MS;
  /** Set after a failed start, until the next attempt. */
  let pause: { readonly reason: string; readonly cancel: () => void } | undefined;
  let closed = false;

  const wakeAll = (): void => {
    for (const wake of waiting) wake();
    waiting.clear();
  };
  const change = (): Promise<void> => new Promise<void>((resolve) => waiting.add(resolve));
  const assertOpen = (): void => {
    if (closed) throw new GraphsUnavailable('the server is stopping');
  };

  function spawn(): GraphWorker {
    const worker = options.spawn();
    if (base !== undefined) worker.base(base);
    return worker;
  }

  function join(worker: GraphWorker): Member {
    const member: Member = { worker, isRetired: false };
    members.add(member);
    void worker.ended.then(({ by, message }) => {
      members.delete(member);
      wakeAll();
      if (closed) return;
      if (!worker.hasProcess || worker.loading.culprit() !== undefined) return startLater(message);
      if (by !== 'ended') onFault(new GraphsUnavailable(message), 'a graph worker ended and is replaced');
      retryMs = MIN_RETRY_MS;
      if (working().length === 0 && pause === undefined) join(spawn());
    });
    wakeAll();
    return member;
  }

  function startLater(reason: string): void {
    if (pause !== undefined || closed) return;
    const context = `a graph worker could not be started; the next attempt follows in ${retryMs / 1_000} s`;
    onFault(
      new GraphsUnavailable(reason),
      working().length > 0 ? context : `${context}, and runs wait for it`,
    );
    const cancel = clock.after(retryMs, () => {
      pause = undefined;
      if (working().length === 0) join(spawn());
      wakeAll();
    });
    pause = { reason, cancel };
    retryMs = Math.min(2 * retryMs, MAX_RETRY_MS);
  }

  const all = (): GraphWorker[] => [...[...members].map(({ worker }) => worker), ...alone];
  const working = (): Member[] => [...members].filter(({ isRetired }) => !isRetired);

  /** Loads all graphs. A graph that kills the worker is a problem, and another worker loads the remaining graphs. */
  async function loadAll(): Promise<void> {
    let remaining = graphs.map(({ id }) => id);
    while (remaining.length > 0) {
      const { worker } = join(spawn());
      try {
        const results = await worker.loading.request(remaining);
        problems.push(...results.filter((each) => each !== undefined));
        return;
      } catch (error) {
        const { message } = error as Error;
        const culprit = worker.loading.culprit() ?? remaining[0]!;
        const { file } = graphs.find(({ id }) => id === culprit)!;
        problems.push({ graphId: culprit, file, reason: message });
        const index = remaining.indexOf(culprit);
        const loaded = remaining.slice(0, index);
        const results = loaded.map((id) => worker.loading.request([id]).catch(() => [undefined]));
        problems.push(...(await Promise.all(results)).flat().filter((each) => each !== undefined));
        remaining = remaining.slice(index + 1);
      }
    }
  }

  function grow(): void {
    if (!closed && working().length < size) join(spawn());
  }

  function check(member: Member): void {
    const { worker } = member;
    const isSurplus = working().length > 1;
    const verdict = examine(worker, member, clock.monotonic(), { memoryMb, isSurplus });
    if (verdict !== undefined) worker.end(verdict);
    else if (isDoubtful(worker) && working().some((each) => !isDoubtful(each.worker))) worker.giveBack();
  }

  let cancelWatch = clock.after(WATCH_INTERVAL_MS, watch);
  function watch(): void {
    for (const member of [...members]) check(member);
    for (const worker of alone) check({ worker, isRetired: false });
    const now = clock.monotonic();
    // A loading worker soon becomes free. A blocked worker without work needs no help, unless callers wait.
    const needsMore = working().every(
      (member) =>
        member.worker.loading.culprit() === undefined &&
        ((isDoubtful(member.worker) && (member.worker.load > 0 || waiting.size > 0)) ||
          member.worker.begunRuns >= concurrency ||
          isBusy(member.worker, member, now)),
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
    const able = working()
      .map(({ worker }) => worker)
      .filter((worker) => !isDoubtful(worker) && worker.loading.problemOf(graphId) === undefined);
    const home = threadId === undefined ? undefined : homes.get(threadId);
    if (home !== undefined && able.includes(home) && home.begunRuns < concurrency) return home;
    const loaded = able.filter((worker) => worker.loading.has(graphId));
    return leastBusy(loaded.length > 0 ? loaded : able);
  }

  await loadAll();
  if (problems.length === graphs.length && working().length === 0) grow();

  return {
    problems,
    async choose(graphId, threadId) {
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
      let worker: GraphWorker;
      for (;;) {
        while (!closed && (alone.size >= MAX_ALONE || pause !== undefined)) await change();
        assertOpen();
        worker = spawn();
        if (worker.hasProcess) break;
        startLater((await worker.ended).message);
      }
      alone.add(worker);
      try {
        const [problem] = await worker.loading.request([graphId]);
        if (problem !== undefined) throw notLoaded(problem);
        return await use(worker);
      } finally {
        alone.delete(worker);
        worker.end(ended('its run is over'));
        wakeAll();
      }
    },
    base(url) {
      base = url;
      for (const worker of all()) worker.base(url);
    },
    async close() {
      closed = true;
      cancelWatch();
      pause?.cancel();
      const workers = all();
      for (const worker of workers) worker.end(ended('the server is stopping'));
      wakeAll();
      await within(clock, CLOSE_MS, Promise.all(workers.map(({ exited }) => exited)));
    },
  };
}

const notLoaded = ({ graphId, reason }: GraphProblem): GraphNotLoaded =>
  new GraphNotLoaded(`The graph "${graphId}" did not load: ${reason}`);

const leastBusy = (workers: readonly GraphWorker[]): GraphWorker | undefined =>
  [...workers].sort((one, other) => one.load - other.load)[0];

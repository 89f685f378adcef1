/**
 * Graphs whose code can be replaced while the server runs. `reload` opens a new set of graphs for all new work and closes
 * the previous set after its last run and query. New runs wait for the new set; queries use the previous one meanwhile.
 * Each set has graph workers of its own. Runs and queries of a graph that did not load fail with its load error.
 */
import { once } from 'node:events';
import { notLoadedText, type GraphProblem } from '../graphs/loader.ts';
import { openGraphs, type Graphs, type OpenGraphsOptions } from './open-graphs.ts';
import { GraphFailed } from '../graphs/port.ts';

export interface ReloadingGraphs extends Graphs {
  /** Graphs that did not load. `problems` stays empty, because a graph that does not load is served as broken. */
  readonly broken: readonly GraphProblem[];
  /** Files have changed: new runs wait for the reload that has to follow, and a reload under way is abandoned. */
  expectReload(): void;
  /** Resolves when new work uses the new code; with false when the reload was abandoned. */
  reload(): Promise<boolean>;
}

interface GraphSet {
  /** Undefined when `openGraphs` rejected. */
  readonly graphs: Graphs | undefined;
  readonly broken: readonly GraphProblem[];
  /** Number of pending runs and queries. */
  work: number;
}

export async function openReloadingGraphs(options: OpenGraphsOptions): Promise<ReloadingGraphs> {
  const specs = options.graphs;
  const open = new Set<GraphSet>();
  let base: string | undefined;
  /** Set while new runs wait for a reload. */
  let expected: Promise<void> | undefined;
  let onReloaded: () => void = () => undefined;
  /** Set while `reload` opens graphs. */
  let opening: AbortController | undefined;

  async function openSet(): Promise<GraphSet> {
    const set = await openGraphs({ ...options, ...(opening && { abandoned: opening.signal }) }).then(
      (graphs): GraphSet => ({ graphs, broken: graphs.problems, work: 0 }),
      (error: unknown): GraphSet => {
        const reason = error instanceof Error ? error.message : String(error);
        const broken = specs.map(({ id, file }) => ({ graphId: id, file, reason }));
        return { graphs: undefined, broken, work: 0 };
      },
    );
    open.add(set);
    if (base !== undefined) set.graphs?.base(base);
    return set;
  }

  async function closeSet(set: GraphSet): Promise<void> {
    if (!open.delete(set)) return;
    await set.graphs?.close();
  }

  function endWait(): void {
    expected = undefined;
    onReloaded();
  }

  let current = await openSet();

  /** Rejects with `GraphFailed` for a graph that did not load. */
  async function use<T>(graphId: string, work: (graphs: Graphs) => Promise<T>): Promise<T> {
    const set = current;
    const problem = set.broken.find((each) => each.graphId === graphId);
    if (set.graphs === undefined || (problem !== undefined && problem.isRetried !== true))
      throw new GraphFailed(notLoadedText(problem ?? { graphId, reason: 'unknown graph' }));
    set.work += 1;
    try {
      return await work(set.graphs);
    } finally {
      set.work -= 1;
      if (set !== current && set.work === 0)
        closeSet(set).catch((error: unknown) => options.onFault(error, 'closing graphs of before a reload'));
    }
  }

  return {
    graphIds: specs.map(({ id }) => id),
    problems: [],
    get files() {
      return current.graphs?.files ?? new Set();
    },
    get broken() {
      return current.broken;
    },
    async run(order, link, signal) {
      while (expected !== undefined && !signal.aborted) await Promise.race([expected, once(signal, 'abort')]);
      return use(order.graphId, (graphs) => graphs.run(order, link, signal)).catch((error: unknown) => {
        if (!(error instanceof GraphFailed)) throw error;
        return { kind: 'error', error: 'GraphNotLoaded', message: error.message };
      });
    },
    state: (order, checkpoints) => use(order.graphId, (graphs) => graphs.state(order, checkpoints)),
    history: (order, checkpoints) => use(order.graphId, (graphs) => graphs.history(order, checkpoints)),
    update: (order, checkpoints) => use(order.graphId, (graphs) => graphs.update(order, checkpoints)),
    describer: {
      drawing: (order, xray) => use(order.graphId, (graphs) => graphs.describer.drawing(order, xray)),
      schemas: (order) => use(order.graphId, (graphs) => graphs.describer.schemas(order)),
      subgraphs: (order) => use(order.graphId, (graphs) => graphs.describer.subgraphs(order)),
    },
    workers: () => [...open].flatMap(({ graphs }) => graphs?.workers() ?? []),
    base(url) {
      base = url;
      for (const { graphs } of open) graphs?.base(url);
    },
    expectReload() {
      opening?.abort();
      expected ??= new Promise((resolve) => (onReloaded = resolve));
    },
    async reload() {
      const { signal } = (opening = new AbortController());
      const set = await openSet();
      if (signal.aborted) {
        await closeSet(set);
        return false;
      }
      opening = undefined;
      const before = current;
      current = set;
      endWait();
      if (before.work === 0) await closeSet(before);
      return true;
    },
    async close() {
      opening?.abort();
      endWait();
      await Promise.all([...open].map(closeSet));
    },
  };
}

/**
 * Graphs whose code can be replaced while the server runs. `reload` opens a new set of graphs for all new work and closes
 * the previous set after its last run and query. Each set has graph workers of its own. Runs and queries of a graph that
 * did not load fail with its load error.
 */
import type { GraphProblem } from '../graphs/loader.ts';
import { openGraphs, type Graphs, type OpenGraphsOptions } from './open-graphs.ts';
import { GraphFailed } from '../graphs/port.ts';

export interface ReloadingGraphs extends Graphs {
  /** Graphs that did not load. `problems` stays empty, because the server refuses to start with problems. */
  readonly broken: readonly GraphProblem[];
  /** Resolves when new work uses the new code. Calls must not overlap. */
  reload(): Promise<void>;
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

  async function openSet(): Promise<GraphSet> {
    const set = await openGraphs(options).then(
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

  let current = await openSet();

  /** Rejects with `GraphFailed` for a graph that did not load. */
  async function use<T>(graphId: string, work: (graphs: Graphs) => Promise<T>): Promise<T> {
    const set = current;
    const problem = set.broken.find((each) => each.graphId === graphId);
    if (set.graphs === undefined || problem !== undefined)
      throw new GraphFailed(`The graph "${graphId}" did not load: ${problem?.reason ?? 'unknown graph'}`);
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
    run: (order, link, signal) =>
      use(order.graphId, (graphs) => graphs.run(order, link, signal)).catch((error: unknown) => {
        if (!(error instanceof GraphFailed)) throw error;
        return { kind: 'error', error: 'GraphNotLoaded', message: error.message };
      }),
    state: (order, checkpoints) => use(order.graphId, (graphs) => graphs.state(order, checkpoints)),
    history: (order, checkpoints) => use(order.graphId, (graphs) => graphs.history(order, checkpoints)),
    update: (order, checkpoints) => use(order.graphId, (graphs) => graphs.update(order, checkpoints)),
    describer: {
      drawing: (order, xray) => use(order.graphId, (graphs) => graphs.describer.drawing(order, xray)),
      schemas: (order) => use(order.graphId, (graphs) => graphs.describer.schemas(order)),
      subgraphs: (order) => use(order.graphId, (graphs) => graphs.describer.subgraphs(order)),
    },
    base(url) {
      base = url;
      for (const { graphs } of open) graphs?.base(url);
    },
    async reload() {
      const before = current;
      current = await openSet();
      if (before.work === 0) await closeSet(before);
    },
    async close() {
      await Promise.all([...open].map(closeSet));
    },
  };
}

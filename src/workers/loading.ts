/** Tracks which graphs a worker has loaded. Graphs load one after the other, each within a time limit. */
import type { GraphProblem } from '../graphs/loader.ts';
import { GraphsUnavailable } from '../graphs/port.ts';
import type { Loaded } from './messages.ts';

export interface Loading {
  /**
   * Resolves when all graphs have loaded or failed, with each graph's problem or undefined. Rejects with
   * `GraphsUnavailable` when the worker ends before that.
   */
  request(graphIds: readonly string[]): Promise<(GraphProblem | undefined)[]>;
  has(graphId: string): boolean;
  /** The reason why the graph did not load in this worker. */
  problemOf(graphId: string): GraphProblem | undefined;
  /** The graph that is loading, or was loading when the worker ended. */
  culprit(): string | undefined;
  /** Own time for which the graph has been loading, in milliseconds; 0 when none loads. */
  loadingMs(): number;
  loaded(result: Loaded): void;
  end(message: string): void;
}

interface Graph {
  readonly done: Promise<Loaded>;
  readonly settle: (result: Loaded) => void;
  readonly fail: (error: Error) => void;
  result?: Loaded;
}

export function openLoading(options: {
  /** Own time of the worker, in milliseconds. */
  readonly ownMs: () => number;
  readonly request: (graphIds: readonly string[]) => void;
}): Loading {
  const graphs = new Map<string, Graph>();
  let over: string | undefined;
  /** Start of the current load, in own time. */
  let since = 0;

  const current = (): string | undefined => [...graphs].find(([, { result }]) => result === undefined)?.[0];

  function open(graphId: string): Graph {
    let settle: Graph['settle'] = () => undefined;
    let fail: Graph['fail'] = () => undefined;
    const done = new Promise<Loaded>((resolve, reject) => ([settle, fail] = [resolve, reject]));
    // No caller has to wait for `done`, so its rejection must not count as unhandled.
    done.catch(() => undefined);
    const graph = { done, settle, fail };
    graphs.set(graphId, graph);
    return graph;
  }

  return {
    async request(graphIds) {
      if (over !== undefined) throw new GraphsUnavailable(over);
      const missing = graphIds.filter((graphId) => !graphs.has(graphId));
      if (current() === undefined) since = options.ownMs();
      missing.forEach(open);
      if (missing.length > 0) options.request(missing);
      const results = await Promise.all(graphIds.map((graphId) => graphs.get(graphId)!.done));
      return results.map(({ problem }) => problem);
    },
    has(graphId) {
      const result = graphs.get(graphId)?.result;
      return result !== undefined && result.problem === undefined;
    },
    problemOf: (graphId) => graphs.get(graphId)?.result?.problem,
    culprit: current,
    loadingMs: () => (current() === undefined ? 0 : options.ownMs() - since),
    loaded(result) {
      const graph = graphs.get(result.graph) ?? open(result.graph);
      graph.result = result;
      graph.settle(result);
      since = options.ownMs();
    },
    end(message) {
      over = message;
      for (const { result, fail } of graphs.values())
        if (result === undefined) fail(new GraphsUnavailable(message));
    },
  };
}

/** Which graphs a worker has loaded. Graphs load one after the other, each within a limit. */
import type { GraphProblem } from '../graphs/loader.ts';
import { GraphsUnavailable } from '../graphs/port.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Loaded } from './messages.ts';

export interface Loading {
  /** Resolves when the graph is loaded, with what is wrong with it. Rejects when the worker ends before. */
  request(graphIds: readonly string[]): Promise<(GraphProblem | undefined)[]>;
  has(graphId: string): boolean;
  /** Why the graph did not load here. */
  problemOf(graphId: string): GraphProblem | undefined;
  /** The graph that was loading when the worker ended. */
  culprit(): string | undefined;
  loaded(told: Loaded): void;
  end(message: string): void;
}

interface Graph {
  readonly done: Promise<Loaded>;
  readonly settle: (told: Loaded) => void;
  readonly fail: (error: Error) => void;
  told?: Loaded;
}

export function openLoading(options: {
  readonly clock: Pick<Clock, 'after'>;
  readonly limitMs: number;
  readonly request: (graphIds: readonly string[]) => void;
  /** A graph has not loaded within the limit. */
  readonly onLate: (message: string) => void;
}): Loading {
  const graphs = new Map<string, Graph>();
  let over: string | undefined;
  let cancel: (() => void) | undefined;

  const current = (): string | undefined => [...graphs].find(([, { told }]) => told === undefined)?.[0];

  function watch(): void {
    cancel?.();
    cancel = undefined;
    const graphId = current();
    if (graphId === undefined || over !== undefined) return;
    cancel = options.clock.after(options.limitMs, () =>
      options.onLate(
        `the file has not loaded within ${Math.round(options.limitMs / 1_000)} s (PLATFORM_GRAPH_LOAD_SECS)`,
      ),
    );
  }

  function open(graphId: string): Graph {
    let settle: Graph['settle'] = () => undefined;
    let fail: Graph['fail'] = () => undefined;
    const done = new Promise<Loaded>((resolve, reject) => ([settle, fail] = [resolve, reject]));
    // Nothing may wait for a graph that was requested along with others.
    done.catch(() => undefined);
    const graph = { done, settle, fail };
    graphs.set(graphId, graph);
    return graph;
  }

  return {
    async request(graphIds) {
      if (over !== undefined) throw new GraphsUnavailable(over);
      const missing = graphIds.filter((graphId) => !graphs.has(graphId));
      missing.forEach(open);
      if (missing.length > 0) {
        options.request(missing);
        watch();
      }
      const told = await Promise.all(graphIds.map((graphId) => graphs.get(graphId)!.done));
      return told.map(({ problem }) => problem);
    },
    has: (graphId) =>
      graphs.get(graphId)?.told?.problem === undefined && graphs.get(graphId)?.told !== undefined,
    problemOf: (graphId) => graphs.get(graphId)?.told?.problem,
    culprit: current,
    loaded(told) {
      const graph = graphs.get(told.graph) ?? open(told.graph);
      graph.told = told;
      graph.settle(told);
      watch();
    },
    end(message) {
      over = message;
      cancel?.();
      for (const { told, fail } of graphs.values())
        if (told === undefined) fail(new GraphsUnavailable(message));
    },
  };
}

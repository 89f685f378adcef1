/** Opens a project's graphs, in graph workers or in the server's process. */
import type { OnFile } from '../graphs/modules/loaded-files.ts';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import { attributeFaults } from '../graphs/query-faults.ts';
import { openInProcessGraphs } from '../graphs/in-process.ts';
import { loadGraphs, type GraphSpec } from '../graphs/loader.ts';
import { shareQueries } from '../graphs/shared-queries.ts';
import { serveKept } from '../graphs/unserved.ts';
import { openDescriber } from '../graphs/schemas/describer.ts';
import { createSourceAnalysis } from '../graphs/schemas/source-analysis.ts';
import type { SourceCache } from '../graphs/schemas/source-report.ts';
import { openGraphPool, type GraphPool, type GraphPoolOptions } from './pool.ts';

export interface OpenGraphsOptions {
  readonly graphs: readonly GraphSpec[];
  /** Undefined runs graph code in the server's process, for debuggers and tests. */
  readonly workers:
    Pick<GraphPoolOptions, 'workers' | 'memoryMb' | 'loadLimitMs' | 'secretPrefix' | 'token'> | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  /** CPU time limit for the type analysis of one source file, in milliseconds. */
  readonly schemaTimeoutMs: number;
  /** Cache of the type analysis of source files. */
  readonly schemaCache: SourceCache;
  readonly onFile?: OnFile;
  readonly onFault: (error: unknown, context: string) => void;
  readonly onEntry?: GraphPoolOptions['onEntry'] | undefined;
  /** Aborts when the graphs are not awaited any more: their workers end. */
  readonly abandoned?: AbortSignal;
}

/** Queries reject with `GraphFailed`, `GraphsUnavailable` or the error of the given checkpoint reader. */
export interface Graphs extends GraphPool {
  /** Paths of project files that graph workers have loaded; empty when graphs run in the server's process. */
  readonly files: ReadonlySet<string>;
}

export async function openGraphs(options: OpenGraphsOptions): Promise<Graphs> {
  const { graphs: specs, workers, clock, ids, onFault, onEntry, abandoned } = options;
  const analysis = createSourceAnalysis({
    exports: specs,
    limitMs: options.schemaTimeoutMs,
    cache: options.schemaCache,
    onFault: (error) => onFault(error, 'reading what types say of graphs'),
  });
  const readSource = analysis.read.bind(analysis);
  if (workers !== undefined) {
    const files = new Set<string>();
    const onFile: OnFile = (path, importer) => {
      files.add(path);
      options.onFile?.(path, importer);
    };
    const pool = serveKept(
      await openGraphPool({
        ...{ ...workers, graphs: specs, readSource, onFault, onFile, abandoned },
        ...(onEntry && { onEntry }),
      }),
      ids,
    );
    const attributed = attributeFaults(pool, pool.describer);
    return {
      ...pool,
      files,
      ...attributed,
      ...shareQueries(attributed, clock),
      async close() {
        await pool.close();
        await analysis.close();
      },
    };
  }
  const { graphs, problems } = await loadGraphs(specs);
  const host = serveKept(openInProcessGraphs({ graphs, ids, clock }), ids);
  const describer = openDescriber({ graphs, readSource });
  // A request of graph code to this server inherits the calling run's async context. Without a fresh context, LangGraph
  // would treat the run that it starts as a nested part of the calling run.
  const outside = AsyncLocalStorage.snapshot();
  const attributed = attributeFaults(host, describer);
  return {
    ...host,
    run: (order, link, signal) => outside(() => host.run(order, link, signal)),
    ...shareQueries(
      {
        state: (order, checkpoints) => outside(() => attributed.state(order, checkpoints)),
        history: (order, checkpoints) => outside(() => attributed.history(order, checkpoints)),
      },
      clock,
    ),
    update: (order, checkpoints) => outside(() => attributed.update(order, checkpoints)),
    problems,
    describer: {
      drawing: (order, xray) => outside(() => attributed.describer.drawing(order, xray)),
      schemas: (order) => outside(() => attributed.describer.schemas(order)),
      subgraphs: (order) => outside(() => attributed.describer.subgraphs(order)),
    },
    files: new Set(),
    workers: () => [],
    base: () => undefined,
    close: () => analysis.close(),
  };
}

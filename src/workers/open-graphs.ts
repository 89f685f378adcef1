/** Opens a project's graphs, in graph workers or in the server's process. */
import type { OnFile } from '../graphs/modules/loaded-files.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import { attributeFaults } from '../graphs/query-faults.ts';
import type { GraphSpec } from '../graphs/loader.ts';
import { shareQueries } from '../graphs/shared-queries.ts';
import { serveKept } from '../graphs/unserved.ts';
import { createSourceAnalysis } from '../graphs/schemas/source-analysis.ts';
import type { SourceCache } from '../graphs/schemas/source-report.ts';
import { openGraphPool, type GraphPool, type GraphPoolOptions } from './pool.ts';

export interface OpenGraphsOptions {
  readonly graphs: readonly GraphSpec[];
  /** Undefined runs graph code in the server's process, for debuggers and tests. */
  readonly workers:
    | Pick<GraphPoolOptions, 'workers' | 'memoryMb' | 'loadLimitMs' | 'secretPrefix' | 'token' | 'first'>
    | undefined;
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
  const { openOwnGraphs } = await import('./own-graphs.ts');
  return openOwnGraphs({ graphs: specs, ids, clock, readSource, close: () => analysis.close() });
}

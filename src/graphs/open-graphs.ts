/** The graphs of a project, in worker threads or in this one, with all that can be asked of them. */
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import { openInProcessGraphs } from './in-process.ts';
import { loadGraphs, type GraphProblem, type GraphSpec } from './loader.ts';
import { openGraphPool } from './pool/pool.ts';
import type { GraphHost } from './port.ts';
import type { GraphDescriber } from './schema-port.ts';
import { openDescriber } from './schemas/describer.ts';
import { createSourceAnalysis } from './schemas/source-analysis.ts';
import type { StateHost } from './state-port.ts';

export interface OpenGraphsOptions {
  readonly graphs: readonly GraphSpec[];
  /** How many threads graph code runs in; 0: in this one, for debuggers and tests. */
  readonly workers: number;
  /** How much memory the graphs of one worker may use, in MiB. */
  readonly heapMb: number;
  /** The server itself, for clients inside graphs. */
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly ids: Ids;
  /** How long the reading of one source file may take, in milliseconds. */
  readonly schemaTimeoutMs: number;
  readonly onFault: (error: unknown, context: string) => void;
}

export interface Graphs extends GraphHost, StateHost {
  /** What is wrong with graphs; those are missing from `graphIds`. */
  readonly problems: readonly GraphProblem[];
  readonly describer: GraphDescriber;
  /** Tells clients inside graphs where the server is. */
  base(url: string): void;
}

/** Rejects when the graphs cannot even be looked at, because loading one ends or holds its thread. */
export async function openGraphs(options: OpenGraphsOptions): Promise<Graphs> {
  const { graphs: specs, workers, clock, ids, onFault } = options;
  const analysis = createSourceAnalysis({
    clock,
    exports: specs,
    limitMs: options.schemaTimeoutMs,
    onFault: (error) => onFault(error, 'reading what types say of graphs'),
  });
  const readSource = analysis.read.bind(analysis);
  if (workers > 0) {
    const { heapMb, fetch } = options;
    const pool = await openGraphPool({ graphs: specs, workers, heapMb, fetch, readSource, onFault });
    return {
      ...pool,
      problems: pool.loaded.problems,
      async close() {
        await pool.close();
        await analysis.close();
      },
    };
  }
  const { graphs, problems } = await loadGraphs(specs);
  return {
    ...openInProcessGraphs({ graphs, ids, clock }),
    problems,
    describer: openDescriber({ graphs, readSource }),
    base: () => undefined,
    close: () => analysis.close(),
  };
}

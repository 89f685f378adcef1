/** The graphs of a project, in worker threads or in this one, with all that can be asked of them. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import { blaming } from './blame.ts';
import { openInProcessGraphs } from './in-process.ts';
import { loadGraphs, type GraphProblem, type GraphSpec } from './loader.ts';
import { openGraphPool } from './pool/pool.ts';
import type { GraphHost } from './port.ts';
import type { GraphDescriber } from './schema-port.ts';
import { shareQuestions } from './shared-questions.ts';
import { openDescriber } from './schemas/describer.ts';
import { createSourceAnalysis } from './schemas/source-analysis.ts';
import type { SourceCache } from './schemas/source-report.ts';
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
  /** Processor time for the reading of one source file, in milliseconds. */
  readonly schemaTimeoutMs: number;
  /** Where what was read of source files is kept. */
  readonly schemaCache: SourceCache;
  /** Gets the path of each file of the project that graph workers load. */
  readonly onFile?: (path: string) => void;
  readonly onFault: (error: unknown, context: string) => void;
  /** Threads that are not gone when the graphs are closed, because native code holds them; resolves when they are. */
  readonly onHeld?: (gone: Promise<unknown>) => void;
}

/** Rejections are `GraphFailed` and `GraphsUnavailable`, and those of the reader that came with the question. */
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
    exports: specs,
    limitMs: options.schemaTimeoutMs,
    cache: options.schemaCache,
    onFault: (error) => onFault(error, 'reading what types say of graphs'),
  });
  const readSource = analysis.read.bind(analysis);
  if (workers > 0) {
    const { heapMb, fetch, onHeld = () => undefined } = options;
    const pool = await openGraphPool({
      ...{ graphs: specs, workers, heapMb, fetch, readSource, onFault, onHeld },
      ...(options.onFile && { onFile: options.onFile }),
    });
    const blamed = blaming(pool, pool.describer);
    return {
      ...pool,
      ...blamed,
      ...shareQuestions(blamed, clock),
      problems: pool.loaded.problems,
      async close() {
        await pool.close();
        await analysis.close();
      },
    };
  }
  const { graphs, problems } = await loadGraphs(specs);
  const host = openInProcessGraphs({ graphs, ids, clock });
  const describer = openDescriber({ graphs, readSource });
  // What a graph asks of this server is done in the graph's own asynchronous context, where the runtime finds the run
  // that it is in: another run would take itself for a part of it. In workers the thread's channel keeps them apart.
  const outside = AsyncLocalStorage.snapshot();
  const blamed = blaming(host, describer);
  return {
    ...host,
    run: (order, link, signal) => outside(() => host.run(order, link, signal)),
    ...shareQuestions(
      {
        state: (order, checkpoints) => outside(() => blamed.state(order, checkpoints)),
        history: (order, checkpoints) => outside(() => blamed.history(order, checkpoints)),
      },
      clock,
    ),
    update: (order, checkpoints) => outside(() => blamed.update(order, checkpoints)),
    problems,
    describer: {
      drawing: (order, xray) => outside(() => blamed.describer.drawing(order, xray)),
      schemas: (order) => outside(() => blamed.describer.schemas(order)),
      subgraphs: (order) => outside(() => blamed.describer.subgraphs(order)),
    },
    base: () => undefined,
    close: () => analysis.close(),
  };
}

/** The graphs of a project, in graph workers or in this process, with all that can be asked of them. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import { blaming } from '../graphs/question-faults.ts';
import { openInProcessGraphs } from '../graphs/in-process.ts';
import { loadGraphs, type GraphProblem, type GraphSpec } from '../graphs/loader.ts';
import type { GraphHost } from '../graphs/port.ts';
import type { GraphDescriber } from '../graphs/schema-port.ts';
import { shareQuestions } from '../graphs/shared-questions.ts';
import { openDescriber } from '../graphs/schemas/describer.ts';
import { createSourceAnalysis } from '../graphs/schemas/source-analysis.ts';
import type { SourceCache } from '../graphs/schemas/source-report.ts';
import type { StateHost } from '../graphs/state-port.ts';
import { openGraphPool, type GraphPoolOptions } from './pool.ts';

export interface OpenGraphsOptions {
  readonly graphs: readonly GraphSpec[];
  /** Undefined: graph code runs in this process, for debuggers and tests. */
  readonly workers:
    Pick<GraphPoolOptions, 'workers' | 'memoryMb' | 'loadLimitMs' | 'secretPrefix' | 'token'> | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Processor time for the reading of one source file, in milliseconds. */
  readonly schemaTimeoutMs: number;
  /** Where what was read of source files is kept. */
  readonly schemaCache: SourceCache;
  /** Gets the path of each file of the project that graph workers load. */
  readonly onFile?: (path: string) => void;
  readonly onFault: (error: unknown, context: string) => void;
}

/** Rejections are `GraphFailed` and `GraphsUnavailable`, and those of the reader that came with the question. */
export interface Graphs extends GraphHost, StateHost {
  /** What is wrong with graphs; those are missing from `graphIds`. */
  readonly problems: readonly GraphProblem[];
  readonly describer: GraphDescriber;
  /** Files of the project that graph workers have loaded; none when graphs run in this process. */
  readonly files: ReadonlySet<string>;
  /** Tells clients inside graphs where the server is. */
  base(url: string): void;
}

export async function openGraphs(options: OpenGraphsOptions): Promise<Graphs> {
  const { graphs: specs, workers, clock, ids, onFault } = options;
  const analysis = createSourceAnalysis({
    exports: specs,
    limitMs: options.schemaTimeoutMs,
    cache: options.schemaCache,
    onFault: (error) => onFault(error, 'reading what types say of graphs'),
  });
  const readSource = analysis.read.bind(analysis);
  if (workers !== undefined) {
    const files = new Set<string>();
    const onFile = (path: string): void => {
      files.add(path);
      options.onFile?.(path);
    };
    const pool = await openGraphPool({ ...workers, graphs: specs, readSource, onFault, onFile });
    const blamed = blaming(pool, pool.describer);
    return {
      ...pool,
      files,
      ...blamed,
      ...shareQuestions(blamed, clock),
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
  // that it is in: another run would take itself for a part of it. Between processes there is no such context.
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
    files: new Set(),
    base: () => undefined,
    close: () => analysis.close(),
  };
}

/** Opens graphs in the server's own process. A server with workers does not import the adapters behind it. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { openInProcessGraphs } from '../graphs/in-process.ts';
import { loadGraphs, type GraphSpec } from '../graphs/loader.ts';
import { attributeFaults } from '../graphs/query-faults.ts';
import { openDescriber } from '../graphs/schemas/describer.ts';
import type { SourceReport } from '../graphs/schemas/source-report.ts';
import { shareQueries } from '../graphs/shared-queries.ts';
import { serveKept } from '../graphs/unserved.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { GraphPool } from './pool.ts';

export interface OwnGraphsOptions {
  readonly graphs: readonly GraphSpec[];
  readonly ids: Ids;
  readonly clock: Clock;
  readonly readSource: (file: string, exportName: string) => Promise<SourceReport | undefined>;
  readonly close: () => Promise<void>;
}

export async function openOwnGraphs({
  graphs: specs,
  ids,
  clock,
  readSource,
  close,
}: OwnGraphsOptions): Promise<GraphPool & { readonly files: ReadonlySet<string> }> {
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
    close,
  };
}

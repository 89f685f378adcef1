/** Loads graphs when they are first requested, one after the other: the server knows which one loads when the process dies. */
import { openInProcessGraphs, type InProcessGraphs } from '../graphs/in-process.ts';
import { loadGraphs, type GraphSpec } from '../graphs/loader.ts';
import { observeGraphCode } from '../graphs/observed-run.ts';
import { openDescriber } from '../graphs/schemas/describer.ts';
import type { GraphDescriber } from '../graphs/schema-port.ts';
import type { Clock } from '../kernel/clock.ts';
import { randomIds } from '../kernel/ids.ts';
import type { Connection } from '../workers/connection.ts';
import { TYPE, type Loaded } from '../workers/messages.ts';

interface LoadedGraph {
  readonly graphs: InProcessGraphs;
  readonly describer: GraphDescriber;
}

/** Resolves also when the graph fails to load: its runs and queries then reject. Rejects for an unknown graph. */
export type LoadGraph = (graphId: string) => Promise<LoadedGraph>;

export function openGraphLoading(
  connection: Connection,
  specs: readonly GraphSpec[],
  clock: Clock,
): LoadGraph {
  const ids = randomIds(clock);
  observeGraphCode();
  const loading = new Map<string, Promise<LoadedGraph>>();
  let chain: Promise<unknown> = Promise.resolve();

  async function load(graphId: string): Promise<LoadedGraph> {
    const spec = specs.find(({ id }) => id === graphId);
    if (spec === undefined) throw new Error(`There is no graph "${graphId}"`);
    const found = await loadGraphs([spec]);
    const loaded = openInProcessGraphs({ ...found, ids, clock });
    const describer = openDescriber({
      graphs: found.graphs,
      readSource: async (file, exportName) =>
        (await connection.call(0, { m: 'source', file, exportName })).head.report,
    });
    const [problem] = found.problems;
    await loaded.findLibraries();
    connection.send(TYPE.loaded, 0, { graph: graphId, ...(problem && { problem }) } satisfies Loaded);
    return { graphs: loaded, describer };
  }

  return (graphId) => {
    const known = loading.get(graphId);
    if (known !== undefined) return known;
    const loaded = chain.then(() => load(graphId));
    loading.set(graphId, loaded);
    chain = loaded.catch(() => undefined);
    return loaded;
  };
}

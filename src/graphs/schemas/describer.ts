/**
 * Describes loaded graphs. Graph code runs here only to make a factory's graph. An undecided function is called only if
 * its types say that it returns a graph (graph-function.ts).
 */
import { toCompiledGraph } from '../graph-shapes.ts';
import type { LoadedGraph } from '../loader.ts';
import { graphConfig, readRuntime } from '../factory.ts';
import type { GraphDescriber, GraphOrder } from '../schema-port.ts';
import { isForWantOfFiles, Unloadable } from '../unloadable.ts';
import { openUserLibraries } from '../user-library.ts';
import { importFrom } from '../user-modules.ts';
import type { DescribedGraph } from './builder.ts';
import type { SchemaHelpers } from './runtime-schemas.ts';
import type { SourceReport } from './source-report.ts';

export interface DescriberOptions {
  readonly graphs: readonly LoadedGraph[];
  /** Analyses an export's source (source-analysis.ts). */
  readonly readSource: (file: string, exportName: string) => Promise<SourceReport | undefined>;
}

/** Loaded lazily, because the schema library would be most of a worker's start-up. */
const loadDescribe = () =>
  import('./describe.ts').catch((error: unknown) => {
    throw new Unloadable(error);
  });

export function openDescriber({ graphs, readSource }: DescriberOptions): GraphDescriber {
  const helpers = new Map<string, Promise<SchemaHelpers | undefined>>();

  const sourceOf = ({ file, exportName }: LoadedGraph): Promise<SourceReport | undefined> =>
    readSource(file, exportName);

  function helpersFor({ file }: LoadedGraph): Promise<SchemaHelpers | undefined> {
    const known = helpers.get(file);
    if (known !== undefined) return known;
    // Older library versions lack this module, and a plain function's project has no library.
    const found = importFrom(file, '@langchain/langgraph/zod/schema').catch((error: unknown) => {
      if (isForWantOfFiles(error)) throw new Unloadable(error);
      return undefined;
    });
    helpers.set(file, found);
    found.catch(() => helpers.delete(file));
    return found;
  }

  /** Finds or makes the graph to describe; it is absent for a plain function. */
  async function open(order: GraphOrder): Promise<{ loaded: LoadedGraph; graph?: DescribedGraph }> {
    const loaded = graphs.find(({ graphId }) => graphId === order.graphId);
    if (loaded === undefined) throw new Error(`There is no graph "${order.graphId}"`);
    const { source } = loaded;
    if (source.kind === 'graph') return { loaded, graph: source.graph as DescribedGraph };
    const makesGraphs =
      source.kind === 'factory' ||
      (source.kind === 'undecided' && (await sourceOf(loaded))?.kind === 'graph');
    if (!makesGraphs) return { loaded };
    const library = openUserLibraries(loaded.file);
    const runtime = await readRuntime('assistants.read', order.user, () => library().catch(() => undefined));
    const made = toCompiledGraph(await source.fn(graphConfig(order), runtime));
    return made === undefined ? { loaded } : { loaded, graph: made as DescribedGraph };
  }

  return {
    async drawing(order, xray) {
      const { graph } = await open(order);
      const { drawGraph, drawNode } = await loadDescribe();
      return graph === undefined ? drawNode(order.graphId) : drawGraph(graph, xray);
    },
    async schemas(order) {
      const { loaded, graph } = await open(order);
      const { describeFunction, describeGraph } = await loadDescribe();
      if (graph === undefined) return describeFunction(await sourceOf(loaded));
      return describeGraph(graph, await helpersFor(loaded), () => sourceOf(loaded));
    },
    async subgraphs(order) {
      const { loaded, graph } = await open(order);
      if (graph === undefined) return {};
      const { describeSubgraphs } = await loadDescribe();
      return describeSubgraphs(graph, order, await helpersFor(loaded), () => sourceOf(loaded));
    },
  };
}

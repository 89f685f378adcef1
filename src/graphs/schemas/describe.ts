/**
 * Derives drawings and schemas of a graph without running it. Schemas come from the graph's runtime objects, otherwise
 * from its source's types, otherwise from its channel names.
 */
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import type { GraphDrawing, GraphSchemas } from '../schema-port.ts';
import type { DescribedGraph } from './builder.ts';
import { toDraft07 } from './draft-07.ts';
import { channelSchemas, NO_CONFIG, readRuntimeSchemas, type SchemaHelpers } from './runtime-schemas.ts';
import type { SourceReport } from './source-report.ts';

/** Analyses the graph's source; undefined if that gives nothing. Call it only when needed: it takes seconds. */
export type ReadSource = () => Promise<SourceReport | undefined>;

export async function drawGraph(graph: DescribedGraph, xray: boolean | number): Promise<GraphDrawing> {
  if (typeof graph.getGraphAsync !== 'function') return drawNode('graph');
  const drawn = (await graph.getGraphAsync({ xray })).toJSON();
  const { nodes, edges } = JSON.parse(JSON.stringify(drawn)) as { nodes: Json[]; edges: Json[] };
  return { nodes: nodes.map(withDraft07), edges };
}

/** Draws a plain function: one node between start and end. */
export const drawNode = (name: string): GraphDrawing => ({
  nodes: [
    { id: '__start__', type: 'schema', data: {} },
    { id: name, type: 'runnable', data: { id: ['function'], name } },
    { id: '__end__', type: 'schema', data: {} },
  ],
  edges: [
    { source: '__start__', target: name },
    { source: name, target: '__end__' },
  ],
});

/** Removes `$schema` from the start and end nodes: the library's draft differs from this API's draft-07. */
function withDraft07(node: Json): Json {
  if (!isObject(node) || node['type'] !== 'schema' || !isObject(node['data'])) return node;
  const { $schema: _, ...data } = node['data'];
  return { ...node, data };
}

export async function describeGraph(
  graph: DescribedGraph,
  helpers: SchemaHelpers | undefined,
  readSource: ReadSource,
): Promise<GraphSchemas> {
  const own = readRuntimeSchemas(graph, helpers);
  if (own.state !== undefined) return filled(own, channelSchemas(graph));
  const source = await readSource();
  return filled({ ...source?.schemas, ...own }, channelSchemas(graph));
}

const filled = (own: Partial<GraphSchemas>, rest: GraphSchemas): GraphSchemas => ({
  input: own.input ?? rest.input,
  output: own.output ?? rest.output,
  state: own.state ?? rest.state,
  config: own.config ?? rest.config,
});

export async function describeSubgraphs(
  graph: DescribedGraph,
  { namespace, recurse }: { namespace?: string; recurse: boolean },
  helpers: SchemaHelpers | undefined,
  readSource: ReadSource,
): Promise<Record<string, GraphSchemas>> {
  const found: [string, DescribedGraph][] = [];
  if (typeof graph.getSubgraphsAsync === 'function')
    for await (const entry of graph.getSubgraphsAsync(namespace, recurse)) found.push(entry);
  const described: [string, GraphSchemas][] = [];
  for (const [name, subgraph] of found) {
    const own = readRuntimeSchemas(subgraph, helpers);
    if (own.state !== undefined) {
      described.push([name, filled(own, channelSchemas(subgraph))]);
      continue;
    }
    const source = await readSource();
    const inSource = source?.subgraphs[name.split('|').at(-1) ?? ''];
    const root = inSource ?? (await describeGraph(graph, helpers, readSource));
    described.push([name, filled({ ...root, ...own }, channelSchemas(subgraph))]);
  }
  return Object.fromEntries(described);
}

/** Schemas of a plain function: from its source, otherwise an object with `messages`. */
export const describeFunction = (source: SourceReport | undefined): GraphSchemas =>
  filled(source?.schemas ?? {}, { input: ANY_STATE, output: ANY_STATE, state: ANY_STATE, config: NO_CONFIG });

const ANY_STATE: JsonObject = toDraft07({
  type: 'object',
  properties: { messages: { type: 'array', items: { type: 'object' }, langgraph_type: 'messages' } },
})!;

/** The state and the subgraphs of a compiled graph. */
import type { CompiledGraph, GraphNode } from '../graph-shapes.ts';

/** Names of the state's members, private ones included; undefined for a graph whose state is one unnamed value. */
export function stateOf({ channels = {} }: CompiledGraph): string[] | undefined {
  const names = Object.keys(channels);
  if (names.includes('__root__') || names.includes('__end__')) return undefined;
  return names.filter((name) => !name.startsWith('__') && !name.includes(':'));
}

/** The graph behind nodes from the root on; undefined if one of them is no subgraph, or calls one itself. */
export function subgraphAt(root: CompiledGraph, nodes: readonly string[]): CompiledGraph | undefined {
  let graph: CompiledGraph | undefined = root;
  for (const name of nodes) {
    const node: GraphNode | undefined = graph?.nodes[name];
    graph = [...(node?.subgraphs ?? []), node?.bound].find(isGraph);
  }
  return graph;
}

const isGraph = (value: unknown): value is CompiledGraph =>
  typeof value === 'object' && value !== null && 'nodes' in value && 'channels' in value;

const MAX_NAMES = 12;

/** Lists names in quotes, the first of many. */
export function namesIn(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => `"${name}"`);
  return [...shown, ...(names.length > MAX_NAMES ? [`${names.length - MAX_NAMES} more`] : [])].join(', ');
}

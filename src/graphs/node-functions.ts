/** The functions that execute a graph's nodes, for pauses of re-executions. */
import { toCompiledGraph, type CompiledGraph } from './graph-shapes.ts';

/** Functions by node; nodes of subgraphs stand behind those of their graphs, joined by `|`. */
export type NodeFunctions = Readonly<Record<string, unknown>>;

/**
 * Gets the functions of a graph before they are called. `isGraph` is false for a function that may be a node itself or make
 * the graph.
 */
export type OnNodes = (functions: NodeFunctions, isGraph: boolean) => void;

const START = '__start__';

export const nodeFunctions = ({ nodes }: CompiledGraph): NodeFunctions =>
  Object.fromEntries(
    Object.entries(nodes).flatMap(([name, { bound }]): [string, unknown][] => {
      if (name === START) return [];
      const inner = toCompiledGraph(bound);
      const within = inner === undefined ? [] : Object.entries(nodeFunctions(inner));
      return [
        [name, functionOf(bound)],
        ...within.map(([node, fn]): [string, unknown] => [`${name}|${node}`, fn]),
      ];
    }),
  );

interface Bound {
  readonly func?: unknown;
  readonly first?: Bound;
  readonly bound?: Bound;
  readonly invoke?: unknown;
}

/** The author's function, or the library's method where the node is no function. */
const functionOf = (bound: Bound = {}): unknown =>
  bound.func ??
  (bound.first && functionOf(bound.first)) ??
  (bound.bound && functionOf(bound.bound)) ??
  bound.invoke;

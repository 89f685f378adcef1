/**
 * Knows which functions of a graph's nodes are still at work. The runtime leaves them behind when its signal aborts;
 * whoever asked for the stop wants to hear of it when they have stopped as well.
 */
import type { CompiledGraph } from '../graph-shapes.ts';

export interface NodeWork {
  /** The same graph, whose work is known here. */
  watch(graph: CompiledGraph): CompiledGraph;
  /** Resolves when no function is at work. */
  settled(): Promise<void>;
}

type NodeFunction = (this: unknown, ...args: unknown[]) => unknown;
/** What of the runtime's nodes matters here, where it is as expected. */
interface Node {
  readonly bound?: { readonly func?: NodeFunction };
}

export function openNodeWork(): NodeWork {
  const atWork = new Set<Promise<unknown>>();

  function known(func: NodeFunction): NodeFunction {
    return function (this: unknown, ...args) {
      const result = func.apply(this, args);
      if (!(result instanceof Promise)) return result;
      atWork.add(result);
      const over = (): void => void atWork.delete(result);
      result.then(over, over);
      return result;
    };
  }

  /** Shallow copies: the graph is shared by all that use it. Nodes of another make are left as they are. */
  function watchNode(node: Node): Node {
    const func = node.bound?.func;
    if (node.bound === undefined || typeof func !== 'function') return node;
    const bound = derive(node.bound, { func: known(func) });
    return derive(node, { bound });
  }

  return {
    watch(graph) {
      const { nodes } = graph as { nodes?: Record<string, Node> };
      if (nodes === undefined) return graph;
      const watched = Object.fromEntries(
        Object.entries(nodes).map(([name, node]) => [name, watchNode(node)]),
      );
      return derive(graph, { nodes: watched });
    },
    async settled() {
      while (atWork.size > 0) await Promise.allSettled(atWork);
    },
  };
}

const derive = <T extends object>(from: T, more: object): T =>
  Object.assign(Object.create(Object.getPrototypeOf(from) as object) as T, from, more);

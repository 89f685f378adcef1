import type { JsonObject } from '../kernel/json.ts';
import { namespaceKey, startsWith } from './event.ts';
import type { Node } from './lifecycle.ts';

/** Nests a run's graphs and nodes by namespace; the first is the root. Children are sorted by namespace. */
export function toTree(nodes: readonly Node[]): JsonObject {
  const below = (parent: Node): JsonObject[] =>
    nodes
      .filter(
        ({ namespace }) =>
          namespace.length === parent.namespace.length + 1 && startsWith(namespace, parent.namespace),
      )
      .sort((a, b) => (namespaceKey(a.namespace) < namespaceKey(b.namespace) ? -1 : 1))
      .map(toNode);
  const toNode = (node: Node): JsonObject => {
    const children = below(node);
    return {
      namespace: [...node.namespace],
      status: node.status,
      graph_name: node.graphName,
      ...(children.length > 0 && { children }),
    };
  };
  const [root] = nodes;
  if (root === undefined) throw new RangeError('a tree has a root');
  return toNode(root);
}

import type { ServerContext } from '../context.ts';
import { noGraph, notServed } from '../replies.ts';

/** Throws when the graph is not served: a 422 with the reason when the configuration names it, a 404 otherwise. */
export function checkServed({ graphs, unserved }: ServerContext, graphId: string): void {
  if (graphs.graphIds.includes(graphId)) return;
  const reason = unserved.get(graphId);
  throw reason === undefined ? noGraph(graphId) : notServed(graphId, reason);
}

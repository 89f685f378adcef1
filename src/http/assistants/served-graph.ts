import type { ServerContext } from '../context.ts';
import { graphGone, noGraph, notServed } from '../replies.ts';

/** Throws when the graph is not served: a 422 with the reason when the configuration names it, a 404 otherwise. */
export function checkServed({ graphs, unserved }: ServerContext, graphId: string): void {
  if (graphs.graphIds.includes(graphId)) return;
  const reason = unserved.get(graphId);
  throw reason === undefined ? noGraph(graphId) : notServed(graphId, reason);
}

/** Throws as `checkServed` for the graph of an assistant, which was served once; the 404 tells what is served. */
export function checkStillServed(context: ServerContext, graphId: string): void {
  const { graphIds } = context.graphs;
  if (graphIds.includes(graphId) || context.unserved.has(graphId)) return checkServed(context, graphId);
  throw graphGone(graphId, graphIds);
}

/**
 * What can be asked about a graph without running it. A part of the boundary of `port.ts`: plain data and async calls.
 */
import type { Json, JsonObject } from '../kernel/json.ts';

/** Which graph; a factory makes it with this config. */
export interface GraphOrder {
  readonly graphId: string;
  readonly configurable: JsonObject;
  readonly context?: Json;
}

/** Nodes are `{id, type: "schema" | "runnable", data}`, edges `{source, target, conditional?, data?}`. */
export interface GraphDrawing {
  readonly nodes: Json[];
  readonly edges: Json[];
}

/** JSON Schemas, draft-07, each with an object at its root; null when nothing could be found out. */
export interface GraphSchemas {
  readonly input: JsonObject | null;
  readonly output: JsonObject | null;
  readonly state: JsonObject | null;
  /** Of `config.configurable`, and of `context`, which is another way to give the same. */
  readonly config: JsonObject | null;
}

export interface SubgraphOrder extends GraphOrder {
  /** Only what lies there, as node names joined by `|`. */
  readonly namespace?: string;
  /** Also the subgraphs of subgraphs. */
  readonly recurse: boolean;
}

/** All reject with what graph code throws: a factory may fail, and so may the drawing of a graph. */
export interface GraphDescriber {
  /** With `xray` subgraphs are drawn into the graph, a number says how many levels deep. */
  drawing(order: GraphOrder, xray: boolean | number): Promise<GraphDrawing>;
  schemas(order: GraphOrder): Promise<GraphSchemas>;
  /** By the name of the node; inner ones as `outer|inner`. A subgraph without a schema has that of the whole graph. */
  subgraphs(order: SubgraphOrder): Promise<Record<string, GraphSchemas>>;
}

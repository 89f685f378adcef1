/**
 * The part of the graph port (`port.ts`) for drawings and schemas, which need no run. Plain data and async calls only.
 */
import type { Json, JsonObject } from '../kernel/json.ts';

/** Selects a graph; a factory is called with this config. */
export interface GraphOrder {
  readonly graphId: string;
  readonly configurable: JsonObject;
  readonly context?: Json;
  /** The caller, for graph factories (A4). */
  readonly user?: JsonObject;
}

/** Nodes are `{id, type: "schema" | "runnable", data}`, edges `{source, target, conditional?, data?}`. */
export interface GraphDrawing {
  readonly nodes: Json[];
  readonly edges: Json[];
}

/** JSON Schemas (draft-07) of type `object`; null if the graph does not define one. */
export interface GraphSchemas {
  readonly input: JsonObject | null;
  readonly output: JsonObject | null;
  readonly state: JsonObject | null;
  /** The schema of `context`, and of `config.configurable`, which holds the same settings in older versions. */
  readonly config: JsonObject | null;
}

interface SubgraphOrder extends GraphOrder {
  /** Restricts the result to this namespace: node names joined by `|`. */
  readonly namespace?: string;
  /** Includes subgraphs of subgraphs. */
  readonly recurse: boolean;
}

/** All methods reject with the error of graph code: factories and drawings may throw. */
export interface GraphDescriber {
  /** `xray` expands subgraphs; a number limits the levels. */
  drawing(order: GraphOrder, xray: boolean | number): Promise<GraphDrawing>;
  schemas(order: GraphOrder): Promise<GraphSchemas>;
  /** Schemas by node name, nested ones as `outer|inner`. A subgraph without a schema gets that of the whole graph. */
  subgraphs(order: SubgraphOrder): Promise<Record<string, GraphSchemas>>;
}

/** The members of a compiled graph, of any library version, from which schemas and drawings are derived. */
import type { BuiltFrom, CompiledGraph } from '../graph-shapes.ts';

export interface GraphBuilder extends BuiltFrom {
  readonly channels?: object;
  readonly _inputDefinition?: object;
  readonly _outputDefinition?: object;
  readonly _schemaRuntimeDefinition?: unknown;
  readonly _inputRuntimeDefinition?: unknown;
  readonly _outputRuntimeDefinition?: unknown;
  readonly _configRuntimeSchema?: unknown;
  readonly _configSchema?: unknown;
  readonly _metaRegistry?: MetaRegistry;
}

/** The library's registry of schema metadata, such as reducers and JSON Schema extras. */
export interface MetaRegistry {
  getExtendedChannelSchemas(schema: unknown, effects: object): unknown;
}

export interface DescribedGraph extends CompiledGraph {
  readonly builder?: GraphBuilder;
  getGraphAsync?(config: object): Promise<{ toJSON(): { nodes: unknown[]; edges: unknown[] } }>;
  getSubgraphsAsync?(namespace?: string, recurse?: boolean): AsyncIterable<[string, DescribedGraph]>;
}

/** The parts of a compiled graph that tell what it takes and gives, of whatever version of the library. */
import type { CompiledGraph } from '../graph-shapes.ts';

export interface GraphBuilder {
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

/** Knows what helpers of the library wrote down about schemas. */
export interface MetaRegistry {
  getExtendedChannelSchemas(schema: unknown, effects: object): unknown;
}

export interface DescribedGraph extends CompiledGraph {
  readonly builder?: GraphBuilder;
  getGraphAsync?(config: object): Promise<{ toJSON(): { nodes: unknown[]; edges: unknown[] } }>;
  getSubgraphsAsync?(namespace?: string, recurse?: boolean): AsyncIterable<[string, DescribedGraph]>;
}

/**
 * Reads the schemas that a graph has at run time. The sources, in this order: `StateSchema` objects; the schema helpers of
 * the user's library copy, which know registered extras; plain zod.
 */
import { z } from 'zod';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import type { GraphSchemas } from '../schema-port.ts';
import type { DescribedGraph, GraphBuilder, MetaRegistry } from './builder.ts';
import { toDraft07 } from './draft-07.ts';

/** The exports of `@langchain/langgraph/zod/schema` in the user's project. */
export type SchemaHelpers = Readonly<Record<string, unknown>>;

type Kind = keyof GraphSchemas;

interface Source {
  readonly helper: string;
  /** The options of the library's registry for this kind of schema. */
  readonly effects: object;
  readonly definition: (builder: GraphBuilder) => unknown;
}

const EXTRAS = { withJsonSchemaExtrasAsDescription: true };
const SOURCES: Readonly<Record<Kind, Source>> = {
  state: {
    helper: 'getStateTypeSchema',
    effects: EXTRAS,
    definition: (builder) => builder._schemaRuntimeDefinition,
  },
  input: {
    helper: 'getInputTypeSchema',
    effects: { ...EXTRAS, withReducerSchema: true, asPartial: true },
    // The library uses a symbol for "input is a partial state".
    definition: ({ _inputRuntimeDefinition: own, _schemaRuntimeDefinition: state }) =>
      typeof own === 'symbol' ? state : own,
  },
  output: {
    helper: 'getOutputTypeSchema',
    effects: EXTRAS,
    definition: (builder) => builder._outputRuntimeDefinition,
  },
  config: {
    helper: 'getConfigTypeSchema',
    effects: EXTRAS,
    definition: (builder) => builder._configRuntimeSchema,
  },
};

/** Returns only the kinds of schema that the graph defines. */
export function readRuntimeSchemas(graph: DescribedGraph, helpers?: SchemaHelpers): Partial<GraphSchemas> {
  const { builder } = graph;
  if (typeof builder !== 'object' || builder === null) return {};
  const found: Partial<Record<Kind, JsonObject>> = {};
  for (const kind of Object.keys(SOURCES) as Kind[]) {
    const schema = readSchema(kind, graph, builder, helpers);
    if (schema !== undefined) found[kind] = schema;
  }
  return found;
}

function readSchema(
  kind: Kind,
  graph: DescribedGraph,
  builder: GraphBuilder,
  helpers: SchemaHelpers | undefined,
): JsonObject | undefined {
  const { helper, effects, definition } = SOURCES[kind];
  const own = definition(builder);
  if (typeof own !== 'object' || own === null) return undefined;
  if (isStateSchema(own)) return toDraft07(kind === 'input' ? own.getInputJsonSchema() : own.getJsonSchema());
  const registry = builder._metaRegistry;
  const ask = helpers?.[helper];
  if (typeof ask === 'function') {
    try {
      const schema = toDraft07((ask as (...args: unknown[]) => unknown)(graph, registry));
      if (schema !== undefined) return schema;
    } catch {
      // The helper throws if one member has no JSON Schema; the fallback below makes that member "any".
    }
  }
  return fromZod(extended(own, registry, effects));
}

interface StateSchema {
  getJsonSchema(): unknown;
  getInputJsonSchema(): unknown;
}

const isStateSchema = (value: object): value is StateSchema =>
  'getJsonSchema' in value && typeof value.getJsonSchema === 'function' && 'getInputJsonSchema' in value;

const extended = (schema: object, registry: MetaRegistry | undefined, effects: object): unknown =>
  typeof registry?.getExtendedChannelSchemas === 'function'
    ? registry.getExtendedChannelSchemas(schema, effects)
    : schema;

/** Converts a zod 4 schema of any zod copy; undefined for zod 3, which needs the helpers. */
function fromZod(schema: unknown): JsonObject | undefined {
  if (typeof schema !== 'object' || schema === null || !('_zod' in schema)) return undefined;
  const found = z.toJSONSchema(schema as z.ZodType, {
    target: 'draft-07',
    io: 'input',
    unrepresentable: 'any',
  });
  return toDraft07(withExtras(JSON.parse(JSON.stringify(found)) as Json));
}

/** The library encodes extras as a schema's description: this prefix and JSON. */
const EXTRAS_PREFIX = 'lg:';

function withExtras(value: Json): Json {
  if (Array.isArray(value)) return value.map(withExtras);
  if (!isObject(value)) return value;
  const result = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withExtras(item)]));
  const { description } = result;
  if (typeof description !== 'string' || !description.startsWith(EXTRAS_PREFIX)) return result;
  const { description: _, ...rest } = result;
  return { ...rest, ...(JSON.parse(description.slice(EXTRAS_PREFIX.length)) as JsonObject) };
}

/** Schemas with the graph's channel names as properties of any type; the fallback if nothing describes the values. */
export function channelSchemas({ builder }: DescribedGraph): GraphSchemas {
  const named = (channels: object | undefined): JsonObject | null =>
    channels === undefined
      ? null
      : toDraft07({
          type: 'object',
          properties: Object.fromEntries(
            Object.keys(channels)
              .filter((name) => !name.startsWith('__'))
              .map((name) => [name, {}]),
          ),
        })!;
  // `builder.channels` also has internal channels between nodes, so the state's definition is used.
  const { _inputDefinition: input, _outputDefinition: output } = builder ?? {};
  const state = (builder as { _schemaDefinition?: object } | undefined)?._schemaDefinition ?? input;
  return { input: named(input), output: named(output), state: named(state), config: NO_CONFIG };
}

export const NO_CONFIG: JsonObject = toDraft07({ type: 'object', properties: {} })!;

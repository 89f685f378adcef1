/**
 * The schemas that a graph carries with it at run time, in this order: the library's StateSchema objects; the helpers
 * of the user's own copy of the library, which know the extras that were registered for a schema; plain zod.
 */
import { z } from 'zod';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import type { GraphSchemas } from '../schema-port.ts';
import type { DescribedGraph, GraphBuilder, MetaRegistry } from './builder.ts';
import { toDraft07 } from './draft-07.ts';

/** `@langchain/langgraph/zod/schema` of the user's project; undefined when its version has none. */
export type SchemaHelpers = Readonly<Record<string, unknown>>;

type Kind = keyof GraphSchemas;

interface Source {
  readonly helper: string;
  /** The library's effects for this kind of schema. */
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
    // A symbol says "the state, in part".
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

/** Only what the graph carries: a kind that it says nothing about is absent. */
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
      // The helper gives up on the whole schema for one member that JSON Schema cannot say; below it becomes "any".
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

/** Zod 4, of whatever copy: its schemas describe themselves. Earlier ones need the helpers. */
function fromZod(schema: unknown): JsonObject | undefined {
  if (typeof schema !== 'object' || schema === null || !('_zod' in schema)) return undefined;
  const found = z.toJSONSchema(schema as z.ZodType, {
    target: 'draft-07',
    io: 'input',
    unrepresentable: 'any',
  });
  return toDraft07(withExtras(JSON.parse(JSON.stringify(found)) as Json));
}

/** How the library carries extras through a conversion: as a description that is JSON behind this prefix. */
const PREFIX = 'lg:';

function withExtras(value: Json): Json {
  if (Array.isArray(value)) return value.map(withExtras);
  if (!isObject(value)) return value;
  const result = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withExtras(item)]));
  const { description } = result;
  if (typeof description !== 'string' || !description.startsWith(PREFIX)) return result;
  const { description: _, ...rest } = result;
  return { ...rest, ...(JSON.parse(description.slice(PREFIX.length)) as JsonObject) };
}

/** What is left when nothing describes the values: the names of the graph's channels. */
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
  // The channels of the builder are the state's and those between its nodes.
  const { _inputDefinition: input, _outputDefinition: output } = builder ?? {};
  const state = (builder as { _schemaDefinition?: object } | undefined)?._schemaDefinition ?? input;
  return { input: named(input), output: named(output), state: named(state), config: NO_CONFIG };
}

export const NO_CONFIG: JsonObject = toDraft07({ type: 'object', properties: {} })!;

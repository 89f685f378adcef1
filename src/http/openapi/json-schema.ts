/** JSON Schemas of zod schemas, in the plain form that people and client generators read. */
import { z } from 'zod';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';

/** JSON Schema of a schema's input. Named schemas are added to `named` and referenced. */
export function toJsonSchema(schema: z.ZodType, named: JsonObject): JsonObject {
  const { $defs, $schema, ...rest } = z.toJSONSchema(schema, {
    ...{ io: 'input', unrepresentable: 'any' },
    // The library leaves out the defaults of schemas that transform their input.
    override({ zodSchema, jsonSchema }) {
      const { default: value } = z.globalRegistry.get(zodSchema) ?? {};
      if (value !== undefined) jsonSchema.default = value as Json;
    },
  });
  const text = JSON.stringify([rest, $defs ?? {}]).replaceAll('"#/$defs/', '"#/components/schemas/');
  const [root, definitions] = JSON.parse(text) as [JsonObject, JsonObject];
  for (const [name, definition] of Object.entries(definitions)) {
    const { id, ...content } = definition as JsonObject;
    named[name] ??= plain(content);
  }
  return plain(root) as JsonObject;
}

/**
 * Writes `null` into the type of a nullable member: its limits, values and default then stand beside its type, and not
 * in one of two alternatives.
 */
function plain(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(plain);
  if (!isObject(schema)) return schema;
  const members = Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => (isSafeBound(value) ? [] : [[key, plain(value)]])),
  );
  const other = alternativeToNull(members['anyOf']);
  if (other === undefined) return members;
  const { anyOf: _, ...rest } = members;
  const { type, enum: values, anyOf: choices, ...limits } = other;
  // A schema without members allows null already.
  if (Object.keys(other).length === 0) return rest;
  if (Array.isArray(choices)) return { ...limits, ...rest, anyOf: [...choices, NULL] };
  if (typeof type !== 'string') return members;
  return {
    ...{ type: [type, 'null'], ...limits },
    ...(Array.isArray(values) && { enum: [...values, null] }),
    ...rest,
  };
}

/** The other of two alternatives of which one is null. */
function alternativeToNull(choices: Json | undefined): JsonObject | undefined {
  if (!Array.isArray(choices) || choices.length !== 2 || !choices.some(isNull)) return undefined;
  const other = choices.find((each) => !isNull(each)) ?? null;
  return isObject(other) ? other : undefined;
}

/** The library gives these bounds to every integer without bounds. */
const isSafeBound = (value: Json): boolean =>
  value === Number.MAX_SAFE_INTEGER || value === Number.MIN_SAFE_INTEGER;

const NULL = { type: 'null' };
const isNull = (schema: Json): boolean => isObject(schema) && schema['type'] === 'null';

/** Removes null from a schema, because a query parameter cannot be null. */
export function withoutNull(schema: JsonObject): JsonObject {
  const { type, enum: values, anyOf: choices, ...rest } = schema;
  if (Array.isArray(choices)) {
    const others = choices.filter((each) => !isNull(each));
    const [only] = others;
    return others.length === 1 && isObject(only!) ? { ...only, ...rest } : { ...rest, anyOf: others };
  }
  const types = Array.isArray(type) ? type.filter((name) => name !== 'null') : [type];
  return {
    ...(type !== undefined && { type: types.length === 1 ? types[0]! : (types as string[]) }),
    ...rest,
    ...(Array.isArray(values) && { enum: values.filter((value) => value !== null) }),
  };
}

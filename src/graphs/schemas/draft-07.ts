/** Converts JSON Schema of later drafts to draft-07, the draft of this API. */
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';

/** The converted schema with `$schema` at its root only; undefined unless its type is `object` or it is a `$ref`. */
export function toDraft07(schema: unknown): JsonObject | undefined {
  if (schema === undefined || schema === null) return undefined;
  const plain = converted(JSON.parse(JSON.stringify(schema)) as Json);
  if (!isObject(plain) || (plain['type'] !== 'object' && !('$ref' in plain))) return undefined;
  return { $schema: DRAFT_07, ...plain };
}

function converted(value: Json): Json {
  if (Array.isArray(value)) return value.map(converted);
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    if (key === '$schema') continue;
    // Keys below `properties` are user-defined names; a property may be called `$defs`.
    if ((key === 'properties' || key === 'patternProperties') && isObject(item)) {
      result[key] = mapped(item);
    } else if ((key === '$defs' || key === 'definitions') && isObject(item)) {
      result['definitions'] = mapped(item);
    } else if (key === '$ref' && typeof item === 'string') {
      result[key] = item.replace('#/$defs/', '#/definitions/');
    } else if (key === 'prefixItems') {
      result['items'] = converted(item);
      if (isObject(value['items'])) result['additionalItems'] = converted(value['items']);
    } else if (key === 'items' && 'prefixItems' in value) {
      continue;
    } else if (key === 'default' || key === 'const' || key === 'enum' || key === 'examples') {
      result[key] = item;
    } else result[key] = converted(item);
  }
  return result;
}

const mapped = (schemas: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, converted(schema)]));

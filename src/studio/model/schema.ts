/** Fields of a form from a JSON Schema, as far as forms can show it; anything else is entered as JSON. */
import type { Json, JsonObject } from '../api/types.ts';
import { isObject } from './words.ts';

export interface Field {
  readonly name: string;
  readonly title: string;
  readonly hint: string;
  readonly kind: 'text' | 'number' | 'flag' | 'choice' | 'json';
  readonly choices: readonly Json[];
  readonly isRequired: boolean;
  readonly initial: Json | undefined;
}

/** Undefined when the schema is not that of an object with members. */
export function fieldsOf(schema: JsonObject | null | undefined): readonly Field[] | undefined {
  const own = resolve(schema ?? {}, schema ?? {});
  const members = own['properties'];
  if (!isObject(members) || Object.keys(members).length === 0) return undefined;
  const required = new Set(Array.isArray(own['required']) ? (own['required'] as Json[]) : []);
  return Object.entries(members as JsonObject).map(([name, given]) =>
    toField(name, resolve(given, schema!), required.has(name)),
  );
}

/** A schema for a single value, such as that of an answer. */
export const fieldOf = (name: string, schema: JsonObject): Field =>
  toField(name, resolve(schema, schema), true);

function toField(name: string, schema: JsonObject, isRequired: boolean): Field {
  const { title, description } = schema;
  const choices = choicesOf(schema);
  return {
    name,
    title: typeof title === 'string' ? title : name,
    hint: typeof description === 'string' ? description : '',
    kind: choices.length > 0 ? 'choice' : kindOf(schema['type']),
    choices,
    isRequired,
    initial: schema['default'],
  };
}

function choicesOf(schema: JsonObject): readonly Json[] {
  if (Array.isArray(schema['enum'])) return schema['enum'] as readonly Json[];
  const options = schema['oneOf'] ?? schema['anyOf'];
  if (!Array.isArray(options)) return [];
  const constants = (options as readonly Json[]).map((each) =>
    isObject(each) ? (each as JsonObject)['const'] : undefined,
  );
  return constants.every((each) => each !== undefined) ? (constants as Json[]) : [];
}

function kindOf(type: Json | undefined): Field['kind'] {
  const own = Array.isArray(type) ? (type as Json[]).find((each) => each !== 'null') : type;
  switch (own) {
    case 'string':
      return 'text';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'flag';
    default:
      return 'json';
  }
}

/** Follows references within the document, a few levels deep at most. */
function resolve(schema: Json, root: JsonObject, depth = 0): JsonObject {
  if (!isObject(schema)) return {};
  const own = schema as JsonObject;
  const reference = own['$ref'];
  if (typeof reference === 'string' && reference.startsWith('#/') && depth < 8) {
    const target = reference
      .slice(2)
      .split('/')
      .reduce<Json | undefined>(
        (at, part) => (isObject(at) ? (at as JsonObject)[decodeURIComponent(part)] : undefined),
        root,
      );
    return resolve(target ?? {}, root, depth + 1);
  }
  const options = own['anyOf'];
  if (own['type'] === undefined && Array.isArray(options)) {
    const real = (options as readonly Json[]).filter(
      (each) => isObject(each) && (each as JsonObject)['type'] !== 'null',
    );
    if (real.length === 1) return { ...resolve(real[0]!, root, depth + 1), ...own };
  }
  return own;
}

/** The value that a field's text stands for. Throws a sentence that names the field. */
export function parseField({ name, kind, choices }: Field, text: string): Json {
  switch (kind) {
    case 'text':
      return text;
    case 'flag':
      return text === 'true';
    case 'choice':
      return choices.find((each) => textOfChoice(each) === text) ?? null;
    case 'number': {
      const value = Number(text);
      if (text.trim() === '' || Number.isNaN(value)) throw new Error(`${name}: expected a number`);
      return value;
    }
    case 'json':
      return parseJson(text, name);
  }
}

export function parseJson(text: string, name: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new Error(`${name}: expected JSON (${(error as Error).message})`, { cause: error });
  }
}

export const textOfChoice = (value: Json): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

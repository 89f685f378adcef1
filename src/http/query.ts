/**
 * Parses query parameters to JSON values. Clients send strings and numbers raw and other values as JSON. A `list` is a
 * JSON array, repeated parameters or a comma-separated value. `texts` are repeated parameters, each taken unchanged. Any
 * other parameter that is empty counts as absent, and so does an empty list: clients send both for "not given".
 */
import { z } from 'zod';
import { findJsonProblem, type Json } from '../kernel/json.ts';
import { invalid } from './replies.ts';

type Kind = 'text' | 'number' | 'boolean' | 'list' | 'texts' | 'json';
type Kinds = Readonly<Record<string, Kind>>;

/** Schemas of parameters whose kind does not follow from their type. */
export const queryKinds = z.registry<{ readonly kind: Kind }>();

/** The kinds of the members of a query's schema. */
export const kindsOf = (query: z.ZodObject): Kinds =>
  Object.fromEntries(
    Object.entries(query.shape).map(([field, schema]) => [field, kindOf(schema as z.ZodType)]),
  );

function kindOf(schema: z.ZodType): Kind {
  const registered = queryKinds.get(schema);
  if (registered !== undefined) return registered.kind;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return kindOf(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodPipe) return kindOf(schema.in as z.ZodType);
  // A union is read as the first of its types.
  if (schema instanceof z.ZodUnion) return kindOf(schema.options[0] as z.ZodType);
  switch (schema.type) {
    case 'string':
    case 'enum':
      return 'text';
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array':
      return 'list';
    default:
      return 'json';
  }
}

/** Members of the query of an absolute URL; parameters that `kinds` does not name are left out. */
export function readQuery(url: string, kinds: Kinds): Record<string, Json> {
  if (!url.includes('?')) return {};
  const { searchParams } = new URL(url);
  const values: Record<string, Json> = {};
  for (const [field, kind] of Object.entries(kinds)) {
    const sent = searchParams.getAll(field);
    const given = kind === 'texts' ? sent : sent.filter((text) => text !== '');
    const first = given[0];
    if (first === undefined) continue;
    if (kind === 'texts') values[field] = given;
    else if (kind !== 'list') values[field] = scalar(field, first, kind);
    else {
      const list = given.flatMap((text) => listOf(text));
      if (list.length > 0) values[field] = list;
    }
  }
  return values;
}

function scalar(field: string, text: string, kind: Exclude<Kind, 'list' | 'texts'>): Json {
  switch (kind) {
    case 'text':
      return text;
    case 'number':
      if (!/^-?\d{1,15}(\.\d+)?$/.test(text)) throw invalid(`${field}: expected a number`);
      return Number(text);
    case 'boolean':
      return flagOf(field, text);
    case 'json':
      return parsed(field, text);
  }
}

function flagOf(field: string, text: string): boolean {
  const flag = parseFlag(text);
  if (flag === undefined) throw invalid(`${field}: expected true or false`);
  return flag;
}

/** Undefined for text that is no boolean. */
export function parseFlag(text: string): boolean | undefined {
  const lower = text.toLowerCase();
  if (['true', '1', 'yes'].includes(lower)) return true;
  return ['false', '0', 'no'].includes(lower) ? false : undefined;
}

/** Parses JSON with the limits of request bodies. */
function parsed(field: string, text: string): Json {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw invalid(`${field}: expected JSON (${(error as Error).message})`);
  }
  const problem = findJsonProblem(value, { checksTexts: true });
  if (problem !== undefined) throw invalid(`${field}: ${problem.problem}`);
  return value;
}

function listOf(text: string): Json[] {
  if (text.startsWith('[')) {
    try {
      const parsed = JSON.parse(text) as Json;
      if (Array.isArray(parsed)) return parsed;
    } catch {
      return [text];
    }
  }
  return text.split(',').filter((part) => part !== '');
}

/**
 * Parses and evaluates the filters of authorization handlers. A2 Anything but the shapes below is an error, and a missing
 * metadata key never matches.
 *
 *   {key: scalar}, {key: {$eq: scalar}}            metadata[key] is that scalar
 *   {key: [scalar, ...]}, {key: {$eq: [...]}}      metadata[key] is an array of exactly these, in this order
 *   {key: {$contains: scalar | [scalar, ...]}}     metadata[key] is an array holding it, or all of them
 *   {$or: [filter, ...]}, {$and: [filter, ...]}    non-empty filters; at the top and one level below
 *
 * All keys of a filter must match. `{}` at the top restricts nothing.
 */
import type { Json, JsonObject } from '../kernel/json.ts';
import { isPlainObject } from './plain.ts';
import { ToldFault } from './refusal.ts';

export type Scalar = string | number | boolean | null;

export type Condition =
  | { readonly op: 'equal'; readonly key: string; readonly value: Scalar | readonly Scalar[] }
  | { readonly op: 'contains'; readonly key: string; readonly values: readonly Scalar[] }
  | { readonly op: 'any' | 'every'; readonly of: readonly Filter[] };

/** Conditions that must all hold; an empty list restricts nothing. Plain JSON, because the database gets it as text. */
export type Filter = readonly Condition[];

/** Clients see the message, so it has the path and the problem but never a value. */
export class FilterError extends ToldFault {
  constructor(path: string, problem: string) {
    super(`auth filter${path === '' ? '' : ` at "${path}"`}: ${problem}`);
    this.name = 'FilterError';
  }
}

const MAX_LOGIC_LEVELS = 2;

/** Copies a handler's filter to its normal form; undefined and `{}` give `[]`. Throws `FilterError`. */
export function parseFilter(raw: unknown): Filter {
  if (raw === undefined) return [];
  return readEntries(raw, '').map(([key, value]) => parseCondition(key, value, '', MAX_LOGIC_LEVELS));
}

/** True if a resource with this metadata passes the filter. Only own keys of the metadata count. */
export function matchesFilter(metadata: JsonObject, filter: Filter): boolean {
  return filter.every((condition) => holds(metadata, condition));
}

/**
 * True if the filter allows a metadata change. A write to a key that the filter names must give metadata that passes it;
 * otherwise a caller could move a resource to another owner.
 */
export function allowsWrite(written: JsonObject, resulting: JsonObject, filter: Filter): boolean {
  return !keysOf(filter).some((key) => Object.hasOwn(written, key)) || matchesFilter(resulting, filter);
}

const keysOf = (filter: Filter): string[] =>
  filter.flatMap((condition) => ('key' in condition ? [condition.key] : condition.of.flatMap(keysOf)));

function holds(metadata: JsonObject, condition: Condition): boolean {
  switch (condition.op) {
    case 'equal':
      return Object.hasOwn(metadata, condition.key) && isEqual(metadata[condition.key], condition.value);
    case 'contains': {
      const found = Object.hasOwn(metadata, condition.key) ? metadata[condition.key] : undefined;
      return Array.isArray(found) && condition.values.every((value) => found.includes(value));
    }
    case 'any':
      return condition.of.some((filter) => matchesFilter(metadata, filter));
    case 'every':
      return condition.of.every((filter) => matchesFilter(metadata, filter));
    default:
      // Filters are also read from stored text: an unknown condition must not pass.
      condition satisfies never;
      return false;
  }
}

const isEqual = (found: Json | undefined, wanted: Scalar | readonly Scalar[]): boolean =>
  isList(wanted)
    ? Array.isArray(found) && found.length === wanted.length && wanted.every((each, i) => each === found[i])
    : found === wanted;

function parseCondition(key: string, raw: unknown, parent: string, levels: number): Condition {
  const path = parent === '' ? key : `${parent}.${key}`;
  if (key === '$or') return { op: 'any', of: parseBranches(raw, path, levels) };
  if (key === '$and') return { op: 'every', of: parseBranches(raw, path, levels) };
  if (key.startsWith('$')) throw new FilterError(path, 'unknown operator');
  if (isScalar(raw) || Array.isArray(raw)) return { op: 'equal', key, value: parseOperand(raw, path) };
  // The usual mistake is the whole user in place of one of its fields.
  if (isObjectValue(raw))
    throw new FilterError(
      path,
      'expected a string, a number, true, false, null, a list of them, {"$eq": …} or {"$contains": …}, ' +
        'found an object; use one of its fields, such as user.identity',
    );
  const entries = readEntries(raw, path);
  if (entries.length !== 1) throw new FilterError(path, `expected one operator, found ${entries.length}`);
  const [operator, operand] = entries[0]!;
  if (operator === '$eq') return { op: 'equal', key, value: parseOperand(operand, `${path}.$eq`) };
  if (operator === '$contains')
    return { op: 'contains', key, values: [parseOperand(operand, `${path}.$contains`)].flat() };
  throw new FilterError(path, `unknown operator "${operator}"`);
}

function parseOperand(raw: unknown, path: string): Scalar | Scalar[] {
  // `Array.from` turns holes into undefined; `every` would skip them.
  const value: unknown = Array.isArray(raw) ? Array.from(raw) : raw;
  if (isScalar(value) || (Array.isArray(value) && value.every(isScalar))) return value;
  throw new FilterError(path, 'expected a scalar or an array of scalars');
}

function parseBranches(raw: unknown, path: string, levels: number): Filter[] {
  if (levels === 0) throw new FilterError(path, `nested deeper than ${MAX_LOGIC_LEVELS} levels`);
  if (!Array.isArray(raw) || raw.length === 0) throw new FilterError(path, 'expected a non-empty array');
  return Array.from(raw, (branch: unknown, i) => {
    const at = `${path}[${i}]`;
    const entries = readEntries(branch, at);
    // An empty branch would make the whole `$or` match everything.
    if (entries.length === 0) throw new FilterError(at, 'an empty filter');
    return entries.map(([key, value]) => parseCondition(key, value, at, levels - 1));
  });
}

/** All own entries. Symbol keys, which some libraries use as operators, throw, so that no filter looks empty. */
function readEntries(raw: unknown, path: string): [string, unknown][] {
  if (!isPlainObject(raw)) throw new FilterError(path, 'expected a scalar or a plain object');
  return Reflect.ownKeys(raw).map((key) => {
    if (typeof key === 'symbol') throw new FilterError(path, 'a symbol as a key');
    return [key, raw[key]];
  });
}

/** True for an object that has keys but no operator. */
const isObjectValue = (raw: unknown): boolean => {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return false;
  const keys = Reflect.ownKeys(raw);
  return keys.length > 0 && keys.every((key) => typeof key === 'string' && !key.startsWith('$'));
};

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

const isScalar = (value: unknown): value is Scalar =>
  value === null ||
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value));

/**
 * The filters that authorization handlers return. A2: they restrict, so every doubt denies: what is not exactly one of
 * the shapes below is an error, and a missing key matches nothing.
 *
 *   {key: scalar}, {key: {$eq: scalar}}            metadata[key] is that scalar
 *   {key: {$contains: scalar | [scalar, ...]}}     metadata[key] is an array holding it, or all of them
 *   {$or: [filter, ...]}, {$and: [filter, ...]}    non-empty filters; at the top and one level below
 *
 * All keys of a filter must match. `{}` at the top restricts nothing.
 */
import type { JsonObject } from '../kernel/json.ts';
import { isPlainObject } from './plain.ts';

export type Scalar = string | number | boolean | null;

export type Condition =
  | { readonly op: 'equal'; readonly key: string; readonly value: Scalar }
  | { readonly op: 'contains'; readonly key: string; readonly values: readonly Scalar[] }
  | { readonly op: 'any' | 'every'; readonly of: readonly Filter[] };

/** Conditions that must all hold, none restricting nothing. Plain JSON: it may cross into the database as text. */
export type Filter = readonly Condition[];

/** Names the place and the problem, never a value. */
export class FilterError extends Error {
  constructor(path: string, problem: string) {
    super(`auth filter${path === '' ? '' : ` at "${path}"`}: ${problem}`);
    this.name = 'FilterError';
  }
}

/**
 * A key is compared with an object, which is nearly always the whole user instead of a field of it. Its message is
 * told to clients: it holds the handler's own key and no value.
 */
export class ObjectInFilter extends FilterError {
  constructor(path: string) {
    super(
      path,
      'expected a string, a number, true, false, null, {"$eq": …} or {"$contains": …}, found an object; ' +
        'use one of its fields, such as user.identity',
    );
    this.name = 'ObjectInFilter';
  }
}

const LOGIC_LEVELS = 2;

/** Turns a handler's filter into its normal form, a fresh copy; undefined and `{}` give `[]`. Throws `FilterError`. */
export function parseFilter(raw: unknown): Filter {
  if (raw === undefined) return [];
  return readEntries(raw, '').map(([key, value]) => parseCondition(key, value, '', LOGIC_LEVELS));
}

/** Does a resource with this metadata pass? Pure; only the metadata's own keys count. */
export function matchesFilter(metadata: JsonObject, filter: Filter): boolean {
  return filter.every((condition) => holds(metadata, condition));
}

/**
 * May metadata be changed so? A filter also binds what is written: who sets a key that it names has to set it to what
 * it allows, or a resource could be moved out of the filter and into somebody else's.
 */
export function allowsWrite(written: JsonObject, resulting: JsonObject, filter: Filter): boolean {
  return !keysOf(filter).some((key) => Object.hasOwn(written, key)) || matchesFilter(resulting, filter);
}

const keysOf = (filter: Filter): string[] =>
  filter.flatMap((condition) => ('key' in condition ? [condition.key] : condition.of.flatMap(keysOf)));

function holds(metadata: JsonObject, condition: Condition): boolean {
  switch (condition.op) {
    case 'equal':
      return Object.hasOwn(metadata, condition.key) && metadata[condition.key] === condition.value;
    case 'contains': {
      const found = Object.hasOwn(metadata, condition.key) ? metadata[condition.key] : undefined;
      return Array.isArray(found) && condition.values.every((value) => found.includes(value));
    }
    case 'any':
      return condition.of.some((filter) => matchesFilter(metadata, filter));
    case 'every':
      return condition.of.every((filter) => matchesFilter(metadata, filter));
    default:
      // Filters come back from text: one that this version cannot read must not pass.
      condition satisfies never;
      return false;
  }
}

function parseCondition(key: string, raw: unknown, parent: string, levels: number): Condition {
  const path = parent === '' ? key : `${parent}.${key}`;
  if (key === '$or') return { op: 'any', of: parseBranches(raw, path, levels) };
  if (key === '$and') return { op: 'every', of: parseBranches(raw, path, levels) };
  if (key.startsWith('$')) throw new FilterError(path, 'unknown operator');
  if (isScalar(raw)) return { op: 'equal', key, value: raw };
  if (isObjectValue(raw)) throw new ObjectInFilter(path);
  const entries = readEntries(raw, path);
  if (entries.length !== 1) throw new FilterError(path, `expected one operator, found ${entries.length}`);
  const [operator, operand] = entries[0]!;
  if (operator === '$eq') {
    if (!isScalar(operand)) throw new FilterError(`${path}.$eq`, 'expected a scalar');
    return { op: 'equal', key, value: operand };
  }
  if (operator === '$contains') return { op: 'contains', key, values: parseContained(operand, path) };
  throw new FilterError(path, `unknown operator "${operator}"`);
}

function parseContained(raw: unknown, path: string): Scalar[] {
  const values: unknown[] = Array.isArray(raw) ? Array.from(raw) : [raw];
  if (values.length === 0 || !values.every(isScalar))
    throw new FilterError(`${path}.$contains`, 'expected a scalar or a non-empty array of scalars');
  return values;
}

function parseBranches(raw: unknown, path: string, levels: number): Filter[] {
  if (levels === 0) throw new FilterError(path, `nested deeper than ${LOGIC_LEVELS} levels`);
  if (!Array.isArray(raw) || raw.length === 0) throw new FilterError(path, 'expected a non-empty array');
  return Array.from(raw, (branch: unknown, i) => {
    const at = `${path}[${i}]`;
    const entries = readEntries(branch, at);
    // An empty branch would match everything, and with it the whole `$or`.
    if (entries.length === 0) throw new FilterError(at, 'an empty filter');
    return entries.map(([key, value]) => parseCondition(key, value, at, levels - 1));
  });
}

/** Own keys of every sort: a symbol (other libraries write operators so) must not make a filter look empty. */
function readEntries(raw: unknown, path: string): [string, unknown][] {
  if (!isPlainObject(raw)) throw new FilterError(path, 'expected a scalar or a plain object');
  return Reflect.ownKeys(raw).map((key) => {
    if (typeof key === 'symbol') throw new FilterError(path, 'a symbol as a key');
    return [key, raw[key]];
  });
}

/** An object with members and no operator among them. */
const isObjectValue = (raw: unknown): boolean => {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return false;
  const keys = Reflect.ownKeys(raw);
  return keys.length > 0 && keys.every((key) => typeof key === 'string' && !key.startsWith('$'));
};

const isScalar = (value: unknown): value is Scalar =>
  value === null ||
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value));

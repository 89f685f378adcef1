/**
 * Parses filters. Anything but these shapes throws a `FilterError` with the place:
 *
 *   {$and: [filter, …]}, {$or: [filter, …]}, {$not: filter}   non-empty filters
 *   {key: value}                                              see `PlainRule`
 *   {key: {operator: operand, …}}                             all operators hold (auth: only one)
 *
 *   $eq value              equal
 *   $in [value, …]         equal to one of at most 10,000
 *   $contains              an array with this scalar, or with all scalars of this list
 *   $exists true | false   the member is there, or not
 *   $ne $nin $gt $gte $lt $lte   searches only; order of two numbers or two texts
 *
 * A missing member passes only `$ne`, `$nin`, `$not` and `{$exists: false}`. An object value with operators in it is a
 * filter over that object: {address: {city: {$in: […]}}}.
 */
import type { Condition, Filter, Scalar } from './filter.ts';
import { isPlainObject, type Json, type JsonObject } from './json.ts';

/** Names the place and the problem but never a value, because clients see the message. */
export class FilterError extends Error {
  readonly path: string;
  readonly problem: string;
  constructor(path: string, problem: string) {
    super(path === '' ? problem : `${path}: ${problem}`);
    this.name = 'FilterError';
    this.path = path;
    this.problem = problem;
  }
}

/**
 * Meaning of `{key: value}`. `equal`: the member is the value. `part`: the member contains the value (containment.ts).
 * `scalar`: as `equal`, and every value is a scalar or a list of scalars.
 */
export type PlainRule = 'equal' | 'part' | 'scalar';

const MAX_FILTER_LEVELS = 8;
/** Operands or branches of one operator: each is compared with every candidate. */
export const MAX_FILTER_OPERANDS = 10_000;

/** Parses to the normal form; undefined and `{}` give `[]`. */
export const parseFilter = (raw: unknown, plain: PlainRule): Filter =>
  raw === undefined ? [] : parseMembers(raw, { plain, path: '', levels: MAX_FILTER_LEVELS });

/** Describes an invalid filter for the client; undefined when it is valid. */
export function findFilterProblem(raw: JsonObject, plain: PlainRule): FilterError | undefined {
  try {
    parseFilter(raw, plain);
    return undefined;
  } catch (error) {
    if (error instanceof FilterError) return error;
    throw error;
  }
}

interface Place {
  readonly plain: PlainRule;
  readonly path: string;
  /** Levels of logic that may follow. */
  readonly levels: number;
}

const at = (place: Place, path: string): Place => ({ ...place, path });
const member = (place: Place, key: string): Place =>
  at(place, place.path === '' ? key : `${place.path}.${key}`);

function deeper(place: Place): Place {
  if (place.levels === 0) throw new FilterError(place.path, `nested deeper than ${MAX_FILTER_LEVELS} levels`);
  return { ...place, levels: place.levels - 1 };
}

const parseMembers = (raw: unknown, place: Place): Condition[] =>
  readEntries(raw, place.path).flatMap(([key, value]) => parseMember(key, value, member(place, key)));

function parseMember(key: string, raw: unknown, place: Place): readonly Condition[] {
  if (key === '$or' || key === '$and') return [parseBranches(key, raw, place, parseBranch)];
  if (key === '$not') return [{ op: 'not', of: parseBranch(raw, deeper(place)) }];
  if (isOperator(key) || (place.plain === 'scalar' && key.startsWith('$')))
    throw new FilterError(place.path, 'unknown operator');
  if (!isObjectValue(raw)) return [parsePlain(key, raw, place)];
  const keys = Reflect.ownKeys(raw);
  if (keys.some(isOperator)) return parseOperators(key, raw, place);
  if (place.plain !== 'scalar')
    return hasOperators(raw)
      ? [{ op: 'inside', key, of: parseMembers(raw, deeper(place)) }]
      : [parsePlain(key, raw, place)];
  // The usual mistake is the whole user in place of one of its fields.
  throw new FilterError(
    place.path,
    'expected a string, a number, true, false, null, a list of them, {"$eq": …} or another operator, ' +
      'found an object; use one of its fields, such as user.identity',
  );
}

/** An empty branch would make the whole `$or` match everything. */
function parseBranch(raw: unknown, place: Place): Filter {
  const branch = parseMembers(raw, place);
  if (branch.length === 0) throw new FilterError(place.path, 'an empty filter');
  return branch;
}

function parseBranches(
  operator: '$or' | '$and',
  raw: unknown,
  place: Place,
  parse: (branch: unknown, place: Place) => Filter,
): Condition {
  const inner = deeper(place);
  const list = readList(raw, place.path);
  if (list.length === 0) throw new FilterError(place.path, 'expected a non-empty array');
  const of = list.map((branch, i) => parse(branch, at(inner, `${place.path}[${i}]`)));
  return { op: operator === '$or' ? 'any' : 'every', of };
}

type Parse = (key: string, operand: unknown, place: Place) => Condition;

const equal: Parse = (key, raw, place) => ({ op: 'equal', key, value: parseOperand(raw, place) });
const within: Parse = (key, raw, place) => ({
  op: 'in',
  key,
  values: readList(raw, place.path).map((each, i) => parseOperand(each, at(place, `${place.path}[${i}]`))),
});
const ordered =
  (op: 'gt' | 'gte' | 'lt' | 'lte'): Parse =>
  (key, raw, { path }) => {
    if (typeof raw === 'string' || (typeof raw === 'number' && Number.isFinite(raw)))
      return { op, key, value: raw };
    throw new FilterError(path, 'expected a number or a string');
  };
const not =
  (parse: Parse): Parse =>
  (...given) => ({ op: 'not', of: [parse(...given)] });

/** A missing member passes none of them but `$not` and `{$exists: false}`, so a resource without an owner is not open. */
const ACCESS_OPERATORS: ReadonlyMap<string, Parse> = new Map<string, Parse>([
  ['$eq', equal],
  ['$in', within],
  ['$contains', (key, raw, { path }) => ({ op: 'contains', key, values: parseScalars(raw, path) })],
  [
    '$exists',
    (key, raw, { path }) => {
      if (typeof raw !== 'boolean') throw new FilterError(path, 'expected true or false');
      return { op: 'exists', key, value: raw };
    },
  ],
  ['$not', (key, raw, place) => ({ op: 'not', of: parseOperators(key, raw, deeper(place)) })],
  ['$or', (key, raw, place) => parseBranches('$or', raw, place, operatorsOf(key))],
  ['$and', (key, raw, place) => parseBranches('$and', raw, place, operatorsOf(key))],
]);

const OPERATORS: ReadonlyMap<string, Parse> = new Map<string, Parse>([
  ...ACCESS_OPERATORS,
  ['$ne', not(equal)],
  ['$nin', not(within)],
  ['$gt', ordered('gt')],
  ['$gte', ordered('gte')],
  ['$lt', ordered('lt')],
  ['$lte', ordered('lte')],
]);

const operatorsOf =
  (key: string) =>
  (branch: unknown, place: Place): Filter =>
    parseOperators(key, branch, place);

function parseOperators(key: string, raw: unknown, place: Place): Filter {
  const entries = readEntries(raw, place.path);
  if (entries.length === 0 || (place.plain === 'scalar' && entries.length > 1))
    throw new FilterError(place.path, `expected one operator, found ${entries.length}`);
  return entries.map(([operator, operand]) => {
    const known = place.plain === 'scalar' ? ACCESS_OPERATORS : OPERATORS;
    const parse = known.get(operator);
    if (parse !== undefined) return parse(key, operand, member(place, operator));
    throw new FilterError(place.path, `expected one of ${[...known.keys()].join(', ')}, found "${operator}"`);
  });
}

const parsePlain = (key: string, raw: unknown, place: Place): Condition =>
  place.plain === 'part'
    ? { op: 'part', key, value: raw as Json }
    : { op: 'equal', key, value: parseOperand(raw, place) };

function parseOperand(raw: unknown, { plain, path }: Place): Json {
  // Filters of clients were parsed as JSON.
  if (plain !== 'scalar') return raw as Json;
  return isScalar(raw) ? raw : parseScalars(raw, path);
}

function parseScalars(raw: unknown, path: string): Scalar[] {
  const list = Array.isArray(raw) ? readList(raw, path) : [raw];
  if (list.every(isScalar)) return list;
  throw new FilterError(path, 'expected a scalar or an array of scalars');
}

function readList(raw: unknown, path: string): unknown[] {
  if (!Array.isArray(raw)) throw new FilterError(path, 'expected a list');
  if (raw.length > MAX_FILTER_OPERANDS)
    throw new FilterError(path, `expected at most ${MAX_FILTER_OPERANDS} values, found ${raw.length}`);
  // `Array.from` turns holes into undefined; `every` would skip them.
  return Array.from(raw as unknown[]);
}

/** All own entries. Symbol keys, which some libraries use as operators, throw, so that no filter looks empty. */
function readEntries(raw: unknown, path: string): [string, unknown][] {
  if (!isPlainObject(raw)) throw new FilterError(path, 'expected a scalar or a plain object');
  return Reflect.ownKeys(raw).map((key) => {
    if (typeof key === 'symbol') throw new FilterError(path, 'a symbol as a key');
    return [key, raw[key]];
  });
}

const isObjectValue = (raw: unknown): raw is object =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw);

/** Symbols count, so that `readEntries` refuses them. */
const isOperator = (key: string | symbol): boolean => typeof key === 'symbol' || /^\$[a-z]+$/i.test(key);

/** True for an object with an operator at any depth, outside of lists. */
const hasOperators = (raw: object): boolean =>
  Object.entries(raw as JsonObject).some(
    ([key, value]) => isOperator(key) || (isObjectValue(value) && hasOperators(value)),
  );

const isScalar = (value: unknown): value is Scalar =>
  value === null ||
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value));

/**
 * Filters over JSON documents: the tree and its pure evaluator. Searches of clients and filters of authorization handlers
 * are parsed to this tree (filter-syntax.ts); SQL narrows candidates by it and calls `matchesFilter` for the rest.
 */
import { contains } from './containment.ts';
import { canonical, isObject, type Json, type JsonObject } from './json.ts';

export type Scalar = string | number | boolean | null;

export type Condition =
  | { readonly op: 'any' | 'every'; readonly of: readonly Filter[] }
  | { readonly op: 'not'; readonly of: Filter }
  | KeyCondition;

/** A condition on the member `key`; without that member only `exists: false` holds. */
type KeyCondition = { readonly key: string } & (
  | { readonly op: 'equal'; readonly value: Json }
  /** Containment as in `contains`. */
  | { readonly op: 'part'; readonly value: Json }
  | { readonly op: 'in'; readonly values: readonly Json[] }
  /** The member is an array with all of these. */
  | { readonly op: 'contains'; readonly values: readonly Scalar[] }
  | { readonly op: 'exists'; readonly value: boolean }
  | { readonly op: keyof typeof ORDERS; readonly value: Json }
  /** The member is an object that passes the filter. */
  | { readonly op: 'inside'; readonly of: Filter }
);

/** Conditions that must all hold; an empty list restricts nothing. Plain JSON, because the database gets it as text. */
export type Filter = readonly Condition[];

const ORDERS = {
  gt: (order: number) => order > 0,
  gte: (order: number) => order >= 0,
  lt: (order: number) => order < 0,
  lte: (order: number) => order <= 0,
} as const;

/** True if the document passes all conditions; only its own members count. Throws for an unknown condition. */
export function matchesFilter(document: JsonObject, filter: Filter): boolean {
  return filter.every((condition) => holds(document, condition));
}

/** Every key that the filter names at the top of the document. */
export const keysOf = (filter: Filter): string[] =>
  filter.flatMap((condition) => {
    if ('key' in condition) return [condition.key];
    return condition.op === 'not' ? keysOf(condition.of) : condition.of.flatMap(keysOf);
  });

function holds(document: JsonObject, condition: Condition): boolean {
  if ('key' in condition)
    return holdsFor(Object.hasOwn(document, condition.key) ? document[condition.key] : undefined, condition);
  switch (condition.op) {
    case 'any':
      return condition.of.some((filter) => matchesFilter(document, filter));
    case 'every':
      return condition.of.every((filter) => matchesFilter(document, filter));
    case 'not':
      return !matchesFilter(document, condition.of);
    default:
      throw unknownCondition(condition);
  }
}

function holdsFor(found: Json | undefined, condition: KeyCondition): boolean {
  switch (condition.op) {
    case 'equal':
      return isEqual(found, condition.value);
    case 'part':
      return contains(found, condition.value);
    case 'in':
      return condition.values.some((value) => isEqual(found, value));
    case 'contains':
      return Array.isArray(found) && condition.values.every((value) => found.includes(value));
    case 'exists':
      return (found !== undefined) === condition.value;
    case 'inside':
      return isObject(found) && matchesFilter(found, condition.of);
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte': {
      const order = compare(found, condition.value);
      return order !== undefined && ORDERS[condition.op](order);
    }
    default:
      throw unknownCondition(condition);
  }
}

/** Thrown, because a condition that merely fails would pass below a `not` (A2). */
export const unknownCondition = (condition: never): TypeError =>
  new TypeError(`unknown condition of a filter: ${JSON.stringify(condition)}`);

const isEqual = (found: Json | undefined, wanted: Json): boolean =>
  found === wanted ||
  (typeof found === 'object' && typeof wanted === 'object' && canonical(found) === canonical(wanted));

/** Orders numbers and numeric texts as numbers, other texts as texts; undefined for anything else. */
function compare(a: Json | undefined, b: Json): number | undefined {
  const [x, y] = [toNumber(a), toNumber(b)];
  if (x !== undefined && y !== undefined) return x - y;
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : a > b ? 1 : 0;
  return undefined;
}

function toNumber(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const number = Number(value);
  return Number.isNaN(number) ? undefined : number;
}

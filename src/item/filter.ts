/**
 * Search filters on an item's value: `{field: value}` or `{field: {$eq, $ne, $gt, $gte, $lt, $lte, $in, $nin}}`; all
 * conditions must hold. Values are ordered as numbers if both are numbers or numeric texts, else as texts if both are
 * texts. Other values are unordered, so comparisons fail.
 */
import { canonical, isObject, type Json, type JsonObject } from '../kernel/json.ts';

type Test = (found: Json | undefined, wanted: Json) => boolean;

const equal: Test = (found, wanted) => found !== undefined && canonical(found) === canonical(wanted);
const isIn: Test = (found, wanted) => (wanted as Json[]).some((one) => equal(found, one));
const ordered =
  (holds: (order: number) => boolean): Test =>
  (found, wanted) => {
    const order = compare(found, wanted);
    return order !== undefined && holds(order);
  };

const OPERATORS: ReadonlyMap<string, Test> = new Map([
  ['$eq', equal],
  ['$ne', (found, wanted) => !equal(found, wanted)],
  ['$gt', ordered((order) => order > 0)],
  ['$gte', ordered((order) => order >= 0)],
  ['$lt', ordered((order) => order < 0)],
  ['$lte', ordered((order) => order <= 0)],
  ['$in', isIn],
  ['$nin', (found, wanted) => !isIn(found, wanted)],
]);

/** Describes an invalid filter for the client; undefined when it is valid. */
export function findFilterProblem(filter: JsonObject): string | undefined {
  for (const [field, wanted] of Object.entries(filter)) {
    if (!hasOperators(wanted)) continue;
    for (const [operator, operand] of Object.entries(wanted)) {
      const known = [...OPERATORS.keys()].join(', ');
      if (!OPERATORS.has(operator)) return `filter.${field}: expected one of ${known}, found "${operator}"`;
      if ((operator === '$in' || operator === '$nin') && !Array.isArray(operand))
        return `filter.${field}.${operator}: expected a list`;
    }
  }
  return undefined;
}

/** Pure; considers own fields only. An invalid filter matches nothing. */
export function matchesValue(value: JsonObject, filter: JsonObject): boolean {
  if (findFilterProblem(filter) !== undefined) return false;
  return Object.entries(filter).every(([field, wanted]) => {
    const found = Object.hasOwn(value, field) ? value[field] : undefined;
    if (!hasOperators(wanted)) return equal(found, wanted);
    return Object.entries(wanted).every(([operator, operand]) => OPERATORS.get(operator)?.(found, operand));
  });
}

const hasOperators = (wanted: Json): wanted is JsonObject =>
  isObject(wanted) && Object.keys(wanted).some((key) => key.startsWith('$'));

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

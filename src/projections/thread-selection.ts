/**
 * What of a search an index answers, and what is left to be tried on each candidate. A filter is read here only to
 * find candidates fast: whatever this file does not know exactly stays with the function that decides (A2).
 */
import type { JsonObject } from '../kernel/json.ts';
import type { AccessFilter } from './filters.ts';
import { elementOf, isScalar, pairOf } from './metadata-pairs.ts';

export interface Selection {
  /** Every thread that matches has all of these. */
  readonly pairs: readonly string[];
  /** Conditions that the pairs do not say: undefined when they say everything. */
  readonly contains: JsonObject | undefined;
  readonly access: AccessFilter | undefined;
}

/** Every condition of both has to hold. */
export function selectBy(metadata: JsonObject | undefined, filter: AccessFilter | undefined): Selection {
  const contained = Object.entries(metadata ?? {}).map(([key, part]) => ({
    entry: [key, part] as const,
    pairs: pairsOfPart(key, part),
  }));
  const unsaid = contained.filter(({ pairs }) => pairs === undefined).map(({ entry }) => entry);
  const conditions = (filter ?? []).map((condition) => ({ condition, pairs: pairsOfCondition(condition) }));
  const undecided = conditions.filter(({ pairs }) => pairs === undefined).map(({ condition }) => condition);
  return {
    pairs: [...new Set([...contained, ...conditions].flatMap(({ pairs }) => pairs ?? []))],
    contains: unsaid.length === 0 ? undefined : Object.fromEntries(unsaid),
    access: undecided.length === 0 ? undefined : undecided,
  };
}

function pairsOfPart(key: string, part: unknown): string[] | undefined {
  if (isScalar(part)) return [pairOf(key, part)];
  return elementsOf(key, part);
}

/** An empty list says that there is a list, which no pair does. */
const elementsOf = (key: string, values: unknown): string[] | undefined =>
  Array.isArray(values) && values.length > 0 && values.every(isScalar)
    ? values.map((value) => elementOf(key, value))
    : undefined;

/** Conditions come in the normal form of the authorisation layer; one of another shape is not for an index. */
function pairsOfCondition(condition: object): string[] | undefined {
  const { op, key, value, values, of } = condition as Readonly<Record<string, unknown>>;
  if (op === 'equal' && typeof key === 'string' && isScalar(value)) return [pairOf(key, value)];
  if (op === 'contains' && typeof key === 'string') return elementsOf(key, values);
  if (op !== 'every' || !Array.isArray(of)) return undefined;
  const parts = (of as unknown[])
    .flat()
    .map((part) => (isObjectLike(part) ? pairsOfCondition(part) : undefined));
  return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
}

const isObjectLike = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** What of a filter an index answers, and what is left to be tried on each candidate (A2). */
import type { Condition, Filter } from '../../../kernel/filter.ts';
import { elementOf, isScalar, pairOf } from '../rows/metadata-pairs.ts';

export interface Selection {
  /** Every thread that matches has all of these. */
  readonly pairs: readonly string[];
  /** Conditions that the pairs do not say. */
  readonly rest: Filter;
}

export function selectBy(filter: Filter): Selection {
  const conditions = filter.map((condition) => ({ condition, pairs: pairsOfCondition(condition) }));
  return {
    pairs: [...new Set(conditions.flatMap(({ pairs }) => pairs ?? []))],
    rest: conditions.filter(({ pairs }) => pairs === undefined).map(({ condition }) => condition),
  };
}

/** Undefined for a condition that pairs do not say exactly. */
function pairsOfCondition(condition: Condition): string[] | undefined {
  switch (condition.op) {
    case 'equal':
      return isScalar(condition.value) ? [pairOf(condition.key, condition.value)] : undefined;
    case 'part':
      return isScalar(condition.value)
        ? [pairOf(condition.key, condition.value)]
        : elementsOf(condition.key, condition.value);
    case 'contains':
      return elementsOf(condition.key, condition.values);
    case 'every': {
      const parts = condition.of.flat().map(pairsOfCondition);
      return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
    }
    default:
      return undefined;
  }
}

/** An empty list says that there is a list, which no pair does. */
const elementsOf = (key: string, values: unknown): string[] | undefined =>
  Array.isArray(values) && values.length > 0 && values.every(isScalar)
    ? values.map((value) => elementOf(key, value))
    : undefined;

/** What of a filter the pairs of threads answer, and whether that is all of it (A2). */
import { unknownCondition, type Condition, type Filter } from '../../../kernel/filter.ts';
import type { Json } from '../../../kernel/json.ts';
import { elementPair, existsPair, isScalar, listPair, valuePair } from '../rows/metadata-pairs.ts';

/** Pairs of which a match has one. */
type Clause = readonly string[];

export interface Narrowing {
  /** Every match has a pair of each. */
  readonly clauses: readonly Clause[];
  /** What has a pair of each is a match. */
  readonly isExact: boolean;
}

/** Each is looked up before a search begins. */
const MAX_CLAUSE_PAIRS = 200;

export const narrow = (filter: Filter): Narrowing => all(filter.map(narrowBy));

function narrowBy(condition: Condition): Narrowing {
  switch (condition.op) {
    case 'equal':
      return valueOf(condition.key, condition.value);
    case 'in':
      return one(condition.values.map((value) => valueOf(condition.key, value)));
    case 'part':
      return Array.isArray(condition.value)
        ? listOf(condition.key, condition.value)
        : valueOf(condition.key, condition.value);
    case 'contains':
      return listOf(condition.key, condition.values);
    case 'exists':
      return condition.value ? exact([existsPair(condition.key)]) : ANY;
    case 'every':
      return all(condition.of.map(narrow));
    case 'any':
      return one(condition.of.map(narrow));
    case 'not':
      return ANY;
    case 'inside':
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return inexact([existsPair(condition.key)]);
    default:
      throw unknownCondition(condition);
  }
}

const ANY: Narrowing = { clauses: [], isExact: false };
const exact = (clause: Clause): Narrowing => ({ clauses: [clause], isExact: true });
const inexact = (clause: Clause): Narrowing => ({ clauses: [clause], isExact: false });

const valueOf = (key: string, value: Json): Narrowing =>
  isScalar(value) || Array.isArray(value) ? exact([valuePair(key, value)]) : inexact([existsPair(key)]);

function listOf(key: string, values: readonly Json[]): Narrowing {
  const elements = values.filter(isScalar).map((value) => exact([elementPair(key, value)]));
  const isAll = elements.length === values.length;
  return all([exact([listPair(key)]), ...elements, ...(isAll ? [] : [ANY])], elements.length > 0 ? 1 : 0);
}

const all = (parts: readonly Narrowing[], implied = 0): Narrowing => ({
  clauses: parts.slice(implied).flatMap(({ clauses }) => clauses),
  isExact: parts.every(({ isExact }) => isExact),
});

/** Exact when each branch is one clause; a branch without a clause leaves nothing to narrow by. */
function one(branches: readonly Narrowing[]): Narrowing {
  const clauses = branches.map(({ clauses: [first] }) => first);
  if (!clauses.every((clause) => clause !== undefined)) return ANY;
  const pairs = [...new Set(clauses.flat())];
  if (pairs.length > MAX_CLAUSE_PAIRS) return ANY;
  return {
    clauses: [pairs],
    isExact: branches.every(({ clauses: of, isExact }) => isExact && of.length === 1),
  };
}

/** How queries narrow by JSON: through a function of the connection, so text of a client is only ever a bound value. */
import { contains } from '../../../kernel/containment.ts';
import { parseFilter } from '../../../kernel/filter-syntax.ts';
import { matchesFilter, type Filter } from '../../../kernel/filter.ts';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import { fromStored } from '../../../kernel/stored-json.ts';
import type { Cell } from '../../port/rows.ts';

export interface Where {
  readonly clauses: string[];
  readonly params: Record<string, Cell>;
}

export function containsJson(doc: string | null, part: string | null): boolean {
  if (doc === null || part === null) return false;
  return contains(fromStored(doc, 'metadata of a row') as Json, JSON.parse(part) as Json);
}

/** The SQL function `filter_matches(document, filter)`; false without a document. */
export function createFilterMatches(): (document: string | null, filter: string | null) => boolean {
  // One statement passes the same filter for each of its rows.
  let text: string | undefined;
  let filter: Filter = [];
  return (document, given) => {
    if (document === null || given === null) return false;
    if (given !== text) [text, filter] = [given, JSON.parse(given) as Filter];
    return matchesFilter(fromStored(document, 'JSON of a row') as JsonObject, filter);
  };
}

/** What clients ask of metadata: plain values are contained in it. Throws a `FilterError`. */
export const metadataFilter = (metadata: JsonObject | undefined): Filter => parseFilter(metadata, 'part');

/** A2: every filter is a part of the query. `exempt`: an SQL condition on rows that pass anyway. */
export function whereMatches(
  where: Where,
  column: string,
  filter: Filter = [],
  { exempt = '0', parameter = 'filter' }: { exempt?: string; parameter?: string } = {},
): void {
  if (filter.length === 0) return;
  where.clauses.push(`(${exempt} OR filter_matches(${column}, @${parameter}))`);
  where.params[parameter] = JSON.stringify(filter);
}

export const conditionOf = (where: Where): string =>
  where.clauses.length === 0 ? '1' : where.clauses.join(' AND ');

/** How queries narrow by JSON: through functions of the connection, so text of a client is only ever a bound value. */
import { contains } from '../kernel/containment.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { fromStored } from '../kernel/stored-json.ts';
import type { Cell } from '../log/rows.ts';

/** A filter of the authorisation layer, normalised; what it means is decided by the function given to the log. */
export type AccessFilter = readonly object[];

export interface Where {
  readonly clauses: string[];
  readonly params: Record<string, Cell>;
}

export function containsJson(doc: string | null, part: string | null): boolean {
  if (doc === null || part === null) return false;
  return contains(fromStored(doc, 'metadata of a row') as Json, JSON.parse(part) as Json);
}

/** `json_contains(column, part)` */
export function whereContains(where: Where, column: string, part: JsonObject | undefined): void {
  if (part === undefined || Object.keys(part).length === 0) return;
  where.clauses.push(`json_contains(${column}, @contains)`);
  where.params['contains'] = JSON.stringify(part);
}

/** A2: every filter is a part of the query. `access_allows(metadata, filter)` */
export function whereAllowed(
  where: Where,
  column: string,
  filter: AccessFilter | undefined,
  exempt = '0',
  parameter = 'access',
): void {
  if (filter === undefined || filter.length === 0) return;
  where.clauses.push(`(${exempt} OR access_allows(${column}, @${parameter}))`);
  where.params[parameter] = JSON.stringify(filter);
}

export const conditionOf = (where: Where): string =>
  where.clauses.length === 0 ? '1' : where.clauses.join(' AND ');

/** How questions narrow by JSON: SQL reads rows in windows, the pure evaluator judges each (A2). */
import { parseFilter } from '../../../kernel/filter-syntax.ts';
import { matchesFilter, type Filter } from '../../../kernel/filter.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { fromStored } from '../../../kernel/stored-json.ts';
import type { Cell, Row } from '../../port/rows.ts';
import type { Params, Walks } from '../ask.ts';

export interface Where {
  readonly clauses: string[];
  readonly params: Record<string, Params[string]>;
}

/** Conditions `column = @column` for what is given. */
export function whereEqual(columns: Readonly<Record<string, Cell | undefined>>): Where {
  const where: Where = { clauses: [], params: {} };
  for (const [column, value] of Object.entries(columns)) {
    if (value === undefined) continue;
    const name = column.replace('.', '_');
    where.clauses.push(`${column} = @${name}`);
    where.params[name] = value;
  }
  return where;
}

export const conditionOf = (where: Where): string =>
  where.clauses.length === 0 ? '1 = 1' : where.clauses.join(' AND ');

/** What clients ask of metadata: plain values are contained in it. Throws a `FilterError`. */
export const metadataFilter = (metadata: JsonObject | undefined): Filter => parseFilter(metadata, 'part');

/** True if the text is JSON that passes the filter; without a filter all pass, with one NULL does not. */
export function passes(text: Cell | undefined, filter: Filter | undefined): boolean {
  if (filter === undefined || filter.length === 0) return true;
  return typeof text === 'string' && matchesFilter(fromStored(text, 'JSON of a row') as JsonObject, filter);
}

/** A page of the rows that pass, in the order of the query, and how many there are in all, at most `cap`. */
export async function judge<R extends Row>(
  ask: Walks,
  { sql, params }: { readonly sql: string; readonly params: Params },
  isMatch: (row: R) => boolean,
  { limit, offset, cap = Infinity }: { limit: number; offset: number; cap?: number },
): Promise<{ rows: R[]; total: number }> {
  const rows: R[] = [];
  let total = 0;
  for await (const window of ask.walk<R>(sql, params))
    for (const row of window) {
      if (!isMatch(row)) continue;
      total += 1;
      if (total > offset && rows.length < limit) rows.push(row);
      if (total >= cap) return { rows, total };
    }
  return { rows, total };
}

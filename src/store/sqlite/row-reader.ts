/** Reads derived rows at once, for the adapter's own statements and for tests. */
import { openCells } from '../sql/coder.ts';
import type { Row } from '../port/rows.ts';
import type { Params } from '../sql/ask.ts';
import type { Prepare } from './statements.ts';

export interface RowReader {
  all<R extends Row = Row>(sql: string, params?: Params): R[];
  get<R extends Row = Row>(sql: string, params?: Params): R | undefined;
}

export function createRowReader(prepare: Prepare): RowReader {
  const open = openCells(prepare.coder);
  return {
    all: <R extends Row>(sql: string, params: Params = {}) => (prepare(sql).all(params) as R[]).map(open),
    get<R extends Row>(sql: string, params: Params = {}) {
      const row = prepare(sql).get(params) as R | undefined;
      return row && open(row);
    },
  };
}

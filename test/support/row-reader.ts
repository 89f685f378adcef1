/** Reads derived rows at once. */
import { openCells } from '../../src/store/sql/coder.ts';
import type { Row } from '../../src/store/port/rows.ts';
import type { Params } from '../../src/store/sql/ask.ts';
import type { Prepare } from '../../src/store/sqlite/statements.ts';

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

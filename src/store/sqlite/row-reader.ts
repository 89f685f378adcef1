/** Reads derived rows at once, for the adapter's own statements and for tests. */
import { isSealed, type Coder } from '../sql/coder.ts';
import type { Row } from '../port/rows.ts';
import type { Params } from '../sql/ask.ts';
import type { Prepare } from './statements.ts';

export interface RowReader {
  all<R extends Row = Row>(sql: string, params?: Params): R[];
  get<R extends Row = Row>(sql: string, params?: Params): R | undefined;
}

export function createRowReader(prepare: Prepare): RowReader {
  const open = <R extends Row>(row: R): R => (prepare.coder.isPlain ? row : openCells(prepare.coder, row));
  return {
    all: <R extends Row>(sql: string, params: Params = {}) => (prepare(sql).all(params) as R[]).map(open),
    get<R extends Row>(sql: string, params: Params = {}) {
      const row = prepare(sql).get(params) as R | undefined;
      return row && open(row);
    },
  };
}

/** A row that was read, with its sealed cells opened. */
export const openCells = <R extends Row>(coder: Coder, row: R): R =>
  Object.fromEntries(
    Object.entries(row).map(([name, cell]) => [name, isSealed(cell) ? coder.open(cell) : cell]),
  ) as R;

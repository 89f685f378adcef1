/** Row writes of projections as SQL, and the reader of the rows they left. */
import { isSealed, type Coder, type Stored } from '../sql/coder.ts';
import type { Row, RowWrite } from '../port/rows.ts';
import type { Params } from '../sql/ask.ts';
import type { Projection } from '../sql/projection.ts';
import { cellsOf, createShapes, type WriteShape } from '../sql/write-shapes.ts';
import type { Prepare } from './statements.ts';

/** Makes writes happen, with `sealed` columns sealed; returns how many rows each one changed. */
export function createRowWriter(
  prepare: Prepare,
  sealed: Projection['sealed'] = {},
): (write: RowWrite) => number {
  const { coder } = prepare;
  const statementOf = createShapes((shape) => {
    const columns = (coder.isPlain ? undefined : sealed[shape.table]) ?? [];
    const places = shape.written.flatMap((name, at) => (columns.includes(name) ? [at] : []));
    return { statement: prepare(toSql(shape)), places };
  });
  return (write) => {
    const { statement, places } = statementOf(write);
    const cells: (Stored | number | null)[] = cellsOf(write);
    for (const at of places) {
      const cell = cells[at];
      if (typeof cell === 'string') cells[at] = coder.seal(cell);
    }
    return statement.run(cells).changes;
  };
}

/** Table and column names come from projections, which are code; values are always bound, by place. */
function toSql({ op, table, written, key, copied, copies }: WriteShape): string {
  const condition = key.map((name) => `${name} = ?`).join(' AND ');
  switch (op) {
    case 'put':
      return `INSERT OR REPLACE INTO ${table} (${written.join()}) VALUES (${written.map(() => '?').join()})`;
    case 'set': {
      const set = written.map((name) => `${name} = ?`);
      for (const [at, name] of copied.entries()) set.push(`${name} = ${copies[at]}`);
      return `UPDATE ${table} SET ${set.join()} WHERE ${condition}`;
    }
    case 'lift':
      return `INSERT INTO ${table} (${[...written, ...copied].join()})
        SELECT ${[...written.map(() => '?'), ...copies].join()} FROM runs WHERE ${condition}`;
    case 'drop':
      return `DELETE FROM ${table} WHERE ${condition}`;
  }
}

/** Reads rows at once, for the adapter's own statements and for tests. */
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

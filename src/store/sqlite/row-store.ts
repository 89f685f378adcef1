/** Row writes of projections as SQL, and the reader of the rows they left. */
import { isSealed, type Coder, type Stored } from '../sql/coder.ts';
import type { Projection, Row, RowReader, RowWrite } from '../port/rows.ts';
import { cellsOf, createShapes, type WriteShape } from '../sql/write-shapes.ts';
import type { Prepare } from './statements.ts';

/** Makes writes happen, with `sealed` columns sealed. `first` hears of each shape before the first write that has it. */
export function createRowWriter(
  prepare: Prepare,
  sealed: Projection['sealed'] = {},
  first: (shape: WriteShape) => void = () => undefined,
): (write: RowWrite) => void {
  const { coder } = prepare;
  const statementOf = createShapes((shape) => {
    first(shape);
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
    statement.run(cells);
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
    case 'drop':
      return `DELETE FROM ${table} WHERE ${condition}`;
  }
}

/** Without a `search` of its own (a past, a table in memory) the same connection answers. */
export function createRowReader(prepare: Prepare, search?: RowReader['search']): RowReader {
  const { coder } = prepare;
  const all: RowReader['all'] = <R extends Row>(sql: string, params = {}) => {
    const rows = prepare(sql).all(params) as R[];
    return coder.isPlain ? rows : rows.map((row) => openCells(coder, row));
  };
  return {
    all,
    get: <R extends Row>(sql: string, params = {}) => {
      const row = prepare(sql).get(params) as R | undefined;
      return row === undefined || coder.isPlain ? row : openCells(coder, row);
    },
    search: search ?? (async (sql, params) => all(sql, params)),
  };
}

/** A row that was read, with its sealed cells opened. */
const openCells = <R extends Row>(coder: Coder, row: R): R =>
  Object.fromEntries(
    Object.entries(row).map(([name, cell]) => [name, isSealed(cell) ? coder.open(cell) : cell]),
  ) as R;

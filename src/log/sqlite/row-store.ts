/** Row writes of projections as SQL, and the reader of the rows they left. */
import type { Row, RowReader, RowWrite } from '../rows.ts';
import { cellsOf, createShapes, type WriteShape } from '../write-shapes.ts';
import type { Prepare } from './statements.ts';

/** Makes writes happen. `first` hears of each shape before the first write that has it. */
export function createRowWriter(
  prepare: Prepare,
  first: (shape: WriteShape) => void = () => undefined,
): (write: RowWrite) => void {
  const statementOf = createShapes((shape) => {
    first(shape);
    return prepare(toSql(shape));
  });
  return (write) => void statementOf(write).run(cellsOf(write));
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
  const all: RowReader['all'] = <R extends Row>(sql: string, params = {}) => prepare(sql).all(params) as R[];
  return {
    all,
    get: <R extends Row>(sql: string, params = {}) => prepare(sql).get(params) as R | undefined,
    search: search ?? (async (sql, params) => all(sql, params)),
  };
}

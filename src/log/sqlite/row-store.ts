/** Row writes of projections as SQL, and the reader of the rows they left. */
import type { Row, RowReader, RowWrite } from '../rows.ts';
import type { Prepare } from './statements.ts';

/** Table and column names come from projections, which are code; values are always bound, by place. */
export function writeRow(prepare: Prepare, write: RowWrite): void {
  switch (write.op) {
    case 'put': {
      const names = Object.keys(write.row);
      const places = new Array(names.length).fill('?').join();
      prepare(`INSERT OR REPLACE INTO ${write.table} (${names.join()}) VALUES (${places})`).run(
        Object.values(write.row),
      );
      return;
    }
    case 'set': {
      const set = Object.keys(write.set).map((name) => `${name} = ?`);
      for (const name in write.copy) set.push(`${name} = ${write.copy[name]}`);
      prepare(`UPDATE ${write.table} SET ${set.join()} WHERE ${condition(write.key)}`).run([
        ...Object.values(write.set),
        ...Object.values(write.key),
      ]);
      return;
    }
    case 'drop':
      prepare(`DELETE FROM ${write.table} WHERE ${condition(write.key)}`).run(Object.values(write.key));
  }
}

const condition = (key: Row): string =>
  Object.keys(key)
    .map((name) => `${name} = ?`)
    .join(' AND ');

/** Without a `search` of its own (a past, a table in memory) the same connection answers. */
export function createRowReader(prepare: Prepare, search?: RowReader['search']): RowReader {
  const all: RowReader['all'] = <R extends Row>(sql: string, params = {}) => prepare(sql).all(params) as R[];
  return {
    all,
    get: <R extends Row>(sql: string, params = {}) => prepare(sql).get(params) as R | undefined,
    search: search ?? (async (sql, params) => all(sql, params)),
  };
}

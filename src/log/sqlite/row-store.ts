/** Row writes of projections as SQL, and the reader of the rows they left. */
import type { Cell, Row, RowReader, RowWrite } from '../rows.ts';
import type { Prepare } from './statements.ts';

/** Table and column names come from projections, which are code; values are always bound. */
export function writeRow(prepare: Prepare, write: RowWrite): void {
  switch (write.op) {
    case 'put': {
      const names = Object.keys(write.row);
      const values = names.map((name) => `@${name}`).join();
      prepare(`INSERT OR REPLACE INTO ${write.table} (${names.join()}) VALUES (${values})`).run(write.row);
      return;
    }
    case 'set': {
      const set = Object.keys(write.set).map((name) => `${name} = @${name}`);
      for (const [name, from] of Object.entries(write.copy ?? {})) set.push(`${name} = ${from}`);
      prepare(`UPDATE ${write.table} SET ${set.join()} WHERE ${condition(write.key)}`).run({
        ...write.set,
        ...keyed(write.key),
      });
      return;
    }
    case 'drop':
      prepare(`DELETE FROM ${write.table} WHERE ${condition(write.key)}`).run(keyed(write.key));
  }
}

const condition = (key: Row): string =>
  Object.keys(key)
    .map((name) => `${name} = @key_${name}`)
    .join(' AND ');

const keyed = (key: Row): Record<string, Cell> => {
  const named: Record<string, Cell> = {};
  for (const [name, value] of Object.entries(key)) named[`key_${name}`] = value;
  return named;
};

/** Without a `search` of its own (a past, a table in memory) the same connection answers. */
export function createRowReader(prepare: Prepare, search?: RowReader['search']): RowReader {
  const all: RowReader['all'] = <R extends Row>(sql: string, params = {}) => prepare(sql).all(params) as R[];
  return {
    all,
    get: <R extends Row>(sql: string, params = {}) => prepare(sql).get(params) as R | undefined,
    search: search ?? (async (sql, params) => all(sql, params)),
  };
}

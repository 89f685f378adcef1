/** Row writes of projections as SQL, and the reader of the rows they left. */
import type { Cell, Row, RowReader, RowWrite } from '../rows.ts';
import type { Prepare } from './statements.ts';

const list = (names: readonly string[], form: (name: string) => string, joint = ', '): string =>
  names.map(form).join(joint);

/** Table and column names come from projections, which are code; values are always bound. */
export function writeRow(prepare: Prepare, write: RowWrite): void {
  switch (write.op) {
    case 'put': {
      const names = Object.keys(write.row);
      prepare(
        `INSERT OR REPLACE INTO ${write.table} (${names.join(', ')}) VALUES (${list(names, (n) => `@${n}`)})`,
      ).run(write.row);
      return;
    }
    case 'set': {
      const set = list(Object.keys(write.set), (n) => `${n} = @${n}`);
      const where = list(Object.keys(write.key), (n) => `${n} = @key_${n}`, ' AND ');
      prepare(`UPDATE ${write.table} SET ${set} WHERE ${where}`).run({ ...write.set, ...keyed(write.key) });
      return;
    }
    case 'drop': {
      const where = list(Object.keys(write.key), (n) => `${n} = @key_${n}`, ' AND ');
      prepare(`DELETE FROM ${write.table} WHERE ${where}`).run(keyed(write.key));
    }
  }
}

const keyed = (key: Row): Record<string, Cell> =>
  Object.fromEntries(Object.entries(key).map(([name, value]) => [`key_${name}`, value]));

export function createRowReader(prepare: Prepare): RowReader {
  return {
    all: <R extends Row>(sql: string, params = {}) => prepare(sql).all(params) as R[],
    get: <R extends Row>(sql: string, params = {}) => prepare(sql).get(params) as R | undefined,
  };
}

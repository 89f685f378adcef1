/** The SQL that differs from SQLite: names of types, and sets of texts, which are lists with an index of their own. */
import type { Dialect } from '../sql/ask.ts';
import { indexesOf, type Table } from '../sql/rows/tables.ts';
import { VISIBLE } from '../sql/rows/thread-index.ts';

/** Order and equality of texts are those of their bytes, as on SQLite. */
const TEXT = 'text COLLATE "C"';
const TYPES = {
  text: TEXT,
  content: 'bytea',
  integer: 'bigint',
  real: 'double precision',
  pairs: 'text[]',
} as const;

export const typeOf = (declared: string): string => TYPES[declared.replace('?', '') as keyof typeof TYPES];

/** The statements that create a table and its indexes. */
export function toPostgres(name: string, table: Table): string[] {
  const columns = Object.entries(table.columns).map(([column, declared]) => {
    const unique = column === table.key ? ' PRIMARY KEY' : '';
    return `${column} ${typeOf(declared)}${declared.endsWith('?') ? '' : ' NOT NULL'}${unique}`;
  });
  const sets = Object.keys(table.columns).filter((column) => table.columns[column]!.startsWith('pairs'));
  return [
    `CREATE TABLE ${name} (${columns.join(', ')});`,
    ...indexesOf(name, table),
    ...sets.map((column) => `CREATE INDEX ${name}_${column} ON ${name} USING gin (${column});`),
  ];
}

export const DIALECT: Dialect = {
  oneOf: (column, parameter) => `${column} = ANY(@${parameter})`,
  storedId: (column) => column,
  holders: (parameter) => `SELECT thread_id FROM threads WHERE ${VISIBLE} AND pairs && @${parameter}`,
  carries: (parameter) => `t.pairs && @${parameter}`,
  holds: (parameter) => `t.pairs && @${parameter}`,
};

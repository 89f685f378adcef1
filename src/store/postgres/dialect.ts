/** The SQL that differs from SQLite. Sets of texts are lists with an index of their own. */
import type { Dialect } from '../sql/ask.ts';
import type { Coder } from '../sql/coder.ts';
import { baseOf, toSql, type Table } from '../sql/table.ts';
import { VISIBLE } from '../sql/rows/thread-index.ts';
import type { SharedContext, WorkContext } from '../sql/work.ts';

/** Order and equality of texts are those of their bytes, as on SQLite. */
const TEXT = 'text COLLATE "C"';
const TYPES = {
  ...{ text: TEXT, long: TEXT, id: TEXT, integer: 'bigint', small: 'integer', real: 'double precision' },
  ...{ content: 'bytea', pairs: 'text[]', order: 'bigint GENERATED ALWAYS AS IDENTITY' },
} as const;

/** NULL of a type. */
export const nullOf = (declared: string): string => `NULL::${TYPES[baseOf(declared)]}`;

/** An entry of an index has at most 2,704 bytes: two such beginnings with four bytes a character, and an id beside them. */
const MAX_INDEXED_CHARS = 300;
const beginning = (text: string): string => `left(${text}, ${MAX_INDEXED_CHARS})`;

/** The statements that create a table and its indexes. */
export function toPostgres(name: string, table: Table): string[] {
  const sets = Object.keys(table.columns).filter((column) => baseOf(table.columns[column]!) === 'pairs');
  return [
    // Rows of several nodes come in the order of `seq`: their ids come from blocks.
    ...toSql(name, table, { types: TYPES, order: 'seq', beginning }),
    ...sets.map((column) => `CREATE INDEX ${name}_${column} ON ${name} USING gin (${column})`),
  ];
}

export const DIALECT: Dialect = {
  oneOf: (column, parameter) => `${column} = ANY(@${parameter})`,
  storedId: (column) => column,
  bounds: (column, comparison, parameter) =>
    `${beginning(column)} ${comparison} ${beginning(`@${parameter}`)}`,
  order: (column) => `${beginning(column)}, ${column}`,
  holders: (parameter) => `SELECT thread_id FROM threads WHERE ${VISIBLE} AND pairs && @${parameter}`,
  carries: (parameter) => `t.pairs && @${parameter}`,
  holds: (parameter) => `t.pairs && @${parameter}`,
};

/** The context of work. */
export const contextOf = (coder: Coder): WorkContext => ({
  ...{ coder, order: 'seq', lockRows: 'FOR SHARE', takeRows: 'FOR UPDATE', shared: SHARED_CONTEXT },
  shownId: (column) => column,
  bytes: (column) => column,
  listed: (list) => `json_array_elements_text(${list}::json)`,
  gathered: (value) => `coalesce(json_agg(DISTINCT ${value})::text, '[]')`,
});

export const SHARED_CONTEXT: SharedContext = {
  clock: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
  skipLocked: 'FOR UPDATE SKIP LOCKED',
};

/** Row writes of projections as SQL, and the reader of the rows they left. */
import type { Statement } from 'better-sqlite3';
import type { Cell, Row, RowReader, RowWrite } from '../rows.ts';
import type { Prepare } from './statements.ts';

/**
 * Makes writes happen. Table and column names come from projections, which are code; values are always bound, by place.
 * Statements are found by comparing the names of columns: to build the text would take longer than to write the row.
 */
export function createRowWriter(prepare: Prepare): (write: RowWrite) => void {
  const known = {
    put: new Map<string, Shape[]>(),
    set: new Map<string, Shape[]>(),
    drop: new Map<string, Shape[]>(),
  };

  return (write) => {
    let shapes = known[write.op].get(write.table);
    if (shapes === undefined) known[write.op].set(write.table, (shapes = []));
    for (const shape of shapes)
      if (isOfShape(shape, write)) {
        shape.statement.run(valuesOf(write));
        return;
      }
    const shape = shapeOf(write, prepare(toSql(write)));
    shapes.push(shape);
    shape.statement.run(valuesOf(write));
  };
}

interface Shape {
  /** Names of columns, in order. */
  readonly written: readonly string[];
  readonly key: readonly string[];
  readonly copied: readonly string[];
  readonly copies: readonly string[];
  readonly statement: Statement;
}

const EMPTY: Readonly<Record<string, never>> = {};
const writtenBy = (write: RowWrite): Row =>
  write.op === 'put' ? write.row : write.op === 'set' ? write.set : EMPTY;
const keyOf = (write: RowWrite): Row => (write.op === 'put' ? EMPTY : write.key);
const copyOf = (write: RowWrite): Readonly<Record<string, string>> =>
  (write.op === 'set' ? write.copy : undefined) ?? EMPTY;

function shapeOf(write: RowWrite, statement: Statement): Shape {
  const [written, key] = [Object.keys(writtenBy(write)), Object.keys(keyOf(write))];
  const copy = copyOf(write);
  return { written, key, copied: Object.keys(copy), copies: Object.values(copy), statement };
}

const isOfShape = (shape: Shape, write: RowWrite): boolean =>
  hasNames(writtenBy(write), shape.written) &&
  hasNames(keyOf(write), shape.key) &&
  hasNames(copyOf(write), shape.copied) &&
  shape.copied.every((name, at) => copyOf(write)[name] === shape.copies[at]);

function hasNames(of: Readonly<Record<string, unknown>>, names: readonly string[]): boolean {
  let at = 0;
  for (const name in of) if (name !== names[at++]) return false;
  return at === names.length;
}

const valuesOf = (write: RowWrite): Cell[] =>
  write.op === 'put'
    ? Object.values(write.row)
    : [...Object.values(writtenBy(write)), ...Object.values(write.key)];

function toSql(write: RowWrite): string {
  switch (write.op) {
    case 'put': {
      const names = Object.keys(write.row);
      const places = new Array(names.length).fill('?').join();
      return `INSERT OR REPLACE INTO ${write.table} (${names.join()}) VALUES (${places})`;
    }
    case 'set': {
      const set = Object.keys(write.set).map((name) => `${name} = ?`);
      for (const name in write.copy) set.push(`${name} = ${write.copy[name]}`);
      return `UPDATE ${write.table} SET ${set.join()} WHERE ${condition(write.key)}`;
    }
    case 'drop':
      return `DELETE FROM ${write.table} WHERE ${condition(write.key)}`;
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

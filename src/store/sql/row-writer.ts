/** Row writes of projections as SQL. */
import type { RowWrite } from '../port/rows.ts';
import type { Coder, Stored } from './coder.ts';
import { contentOf, type Tables } from './table.ts';
import { write as step, type Step } from './work.ts';
import { cellsOf, createShapes, type WriteShape } from './write-shapes.ts';

/** Makes a step of each write, with content sealed. */
export function createRowWriter(coder: Coder, schema: Tables): (write: RowWrite) => Step {
  const statementOf = createShapes((shape) => {
    const sealed = coder.isPlain ? [] : contentOf(schema[shape.table]!);
    const places = shape.written.flatMap((name, at) => (sealed.includes(name) ? [at] : []));
    return { sql: toSql(shape), places };
  });
  return (write) => {
    const { sql, places } = statementOf(write);
    const cells: (Stored | number | null)[] = cellsOf(write);
    for (const at of places) {
      const cell = cells[at];
      if (typeof cell === 'string') cells[at] = coder.seal(cell);
    }
    return step(sql, cells, aboutOf(write));
  };
}

/** The row by its unique column, which comes first. */
function aboutOf(write: RowWrite): readonly string[] | undefined {
  if (write.op === 'lift') return undefined;
  for (const name in write.op === 'put' ? write.row : write.key)
    return [`${write.table} ${(write.op === 'put' ? write.row : write.key)[name]!}`];
  return undefined;
}

/** Table and column names come from projections, which are code; values are always bound, by place. */
function toSql({ op, table, written, key, copied, copies }: WriteShape): string {
  const condition = key.map((name) => `${name} = ?`).join(' AND ');
  switch (op) {
    case 'put': {
      const [named, ...others] = written;
      return `INSERT INTO ${table} (${written.join()}) VALUES (${written.map(() => '?').join()})
        ON CONFLICT (${named}) DO UPDATE SET ${others.map((name) => `${name} = excluded.${name}`).join()}`;
    }
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

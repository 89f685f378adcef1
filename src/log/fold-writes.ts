import { joinSameRow } from './merge-writes.ts';
import type { Row, RowWrite } from './rows.ts';

/** Collects writes and gives back as few as lead to the same rows. */
export interface RowFold {
  add(write: RowWrite): void;
  /** Hands over what was collected, and forgets it. Between rows the order is not the one in which writes came. */
  flush(): void;
}

/**
 * `identities`: by table the columns that name a row, and that no write changes. A write that names rows in another way
 * lets all before it in its table happen first.
 */
export function createRowFold(
  identities: ReadonlyMap<string, readonly string[]>,
  write: (write: RowWrite) => void,
): RowFold {
  const tables = new Map<string, Map<string, RowWrite[]>>();

  function flushTable(table: string): void {
    for (const writes of tables.get(table)?.values() ?? []) for (const each of writes) write(each);
    tables.delete(table);
  }

  return {
    add(next) {
      const columns = identities.get(next.table);
      const place = columns && placeOf(next.op === 'put' ? next.row : next.key, columns, next.op === 'put');
      if (place === undefined) {
        flushTable(next.table);
        write(next);
        return;
      }
      let rows = tables.get(next.table);
      if (rows === undefined) tables.set(next.table, (rows = new Map()));
      const before = rows.get(place);
      // Whatever was said of the row before is no more.
      if (before === undefined || next.op !== 'set') rows.set(place, [next]);
      else {
        const last = before.at(-1)!;
        if (last.op === 'drop') return;
        const joined = joinSameRow(last, next);
        if (joined === undefined) before.push(next);
        else before[before.length - 1] = joined;
      }
    },
    flush() {
      for (const table of [...tables.keys()]) flushTable(table);
    },
  };
}

/** Undefined when the columns do not name one row. A new row names more than itself. */
function placeOf(row: Row, columns: readonly string[], isNew: boolean): string | undefined {
  if (!isNew && Object.keys(row).length !== columns.length) return undefined;
  let place = '';
  for (const column of columns) {
    const value = row[column];
    if (value === undefined || value === null) return undefined;
    place += `${value}\u0000`;
  }
  return place;
}

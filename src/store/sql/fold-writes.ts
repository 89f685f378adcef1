import { copyWrite, joinInto, type OpenWrite } from '../port/merge-writes.ts';
import type { Row, RowWrite } from '../port/rows.ts';

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
  const tables = new Map<string, Map<string, Folded>>();

  function flushTable(table: string): void {
    const rows = tables.get(table);
    if (rows === undefined) return;
    for (const { before, last } of rows.values()) {
      for (const each of before) write(each);
      write(last);
    }
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
      const folded = rows.get(place);
      if (folded === undefined) rows.set(place, { before: NONE, last: next, open: undefined });
      else tell(folded, next);
    },
    flush() {
      for (const table of [...tables.keys()]) flushTable(table);
    },
  };
}

/** What is to be written of one row. */
interface Folded {
  before: readonly RowWrite[];
  last: RowWrite;
  /** `last`, once it is a copy of the fold's own. */
  open: OpenWrite | undefined;
}

const NONE: readonly RowWrite[] = [];

function tell(folded: Folded, next: RowWrite): void {
  if (next.op !== 'set') {
    // Whatever was said of the row before is no more.
    folded.before = NONE;
    folded.last = next;
    folded.open = undefined;
    return;
  }
  if (folded.last.op === 'drop') return;
  folded.open ??= copyWrite(folded.last);
  folded.last = folded.open;
  if (joinInto(folded.open, next)) return;
  folded.before = [...folded.before, folded.last];
  folded.last = next;
  folded.open = undefined;
}

/** Undefined when the columns do not name one row. A new row names more than itself. */
function placeOf(row: Row, columns: readonly string[], isNew: boolean): string | undefined {
  if (!isNew) for (const name in row) if (!columns.includes(name)) return undefined;
  let place: string | undefined;
  for (const column of columns) {
    const value = row[column];
    if (value === undefined || value === null) return undefined;
    // The only column's own text, which has its hash, in the common case.
    place = place === undefined ? `${value}` : `${place}\u0000${value}`;
  }
  return place;
}

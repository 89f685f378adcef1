import { changeRow, matches, type Cells } from './fold-rows.ts';
import type { Row, RowWrite } from './rows.ts';

type UpdateWrite = Extract<RowWrite, { op: 'set' }>;

/**
 * The same rows with fewer writes: what several facts in a row say of one row is written once. Only neighbours within a
 * table are joined, so no write overtakes another one of its table.
 */
export function mergeWrites(writes: readonly RowWrite[]): RowWrite[] {
  const merged: RowWrite[] = [];
  const latest = new Map<string, RowWrite>();
  for (const write of writes) {
    const before = latest.get(write.table);
    if (before !== undefined && write.op === 'set' && absorbs(before, write)) continue;
    // It reads what all writes before it have written.
    if (write.op === 'lift') latest.clear();
    const own = copyOf(write);
    latest.set(write.table, own);
    merged.push(own);
  }
  return merged;
}

const copyOf = (write: RowWrite): RowWrite =>
  write.op === 'put'
    ? { ...write, row: copyCells(write.row) }
    : write.op === 'set'
      ? { ...write, set: copyCells(write.set) }
      : write;

/** Name by name: V8 takes microseconds for each name that is new to an object which began as a spread. */
function copyCells(cells: Row): Cells {
  const copy: Cells = {};
  for (const name in cells) copy[name] = cells[name]!;
  return copy;
}

/** Lets the first write say both. False, and nothing has changed, for another row and for what only the row knows. */
function absorbs(first: RowWrite, second: UpdateWrite): boolean {
  if (first.op === 'drop' || first.op === 'lift') return false;
  if (first.op === 'put') {
    if (!matches(first.row, second.key)) return false;
    changeRow(first.row as Cells, second);
    return true;
  }
  if (first.copy !== undefined || second.copy !== undefined) return false;
  if (!matches(first.key, second.key) || !matches(second.key, first.key)) return false;
  const set = first.set as Cells;
  for (const name in second.set) set[name] = second.set[name]!;
  return true;
}

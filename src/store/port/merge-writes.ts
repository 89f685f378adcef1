import type { Cell, Row, RowWrite } from './rows.ts';

/**
 * The same rows with fewer writes: what several facts in a row say of one row is written once. Only neighbours within a
 * table are joined, so no write overtakes another one of its table.
 */
export function mergeWrites(writes: readonly RowWrite[]): RowWrite[] {
  const merged: RowWrite[] = [];
  const latest = new Map<string, number>();
  for (const write of writes) {
    const at = latest.get(write.table);
    const joined = at === undefined ? undefined : join(merged[at]!, write);
    if (joined !== undefined) merged[at!] = joined;
    else latest.set(write.table, merged.push(write) - 1);
  }
  return merged;
}

/** Undefined when the second says something of another row, or something that depends on the first being there. */
function join(first: RowWrite, second: RowWrite): RowWrite | undefined {
  if (second.op !== 'set' || second.copy !== undefined || first.op === 'drop') return undefined;
  const isSame =
    first.op === 'put'
      ? holds(first.row, second.key)
      : holds(first.key, second.key) && holds(second.key, first.key);
  if (!isSame) return undefined;
  const joined = copyWrite(first);
  return joinInto(joined, second) ? joined : undefined;
}

type Cells = Record<string, Cell>;
/** A write that can still be told more of its row: whoever made the copy is the only one who has it. */
export type OpenWrite =
  | (Extract<RowWrite, { op: 'put' }> & { readonly row: Cells })
  | (Extract<RowWrite, { op: 'set' }> & { readonly set: Cells });

export const copyWrite = (write: Exclude<RowWrite, { op: 'drop' }>): OpenWrite =>
  write.op === 'put' ? { ...write, row: copyCells(write.row) } : { ...write, set: copyCells(write.set) };

/** Name by name: V8 takes microseconds for each name that is new to an object which began as a spread. */
function copyCells(cells: Cells): Cells {
  const copy: Cells = {};
  for (const name in cells) copy[name] = cells[name]!;
  return copy;
}

/**
 * Lets the first of two writes of one row say both. False, and nothing has changed, when it does not tell what the
 * second copies, or copies itself: what was copied before from columns that are set now was copied first.
 */
export function joinInto(first: OpenWrite, second: RowWrite & { op: 'set' }): boolean {
  if (first.op === 'set' && first.copy !== undefined) return false;
  const known = first.op === 'put' ? first.row : first.set;
  const { set, copy } = second;
  if (copy === undefined) {
    for (const name in set) known[name] = set[name]!;
    return true;
  }
  const copied: Cells = {};
  for (const name in copy) {
    const from = known[copy[name]!];
    if (from === undefined) return false;
    copied[name] = from;
  }
  Object.assign(known, set, copied);
  return true;
}

function holds(row: Row, key: Row): boolean {
  for (const name in key) if (row[name] !== key[name]) return false;
  return true;
}

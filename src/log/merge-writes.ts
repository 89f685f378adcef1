import type { Row, RowWrite } from './rows.ts';

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
  return isSame ? joinSameRow(first, second) : undefined;
}

type Kept = Exclude<RowWrite, { op: 'drop' }>;

/** Two writes of one row as one; undefined when the first does not tell what the second copies, or copies itself. */
export function joinSameRow(first: Kept, second: RowWrite & { op: 'set' }): Kept | undefined {
  const known = first.op === 'put' ? first.row : first.set;
  const copied: Record<string, Row[string]> = {};
  for (const name in second.copy) {
    const from = known[second.copy[name]!];
    if (from === undefined) return undefined;
    copied[name] = from;
  }
  const all = { ...known, ...second.set, ...copied };
  if (first.op === 'put') return { ...first, row: all };
  // What was copied before from columns that are set now was copied first.
  return first.copy === undefined ? { ...first, set: all } : undefined;
}

function holds(row: Row, key: Row): boolean {
  for (const name in key) if (row[name] !== key[name]) return false;
  return true;
}

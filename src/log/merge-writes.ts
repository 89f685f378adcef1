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
  if (second.op !== 'set' || second.copy !== undefined) return undefined;
  if (first.op === 'put')
    return holds(first.row, second.key) ? { ...first, row: { ...first.row, ...second.set } } : undefined;
  if (first.op !== 'set' || first.copy !== undefined) return undefined;
  const isSame = holds(first.key, second.key) && holds(second.key, first.key);
  return isSame ? { ...first, set: { ...first.set, ...second.set } } : undefined;
}

function holds(row: Row, key: Row): boolean {
  for (const name in key) if (row[name] !== key[name]) return false;
  return true;
}

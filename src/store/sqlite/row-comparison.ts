/** P2: compares the live rows with those that the log leads to. */
import type { Recorded } from '../port/events.ts';
import { RowsOutdated, type RowDifference } from '../port/past.ts';
import type { Cell, Row } from '../port/rows.ts';
import type { Projection } from '../sql/projection.ts';
import { isSealed, type Coder } from '../sql/coder.ts';
import type { FoldedRow, RowFold } from '../port/fold-rows.ts';
import { foldStreams } from './rebuild.ts';
import type { Prepare } from './statements.ts';

/**
 * Folds the rows of each stream and returns the first that differs from the live one. `onEvent` hears of each event, also
 * behind a difference; as soon as it returns false, no more is folded or compared. Throws `RowsOutdated`.
 */
export function findDifference(
  live: Prepare,
  projection: Projection,
  onEvent: (event: Recorded) => boolean,
): RowDifference | undefined {
  const version = live("SELECT value FROM meta WHERE key = 'projection'").pluck().get() as string | undefined;
  if (version !== projection.version) throw new RowsOutdated(version, projection.version);
  const counts = new Map<string, number>();
  let difference: RowDifference | undefined;
  const compareAll = (fold: RowFold): void => {
    for (const row of fold.rows()) {
      if (row.cells !== undefined) counts.set(row.table, (counts.get(row.table) ?? 0) + 1);
      difference ??= compare(live, row);
    }
  };
  const isDone = foldStreams(live, projection, compareAll, onEvent);
  if (difference !== undefined || !isDone) return difference;
  const fill = projection.fill ?? {};
  for (const table of projection.tables) {
    const isMade = table in fill;
    const found = isMade ? findUnfilled(live, table, fill[table]!) : undefined;
    if (found !== undefined) return found;
    const count = live(`SELECT count(*) FROM ${table}`).pluck().get();
    if (!isMade && count !== (counts.get(table) ?? 0)) return findStranger(live, projection, table);
  }
  return undefined;
}

function compare(live: Prepare, { table, name, key, cells, position }: FoldedRow): RowDifference | undefined {
  const row = readRow(live, `SELECT * FROM ${table} WHERE ${name} = ?`, key);
  if (row === undefined && cells === undefined) return undefined;
  if (row !== undefined && cells !== undefined && isEqual(row, cells)) return undefined;
  return { table, key: String(key), position, live: row, rebuilt: cells };
}

function isEqual(row: Row, cells: Row): boolean {
  for (const name in row) if (row[name] !== cells[name]) return false;
  return true;
}

/** A row that no stream has written. */
function findStranger(live: Prepare, projection: Projection, table: string): RowDifference | undefined {
  const keys = new Set<Cell>();
  foldStreams(live, projection, (fold) => {
    for (const row of fold.rows()) if (row.table === table && row.cells !== undefined) keys.add(row.key);
  });
  for (const row of live(`SELECT * FROM ${table}`).iterate() as IterableIterator<Row>) {
    const key = Object.values(row)[0]!;
    if (!keys.has(key))
      return { table, key: String(key), position: undefined, live: row, rebuilt: undefined };
  }
  return undefined;
}

/** A row of a table that is filled from others and does not have what these lead to. `rows`: SQL for all its rows. */
function findUnfilled(live: Prepare, table: string, rows: string): RowDifference | undefined {
  const [stored, made] = [`SELECT * FROM ${table}`, `SELECT * FROM (${rows})`];
  const extra = readRow(live, `${stored} EXCEPT ${made} LIMIT 1`);
  const missing = readRow(live, `${made} EXCEPT ${stored} LIMIT 1`);
  if (extra === undefined && missing === undefined) return undefined;
  const key = String(Object.values(extra ?? missing!)[0]);
  return { table, key, position: undefined, live: extra, rebuilt: missing };
}

/** A cell that does not open differs from every other. */
function readRow(live: Prepare, sql: string, ...values: Cell[]): Row | undefined {
  const row = live(sql).get(...values) as Row | undefined;
  if (row === undefined || live.coder.isPlain) return row;
  return Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, openCell(live.coder, cell)]));
}

function openCell(coder: Coder, cell: Cell): Cell {
  if (!isSealed(cell)) return cell;
  try {
    return coder.open(cell);
  } catch (error) {
    return (error as Error).message;
  }
}

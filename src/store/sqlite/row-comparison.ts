/** P2: compares the live rows with those that the log leads to. */
import { isSealed, type Coder } from '../sql/coder.ts';
import type { Recorded } from '../port/events.ts';
import { RowsOutdated, type RowDifference } from '../port/past.ts';
import type { Cell, Row, RowWrite } from '../port/rows.ts';
import type { Projection } from '../sql/projection.ts';
import type { Connection } from './connection.ts';
import { createRows, projectEach } from './rebuild.ts';
import { createStatements, type Prepare } from './statements.ts';

/**
 * Rebuilds all rows of `live` in the empty database `memory`, and returns the first difference. `onEvent` hears of each
 * event in order; as soon as it returns false, no more is projected or compared. Throws `RowsOutdated`.
 */
export function findDifference(
  live: Prepare,
  memory: Connection,
  projection: Projection,
  onEvent: (event: Recorded) => boolean,
): RowDifference | undefined {
  const version = live("SELECT value FROM meta WHERE key = 'projection'").pluck().get() as string | undefined;
  if (version !== projection.version) throw new RowsOutdated(version, projection.version);
  let goesOn = true;
  const heard = (project: Projection['project']): Projection['project'] => {
    return (event) => (goesOn && (goesOn = onEvent(event)) ? project(event) : NOTHING);
  };
  const { projectMany } = projection;
  const checked: Projection = {
    ...projection,
    project: heard(projection.project),
    ...(projectMany && { projectMany: () => heard(projectMany()) }),
  };
  // Nothing of it is ever undone or kept.
  for (const setting of ['journal_mode', 'secure_delete', 'cell_size_check'])
    memory.pragma(`${setting} = OFF`);
  memory.exec('BEGIN');
  createRows(memory, live, checked, { isQueried: false });
  if (!goesOn) return undefined;
  const rebuilt = createStatements(memory);
  for (const table of projection.tables) {
    const difference = compare(table, live, rebuilt);
    if (difference !== undefined)
      return { ...difference, position: lastWriteOf(live, projection, table, difference.key) };
  }
  return undefined;
}

const NOTHING: readonly RowWrite[] = [];

/** Both sides in primary-key order: the first column of every derived table is its key, or begins it. */
function compare(
  table: string,
  live: Prepare,
  rebuilt: Prepare,
): Omit<RowDifference, 'position'> | undefined {
  const ordered = (side: Prepare) => side(`SELECT * FROM ${table} ORDER BY 1`).raw();
  const columns = ordered(live)
    .columns()
    .map(({ name }) => name);
  const toRow = (cells: readonly Cell[]): Row =>
    Object.fromEntries(columns.map((name, at) => [name, cells[at]!]));
  const others = ordered(rebuilt).iterate() as IterableIterator<readonly Cell[]>;
  try {
    for (const stored of ordered(live).iterate() as IterableIterator<readonly Cell[]>) {
      const row = live.coder.isPlain ? stored : stored.map((cell) => openCell(live.coder, cell));
      const { value: other, done } = others.next();
      if (done !== true && isEqual(row, other)) continue;
      const [key, otherKey] = [String(row[0]), done === true ? undefined : String(other[0])];
      if (key === otherKey) return { table, key, live: toRow(row), rebuilt: toRow(other) };
      if (otherKey === undefined || key < otherKey)
        return { table, key, live: toRow(row), rebuilt: undefined };
      return { table, key: otherKey, live: undefined, rebuilt: toRow(other) };
    }
    const { value: missing, done } = others.next();
    if (done === true) return undefined;
    return { table, key: String(missing[0]), live: undefined, rebuilt: toRow(missing) };
  } finally {
    others.return?.();
  }
}

/** A cell that does not open differs from every other. */
function openCell(coder: Coder, cell: Cell): Cell {
  if (!isSealed(cell)) return cell;
  try {
    return coder.open(cell);
  } catch (error) {
    return (error as Error).message;
  }
}

function isEqual(cells: readonly Cell[], others: readonly Cell[]): boolean {
  for (let at = 0; at < cells.length; at++) if (cells[at] !== others[at]) return false;
  return cells.length === others.length;
}

/** Position of the last event that wrote the row with this key. */
function lastWriteOf(live: Prepare, projection: Projection, table: string, key: string): number | undefined {
  let position: number | undefined;
  projectEach(live, projection, (event, write) => {
    const row = write.op === 'put' ? write.row : write.key;
    if (write.table === table && String(Object.values(row)[0]) === key) position = event.meta.position;
  });
  return position;
}

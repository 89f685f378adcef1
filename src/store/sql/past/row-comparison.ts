/** P2: compares the live rows with those that the log leads to. */
import type { FoldedRow, RowFold } from '../../port/fold-rows.ts';
import type { OnEvents, RowDifference } from '../../port/past.ts';
import type { Cell, Row } from '../../port/rows.ts';
import { isSealed, type Coder } from '../coder.ts';
import { createStreamFold, readPage, type EventPage } from '../fold-streams.ts';
import type { Projection } from '../projection.ts';
import { rows, type Run, type Work, type WorkContext } from '../work.ts';

/**
 * Folds the rows of each stream and returns the first that differs from the live one. `onEvents` hears of all events, also
 * behind a difference; as soon as it returns false, no more is folded or compared.
 */
export async function findDifference(
  context: WorkContext,
  run: Run,
  projection: Projection,
  onEvents: OnEvents,
): Promise<RowDifference | undefined> {
  const counts = new Map<string, number>();
  let difference: RowDifference | undefined;
  const isDone = await foldAll(context, run, projection, onEvents, function* (fold): Work<void> {
    const folded = [...fold.rows()];
    for (const { table, cells } of folded)
      if (cells !== undefined) counts.set(table, (counts.get(table) ?? 0) + 1);
    if (difference === undefined) difference = yield* compareAll(context, folded);
  });
  if (difference !== undefined || !isDone) return difference;
  for (const table of Object.keys(projection.schema))
    if ((await run(countOf(table))) !== (counts.get(table) ?? 0))
      return findStranger(context, run, projection, table);
  for (const [table, made] of Object.entries(projection.pairs?.fill ?? {})) {
    const found = await run(findUnfilled(context, table, made));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns whether it came to the end. */
async function foldAll(
  context: WorkContext,
  run: Run,
  projection: Projection,
  onEvents: OnEvents,
  take: (rows: RowFold) => Work<void>,
): Promise<boolean> {
  const fold = createStreamFold(projection, take);
  for (let last: EventPage['last']; ;) {
    const page = await run(readPage(context, last));
    if (page.last === undefined) break;
    ({ last } = page);
    if (!(await onEvents(page.events))) return false;
    if (page.failure !== undefined) throw page.failure;
    await run(fold.add(page.events));
  }
  await run(fold.end());
  return true;
}

/** The first of the rows of a stream that is not as it is folded. */
function* compareAll(context: WorkContext, folded: readonly FoldedRow[]): Work<RowDifference | undefined> {
  const live = new Map<string, Row>();
  for (const [table, of] of Map.groupBy(folded, (row) => row.table)) {
    const { name } = of[0]!;
    const found: readonly Row[] = yield rows(
      `SELECT * FROM ${table} WHERE ${name} IN (SELECT value FROM ${context.listed('@keys')})`,
      { keys: JSON.stringify(of.map(({ key }) => key)) },
    );
    for (const row of found) live.set(`${table} ${row[name]}`, opened(context.coder, row));
  }
  for (const { table, key, cells, position } of folded) {
    const row = live.get(`${table} ${key}`);
    if (row === undefined && cells === undefined) continue;
    if (row !== undefined && cells !== undefined && isEqual(row, cells)) continue;
    return { table, key: String(key), position, live: row, rebuilt: cells };
  }
  return undefined;
}

function isEqual(row: Row, cells: Row): boolean {
  for (const name in row) if (row[name] !== cells[name]) return false;
  return true;
}

function* countOf(table: string): Work<number> {
  const [row]: { count: number }[] = yield rows(`SELECT count(*) AS count FROM ${table}`, []);
  return row!.count;
}

/** A row that no stream has written. */
async function findStranger(
  context: WorkContext,
  run: Run,
  projection: Projection,
  table: string,
): Promise<RowDifference | undefined> {
  const keys = new Set<Cell>();
  let name: string | undefined;
  await foldAll(
    context,
    run,
    projection,
    async () => true,
    function* (fold) {
      for (const row of fold.rows()) {
        if (row.table !== table) continue;
        name = row.name;
        if (row.cells !== undefined) keys.add(row.key);
      }
    },
  );
  return run(findOther(context, table, name, keys));
}

/** `name`: of the column that has the key; undefined for a table that no stream has written to. */
function* findOther(
  context: WorkContext,
  table: string,
  name: string | undefined,
  keys: ReadonlySet<Cell>,
): Work<RowDifference | undefined> {
  const found: readonly Row[] = yield rows(
    name === undefined ? `SELECT * FROM ${table} LIMIT 1` : `SELECT ${name} FROM ${table}`,
    [],
  );
  const other = found.find((row) => !keys.has(Object.values(row)[0]!));
  if (other === undefined) return undefined;
  const key = Object.values(other)[0]!;
  const [row]: Row[] =
    name === undefined ? [other] : yield rows(`SELECT * FROM ${table} WHERE ${name} = ?`, [key as string]);
  return {
    table,
    key: String(key),
    position: undefined,
    live: opened(context.coder, row!),
    rebuilt: undefined,
  };
}

/** A row of a table that is filled from others and does not have what these lead to. `made`: SQL for all its rows. */
function* findUnfilled({ coder }: WorkContext, table: string, made: string): Work<RowDifference | undefined> {
  const [stored, filled] = [`SELECT * FROM ${table}`, `SELECT * FROM (${made}) AS made`];
  const [extra]: Row[] = yield rows(`${stored} EXCEPT ${filled} LIMIT 1`, []);
  const [missing]: Row[] = yield rows(`${filled} EXCEPT ${stored} LIMIT 1`, []);
  if (extra === undefined && missing === undefined) return undefined;
  const key = String(Object.values(extra ?? missing!)[0]);
  return {
    ...{ table, key, position: undefined },
    live: extra && opened(coder, extra),
    rebuilt: missing && opened(coder, missing),
  };
}

/** A cell that does not open differs from every other. */
const opened = (coder: Coder, row: Row): Row =>
  coder.isPlain
    ? row
    : Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, openCell(coder, cell)]));

function openCell(coder: Coder, cell: Cell): Cell {
  if (!isSealed(cell)) return cell;
  try {
    return coder.open(cell);
  } catch (error) {
    return (error as Error).message;
  }
}

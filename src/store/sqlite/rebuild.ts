/** P2: rows are a function of the log. They are folded stream by stream, in order of version, and written or compared. */
import { createRowFold, type RowFold } from '../port/fold-rows.ts';
import type { Recorded } from '../port/events.ts';
import { nextEvents, toRecorded, type EventRow } from '../sql/event-store.ts';
import type { Projection } from '../sql/projection.ts';
import { createRowWriter } from '../sql/row-writer.ts';
import type { Connection } from './connection.ts';
import { createStatements, type Prepare } from './statements.ts';

/** KiB. Written rows stay in memory until their indexes are made. */
const CACHE = 131_072;

/**
 * Passes the rows of each stream of `source` to `take`, which must not keep them. `onEvent` hears of each event; as
 * soon as it returns false, the work ends. Returns whether it came to the end.
 */
export function foldStreams(
  source: Prepare,
  { project }: Projection,
  take: (rows: RowFold) => void,
  onEvent: (event: Recorded) => boolean = () => true,
): boolean {
  const fold = createRowFold();
  let stream: string | undefined;
  for (let last: EventRow | undefined; ;) {
    const page = source.driver.run(nextEvents(last));
    for (const row of page) {
      if (row.stream !== stream) {
        take(fold);
        fold.clear();
        stream = row.stream;
      }
      const event = toRecorded(source.coder, row);
      if (!onEvent(event)) return false;
      for (const write of project(event)) fold.add(write, event.meta.position);
    }
    last = page.at(-1);
    if (last === undefined) break;
  }
  take(fold);
  return true;
}

/** Creates the derived tables, or replaces them when they were made by another version of the projection. */
export function prepareRows(db: Connection, prepare: Prepare, projection: Projection): void {
  const read = prepare("SELECT value FROM meta WHERE key = 'projection'").pluck();
  if (read.get() === projection.version) return;
  const cache = db.pragma('cache_size', { simple: true }) as number;
  db.pragma(`cache_size = ${-CACHE}`);
  try {
    db.transaction(() => replaceRows(db, prepare, projection))();
  } finally {
    db.pragma(`cache_size = ${cache}`);
    db.pragma('shrink_memory');
  }
}

function replaceRows(db: Connection, { coder }: Prepare, projection: Projection): void {
  const tables = db.prepare("SELECT value FROM meta WHERE key = 'tables'").pluck().get() as
    string | undefined;
  for (const table of tables?.split(',') ?? []) db.exec(`DROP TABLE IF EXISTS ${table}`);
  db.exec(projection.ddl);
  const later = takeIndexes(db, projection.tables);
  // Statements of its own: the tables that others were prepared for are gone.
  const written = createStatements(db, coder);
  const writeOf = createRowWriter(coder, projection.sealed);
  foldStreams(createStatements(db, coder), projection, (fold) => {
    for (const { table, cells } of fold.rows()) {
      if (cells === undefined) continue;
      const { sql, params } = writeOf({ op: 'put', table, row: cells });
      written(sql).run(params);
    }
  });
  for (const [table, rows] of Object.entries(projection.fill ?? {})) db.exec(`INSERT INTO ${table} ${rows}`);
  for (const sql of later) db.exec(sql);
  db.prepare("INSERT OR REPLACE INTO meta VALUES ('projection', ?)").run(projection.version);
  db.prepare("INSERT OR REPLACE INTO meta VALUES ('tables', ?)").run(projection.tables.join(','));
}

/** Drops all indexes and triggers of the tables, and returns what makes them again: far faster from full tables. */
function takeIndexes(db: Connection, tables: readonly string[]): string[] {
  const found = db
    .prepare(
      `SELECT type, name, sql FROM sqlite_schema
       WHERE type IN ('index', 'trigger') AND sql IS NOT NULL AND tbl_name IN (SELECT value FROM json_each(?))
       ORDER BY type, rowid`,
    )
    .all(JSON.stringify(tables)) as { type: string; name: string; sql: string }[];
  for (const { type, name } of found) db.exec(`DROP ${type} ${name}`);
  return found.map(({ sql }) => sql);
}

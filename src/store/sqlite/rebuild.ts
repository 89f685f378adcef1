/** P2: rows are a function of the log. */
import { createStreamFold, readPage, type EventPage } from '../sql/fold-streams.ts';
import type { Projection } from '../sql/projection.ts';
import { createRowWriter } from '../sql/row-writer.ts';
import type { Connection } from './connection.ts';
import { toSqlite } from './schema.ts';
import { createStatements, type Prepare } from './statements.ts';

/** KiB. Written rows stay in memory until their indexes are made. */
const CACHE = 131_072;

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
  const { schema, view, pairs = { ddl: '', fill: {} } } = projection;
  for (const table of Object.entries(schema)) db.exec(toSqlite(table));
  db.exec(`${pairs.ddl}; DROP VIEW IF EXISTS carried_threads; ${view?.(() => 'NULL') ?? ''}`);
  const names = [...Object.keys(schema), ...Object.keys(pairs.fill)];
  const later = takeIndexes(db, names);
  // Statements of its own: the tables that others were prepared for are gone.
  const { run, context } = createStatements(db, coder).driver;
  const writeOf = createRowWriter(coder, schema);
  const fold = createStreamFold(projection, function* (folded) {
    for (const { table, cells } of folded.rows())
      if (cells !== undefined) yield writeOf({ op: 'put', table, row: cells });
  });
  for (let page: EventPage | undefined; page === undefined || page.last !== undefined;) {
    page = run(readPage(context, page?.last));
    if (page.failure !== undefined) throw page.failure;
    run(fold.add(page.events));
  }
  run(fold.end());
  for (const [table, rows] of Object.entries(pairs.fill)) db.exec(`INSERT INTO ${table} ${rows}`);
  for (const sql of later) db.exec(sql);
  db.prepare("INSERT OR REPLACE INTO meta VALUES ('projection', ?)").run(projection.version);
  db.prepare("INSERT OR REPLACE INTO meta VALUES ('tables', ?)").run(names.join(','));
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

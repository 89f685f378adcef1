/** P2: rows are a function of the log. Used when a projection changed its version, and to verify the live rows. */
import type { Recorded } from '../events.ts';
import { mergeWrites } from '../merge-writes.ts';
import type { Projection, RowWrite } from '../rows.ts';
import type { Connection } from './connection.ts';
import { readAll } from './event-store.ts';
import { writeRow } from './row-store.ts';
import { createStatements, type Prepare } from './statements.ts';

const PAGE = 500;

/** Feeds every event to `project` in order and writes the rows through `target`. */
export function projectAll(
  source: Prepare,
  target: Prepare,
  projection: Projection,
  onWrite?: (event: Recorded, write: RowWrite) => void,
): void {
  for (let after = 0; ;) {
    const events = readAll(source, after, PAGE);
    if (onWrite === undefined) {
      const writes = events.flatMap((event) => projection.project(event));
      for (const write of mergeWrites(writes)) writeRow(target, write);
    } else
      for (const event of events)
        for (const write of projection.project(event)) {
          writeRow(target, write);
          onWrite(event, write);
        }
    const last = events.at(-1);
    if (last === undefined) return;
    after = last.meta.position;
  }
}

/** Creates the derived tables, or replaces them when they were made by another version of the projection. */
export function prepareRows(db: Connection, prepare: Prepare, projection: Projection): void {
  const read = prepare("SELECT value FROM meta WHERE key = 'projection'").pluck();
  if (read.get() === projection.version) return;
  db.transaction(() => {
    const tables = db.prepare("SELECT value FROM meta WHERE key = 'tables'").pluck().get() as
      string | undefined;
    for (const table of tables?.split(',') ?? []) db.exec(`DROP TABLE IF EXISTS ${table}`);
    db.exec(projection.ddl);
    const triggers = projection.fill === undefined ? [] : takeTriggers(db);
    // Statements of its own: the tables that others were prepared for are gone.
    const fresh = createStatements(db);
    projectAll(fresh, fresh, projection);
    db.exec(projection.fill ?? '');
    for (const sql of triggers) db.exec(sql);
    db.prepare("INSERT OR REPLACE INTO meta VALUES ('projection', ?)").run(projection.version);
    db.prepare("INSERT OR REPLACE INTO meta VALUES ('tables', ?)").run(projection.tables.join(','));
  })();
}

/** Drops all triggers, which belong to derived tables, and returns what makes them again. */
function takeTriggers(db: Connection): string[] {
  const found = db
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid")
    .all() as {
    name: string;
    sql: string;
  }[];
  for (const { name } of found) db.exec(`DROP TRIGGER ${name}`);
  return found.map(({ sql }) => sql);
}

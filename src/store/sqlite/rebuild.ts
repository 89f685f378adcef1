/** P2: rows are a function of the log. Used when a projection changed its version, and to verify the live rows. */
import type { Coder } from '../sql/coder.ts';
import type { Recorded } from '../port/events.ts';
import type { RowWrite } from '../port/rows.ts';
import type { Projection } from '../sql/projection.ts';
import type { Connection } from './connection.ts';
import { createRowFold } from '../sql/fold-writes.ts';
import { eachEvent } from './event-store.ts';
import { identitiesOf } from './identities.ts';
import { createRowWriter } from './row-store.ts';
import { createStatements, type Prepare } from './statements.ts';

/** KiB. What was just dropped and written stays at hand for the indexes, instead of going to the file and back. */
const CACHE = 131_072;
/**
 * Events whose writes are folded at a time. Facts about one thread lie close together, so most rows are written once.
 * With more the rows outlive V8's young generation, and moving them costs more than the writes that are spared.
 */
const FOLDED_EVENTS = 2_000;

/** Feeds every event to `project` in order and hears of each event and write. */
export function projectEach(
  source: Prepare,
  projection: Projection,
  onWrite: (event: Recorded, write: RowWrite) => void,
): void {
  eachEvent(source, (event) => {
    for (const write of projection.project(event)) onWrite(event, write);
  });
}

/**
 * Creates the tables in `db` and fills them with the rows that all events of `source` lead to. Indexes and triggers
 * follow the rows, and are left out when the tables are read once only. Call inside a transaction.
 */
export function createRows(
  db: Connection,
  source: Prepare,
  projection: Projection,
  { isQueried, coder }: { readonly isQueried: boolean; readonly coder?: Coder },
): void {
  db.exec(projection.ddl);
  const triggers = projection.fill === undefined ? [] : takeTriggers(db);
  const indexes = takeIndexes(db, projection.tables);
  // Statements of its own: the tables that others were prepared for are gone.
  const writeRow = createRowWriter(createStatements(db, coder), projection.sealed, ({ op, table, key }) => {
    if (op !== 'put') indexes.restore(table, key);
  });
  const fold = createRowFold(identitiesOf(db, projection.tables), writeRow);
  const project = projection.projectMany?.() ?? projection.project;
  let folded = 0;
  eachEvent(source, (event) => {
    for (const write of project(event)) fold.add(write);
    if (++folded % FOLDED_EVENTS === 0) fold.flush();
  });
  fold.flush();
  if (isQueried) indexes.restore();
  db.exec(projection.fill ?? '');
  if (isQueried) for (const sql of triggers) db.exec(sql);
}

/**
 * Drops the indexes: they are made far faster from full tables. Also the unique ones, because folded rows do not come in
 * the order of their facts: two that were never there together would meet, and one take the other's place. `restore`
 * makes those again that find rows by the first of these columns, or all that are left.
 */
function takeIndexes(db: Connection, tables: readonly string[]) {
  const found = db
    .prepare(
      `SELECT schema.name, tbl_name AS "table", sql, info.name AS first, list."unique" AS isUnique
       FROM sqlite_schema AS schema, pragma_index_list(tbl_name) AS list, pragma_index_info(schema.name) AS info
       WHERE schema.type = 'index' AND sql IS NOT NULL AND list.name = schema.name
         AND info.seqno = 0 AND tbl_name IN (SELECT value FROM json_each(?)) ORDER BY schema.rowid`,
    )
    .all(JSON.stringify(tables)) as {
    name: string;
    table: string;
    sql: string;
    first: string | null;
    isUnique: 0 | 1;
  }[];
  for (const { name } of found) db.exec(`DROP INDEX ${name}`);
  let left = found;
  return {
    restore(table?: string, columns?: readonly string[]): void {
      if (left.length === 0) return;
      const isWanted = (index: (typeof found)[number]): boolean =>
        table === undefined ||
        (index.table === table && index.isUnique === 0 && columns!.includes(index.first ?? ''));
      const wanted = left.filter(isWanted);
      left = left.filter((index) => !wanted.includes(index));
      for (const { sql } of wanted) db.exec(sql);
    },
  };
}

/** Creates the derived tables, or replaces them when they were made by another version of the projection. */
export function prepareRows(db: Connection, prepare: Prepare, projection: Projection): void {
  const read = prepare("SELECT value FROM meta WHERE key = 'projection'").pluck();
  if (read.get() === projection.version) return;
  const cache = db.pragma('cache_size', { simple: true }) as number;
  db.pragma(`cache_size = ${-CACHE}`);
  try {
    db.transaction(() => replaceRows(db, prepare.coder, projection))();
  } finally {
    db.pragma(`cache_size = ${cache}`);
    db.pragma('shrink_memory');
  }
}

function replaceRows(db: Connection, coder: Coder, projection: Projection): void {
  const tables = db.prepare("SELECT value FROM meta WHERE key = 'tables'").pluck().get() as
    string | undefined;
  for (const table of tables?.split(',') ?? []) db.exec(`DROP TABLE IF EXISTS ${table}`);
  createRows(db, createStatements(db, coder), projection, { isQueried: true, coder });
  db.prepare("INSERT OR REPLACE INTO meta VALUES ('projection', ?)").run(projection.version);
  db.prepare("INSERT OR REPLACE INTO meta VALUES ('tables', ?)").run(projection.tables.join(','));
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

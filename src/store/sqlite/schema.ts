/** Tables in a file, and the format of a file. Derived tables come from the projection; their rows can be rebuilt, those of the log cannot. */
import { Unavailable } from '../../kernel/unavailable.ts';
import type { Connection } from './connection.ts';
import { LOG_TABLES } from '../sql/log-tables.ts';
import { toSql, type Table } from '../sql/table.ts';

/** "rwnd" in ASCII; marks the file as an event log of this program. */
const APPLICATION_ID = 0x72776e64;
/** Of the log's own tables and of what is in them; the derived tables have a version of their own. `README.md` has the rule. */
export const FORMAT = 100;
/** A log has this in the place of its format while a whole log is imported into it. */
export const IMPORTING = 1;

const TYPES = {
  ...{ text: 'TEXT', long: 'TEXT', id: 'ANY', integer: 'INTEGER', small: 'INTEGER', real: 'REAL' },
  ...{ content: 'ANY', pairs: 'TEXT', order: 'INTEGER' },
} as const;

/** Statements that create a table and its indexes. */
export const toSqlite = ([name, table]: readonly [string, Table]): string =>
  toSql(name, table, { types: TYPES, options: table.isLong ? ' STRICT' : ' STRICT, WITHOUT ROWID' }).join(
    ';\n',
  );

export const hasFormat = (db: Connection, format: number): boolean =>
  db.pragma('application_id', { simple: true }) === APPLICATION_ID &&
  db.pragma('user_version', { simple: true }) === format;

export const setFormat = (db: Connection, format: number): void => void db.pragma(`user_version = ${format}`);

/** Creates the tables in a new file. Refuses a file of another program or format. */
export function prepareSchema(db: Connection): void {
  // Opening a connection makes the table `opened`.
  const isNew = db.prepare("SELECT 1 FROM sqlite_schema WHERE name <> 'opened'").get() === undefined;
  if (!isNew) return assertFormat(db);
  db.transaction(() => {
    for (const table of Object.entries(LOG_TABLES)) db.exec(toSqlite(table));
    db.pragma(`application_id = ${APPLICATION_ID}`);
    setFormat(db, FORMAT);
  })();
}

/** `file`: its name in the message. */
export function assertFormat(db: Connection, file = db.name): void {
  if (hasFormat(db, FORMAT)) return;
  const application = db.pragma('application_id', { simple: true }) as number;
  const format = db.pragma('user_version', { simple: true }) as number;
  if (hasFormat(db, IMPORTING))
    throw new Unavailable(
      `${file}: an import of a whole log did not end; import the file again, which begins anew`,
    );
  const found =
    application === APPLICATION_ID
      ? `a log of format ${format}`
      : `a database of another program (application id 0x${application.toString(16)})`;
  const wayOut =
    application !== APPLICATION_ID
      ? 'name another data directory'
      : format > FORMAT
        ? 'use the version that wrote it, or a later one'
        : 'no release wrote it: name another data directory, or export its threads with the version that wrote it and import them';
  throw new Unavailable(`${file}: found ${found}, expected a log of format ${FORMAT}; ${wayOut}`);
}

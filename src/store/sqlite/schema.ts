/** The log's own tables. Derived tables come from the projection; their rows can be rebuilt, these cannot. */
import type { Connection } from './connection.ts';
import { IMPORTS } from './payloads/imports.ts';
import { RESUME_CALLS } from './payloads/resume-calls.ts';
import { QUEUE, toSqlite } from '../sql/rows/tables.ts';
import { CONTENT, PAYLOADS } from './payloads/tables.ts';

/** "rwnd" in ASCII; marks the file as an event log of this program. */
const APPLICATION_ID = 0x72776e64;
export const SCHEMA_VERSION = 20;

const EVENTS = `
CREATE TABLE events (
  position INTEGER PRIMARY KEY,
  stream TEXT NOT NULL,
  version INTEGER NOT NULL,
  type TEXT NOT NULL,
  schema INTEGER NOT NULL,
  ${CONTENT},
  at INTEGER NOT NULL,
  command_id TEXT NOT NULL,
  UNIQUE (stream, version)
) STRICT;
`;

const TABLES = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
${EVENTS}
CREATE TABLE commands (
  command_id TEXT PRIMARY KEY,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE snapshots (
  stream TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  state ANY NOT NULL
) STRICT, WITHOUT ROWID;
`;

const REQUESTS = `
CREATE TABLE requests (
  key TEXT PRIMARY KEY,
  digest TEXT NOT NULL,
  run_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX requests_by_age ON requests (at);
`;

/** Finds old command ids among very many. */
const COMMANDS_BY_AGE = 'CREATE INDEX commands_by_age ON commands (at)';

/** Creates the tables in a new file; refuses a file of another program or of another version of this one. */
export function prepareSchema(db: Connection): void {
  const found = db.pragma('user_version', { simple: true }) as number;
  if (found === 0) {
    db.transaction(() => {
      db.exec(TABLES);
      db.exec(toSqlite(['queue', QUEUE]));
      db.exec(COMMANDS_BY_AGE);
      db.exec(REQUESTS);
      db.exec(PAYLOADS);
      db.exec(RESUME_CALLS);
      db.exec(IMPORTS);
      db.pragma(`application_id = ${APPLICATION_ID}`);
      db.pragma(`user_version = ${SCHEMA_VERSION}`);
    })();
    return;
  }
  assertSchema(db);
}

export function assertSchema(db: Connection): void {
  const application = db.pragma('application_id', { simple: true }) as number;
  const version = db.pragma('user_version', { simple: true }) as number;
  assertVersion(db.name, application, version);
}

/** The same from the first 100 bytes of a file (sqlite.org/fileformat2.html). */
export function assertHeader(header: Buffer, file: string): void {
  const isDatabase = header.length === 100 && header.toString('latin1', 0, 16) === 'SQLite format 3\0';
  if (!isDatabase) throw new Error(`${file}: expected a SQLite database`);
  assertVersion(file, header.readInt32BE(68), header.readInt32BE(60));
}

function assertVersion(file: string, application: number, version: number): void {
  if (application === APPLICATION_ID && version === SCHEMA_VERSION) return;
  throw new Error(
    `${file}: found a file of ${describeSchema(application, version)}, expected an event log of ` +
      `${describeSchema(APPLICATION_ID, SCHEMA_VERSION)}; move the folder away, or use the version of the program that wrote it`,
  );
}

const describeSchema = (application: number, version: number): string =>
  `application id 0x${application.toString(16)} with schema version ${version}`;

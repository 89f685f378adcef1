/** The log's own tables. Derived tables come from the projection; their rows can be rebuilt, these cannot. */
import type { Connection } from './connection.ts';
import { CHECKPOINTS } from './checkpoint-tables.ts';
import { COMPACT_CHECKPOINTS, SHORTEN_CHECKPOINTS } from './checkpoint-upgrades.ts';
import { FRAME_STATES, FRAMES, SPLIT_FRAMES } from './frame-tables.ts';
import { CRON_SECRETS } from './secrets.ts';

/** Marks the file as ours: "thwl". */
const APPLICATION_ID = 0x7468776c;
const SCHEMA_VERSION = 11;

export const EVENTS = `
CREATE TABLE events (
  position INTEGER PRIMARY KEY,
  stream TEXT NOT NULL,
  version INTEGER NOT NULL,
  type TEXT NOT NULL,
  schema INTEGER NOT NULL,
  data TEXT NOT NULL,
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
  state TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE leases (
  run_id TEXT PRIMARY KEY,
  attempt INTEGER NOT NULL,
  lease_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE secrets (run_id TEXT PRIMARY KEY, thread_id TEXT NOT NULL, data TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

/** With row ids, as their rows may be long: without, each search reads the whole of the rows that it passes. */
const BODIES = `
CREATE TABLE bodies (delivery_id TEXT PRIMARY KEY, thread_id TEXT NOT NULL, data TEXT NOT NULL) STRICT;
`;
const ITEMS = `
CREATE TABLE item_values (item_id TEXT PRIMARY KEY, data TEXT NOT NULL) STRICT;
CREATE TABLE item_vectors (
  item_id TEXT NOT NULL,
  idx INTEGER NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (item_id, idx)
) STRICT;
`;

/** From version 10. */
const ADD_ROW_IDS = `
ALTER TABLE bodies RENAME TO old_bodies;
ALTER TABLE item_values RENAME TO old_values;
ALTER TABLE item_vectors RENAME TO old_vectors;
${BODIES}
${ITEMS}
INSERT INTO bodies SELECT * FROM old_bodies;
INSERT INTO item_values SELECT * FROM old_values;
INSERT INTO item_vectors SELECT * FROM old_vectors;
DROP TABLE old_bodies;
DROP TABLE old_values;
DROP TABLE old_vectors;
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

/** What leads from each version to the next one, in order, from version 1 on. */
const STEPS: readonly string[] = [
  'ALTER TABLE frames ADD COLUMN at INTEGER NOT NULL DEFAULT 0',
  ITEMS,
  COMMANDS_BY_AGE,
  REQUESTS,
  CRON_SECRETS,
  `ALTER TABLE frames ADD COLUMN state INTEGER; ${FRAME_STATES}`,
  COMPACT_CHECKPOINTS,
  SHORTEN_CHECKPOINTS,
  SPLIT_FRAMES,
  ADD_ROW_IDS,
];

/**
 * Creates the log's tables in a new file, and brings those of an earlier version up to date; refuses a file of another
 * program or of a later version of this one.
 */
export function prepareSchema(db: Connection): void {
  const found = db.pragma('user_version', { simple: true }) as number;
  if (found === 0) {
    db.transaction(() => {
      db.exec(TABLES);
      db.exec(BODIES);
      db.exec(ITEMS);
      db.exec(COMMANDS_BY_AGE);
      db.exec(REQUESTS);
      db.exec(CRON_SECRETS);
      db.exec(FRAMES);
      db.exec(FRAME_STATES);
      db.exec(CHECKPOINTS);
      db.pragma(`application_id = ${APPLICATION_ID}`);
      db.pragma(`user_version = ${SCHEMA_VERSION}`);
    })();
    return;
  }
  if (db.pragma('application_id', { simple: true }) === APPLICATION_ID && found < SCHEMA_VERSION)
    db.transaction(() => {
      for (const step of STEPS.slice(found - 1)) db.exec(step);
      db.pragma(`user_version = ${SCHEMA_VERSION}`);
    })();
  assertSchema(db);
}

export function assertSchema(db: Connection): void {
  const application = db.pragma('application_id', { simple: true });
  const version = db.pragma('user_version', { simple: true });
  if (application !== APPLICATION_ID) throw new Error(`${db.name} is not an event log of this program`);
  if (version !== SCHEMA_VERSION)
    throw new Error(
      `${db.name} has schema version ${String(version)}, this program reads version ${SCHEMA_VERSION}`,
    );
}

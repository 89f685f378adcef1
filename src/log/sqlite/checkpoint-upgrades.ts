/** How the tables of checkpoints of earlier versions become those of this one. */
import { CHECKPOINT_VIEWS, NAMES, WRITES } from './checkpoint-tables.ts';

const VERSION_8 = `CREATE TABLE checkpoint_threads (id INTEGER PRIMARY KEY, thread_id TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE checkpoint_names (
  id INTEGER PRIMARY KEY,
  thread INTEGER NOT NULL,
  name TEXT NOT NULL,
  UNIQUE (thread, name)
) STRICT;
CREATE TABLE checkpoint_rows (
  id INTEGER PRIMARY KEY,
  thread INTEGER NOT NULL,
  ns TEXT NOT NULL,
  checkpoint INTEGER NOT NULL,
  parent INTEGER,
  run INTEGER NOT NULL,
  at INTEGER NOT NULL,
  -- checkpoint-text.ts
  packed ANY NOT NULL,
  UNIQUE (checkpoint, ns)
) STRICT;
CREATE INDEX checkpoint_rows_by_ns ON checkpoint_rows (thread, ns);
CREATE TABLE blob_rows (
  id INTEGER PRIMARY KEY,
  thread INTEGER NOT NULL,
  ns TEXT NOT NULL,
  channel TEXT NOT NULL,
  version TEXT NOT NULL,
  run INTEGER NOT NULL,
  base TEXT,
  kept INTEGER NOT NULL,
  -- NULL: its own version.
  anchor TEXT,
  data TEXT NOT NULL,
  UNIQUE (thread, ns, channel, version)
) STRICT;
CREATE TABLE write_rows (
  id INTEGER PRIMARY KEY,
  ns TEXT NOT NULL,
  checkpoint INTEGER NOT NULL,
  task TEXT NOT NULL,
  idx INTEGER NOT NULL,
  run INTEGER NOT NULL,
  channel TEXT NOT NULL,
  -- The row of blob_rows that has the rest of the data, if it is not here: see write-store.ts.
  base INTEGER,
  head INTEGER,
  start INTEGER,
  kept INTEGER,
  data TEXT NOT NULL
) STRICT;
CREATE INDEX write_rows_by_checkpoint ON write_rows (checkpoint);
CREATE INDEX write_rows_by_base ON write_rows (base) WHERE base IS NOT NULL;
`;

/** From the tables that had every id in every row; text of checkpoints stays as it is. */
export const COMPACT_CHECKPOINTS = `
ALTER TABLE checkpoints RENAME TO long_checkpoints;
ALTER TABLE channel_blobs RENAME TO long_blobs;
ALTER TABLE checkpoint_writes RENAME TO long_writes;
${VERSION_8}
INSERT INTO checkpoint_threads (thread_id)
  SELECT thread_id FROM long_checkpoints UNION SELECT thread_id FROM long_blobs UNION SELECT thread_id FROM long_writes;
INSERT INTO checkpoint_names (thread, name)
  SELECT id, name FROM checkpoint_threads JOIN (
    SELECT thread_id, run_id AS name FROM long_checkpoints UNION SELECT thread_id, checkpoint_id FROM long_checkpoints
    UNION SELECT thread_id, parent_id FROM long_checkpoints WHERE parent_id IS NOT NULL
    UNION SELECT thread_id, run_id FROM long_blobs UNION SELECT thread_id, run_id FROM long_writes
    UNION SELECT thread_id, checkpoint_id FROM long_writes) USING (thread_id);
INSERT INTO checkpoint_rows (thread, ns, checkpoint, parent, run, at, packed)
  SELECT t.id, ns, own.id, above.id, ran.id, at,
    metadata || char(10) || channel_versions || char(10) || value_channels || char(10) || body
  FROM long_checkpoints JOIN checkpoint_threads AS t USING (thread_id)
  JOIN checkpoint_names AS own ON own.thread = t.id AND own.name = checkpoint_id
  JOIN checkpoint_names AS ran ON ran.thread = t.id AND ran.name = run_id
  LEFT JOIN checkpoint_names AS above ON above.thread = t.id AND above.name = parent_id
  ORDER BY thread_id, seq;
INSERT INTO blob_rows (thread, ns, channel, version, run, base, kept, anchor, data)
  SELECT t.id, ns, channel, version, ran.id, base, kept, nullif(anchor, version), data
  FROM long_blobs JOIN checkpoint_threads AS t USING (thread_id)
  JOIN checkpoint_names AS ran ON ran.thread = t.id AND ran.name = run_id;
INSERT INTO write_rows (ns, checkpoint, task, idx, run, channel, data)
  SELECT ns, own.id, task_id, idx, ran.id, channel, data
  FROM long_writes JOIN checkpoint_threads AS t USING (thread_id)
  JOIN checkpoint_names AS own ON own.thread = t.id AND own.name = checkpoint_id
  JOIN checkpoint_names AS ran ON ran.thread = t.id AND ran.name = run_id;
DROP TABLE long_checkpoints; DROP TABLE long_blobs; DROP TABLE long_writes;
`;

const UUID = ['8', '4', '4', '4', '12'].map((length) => '[0-9a-f]'.repeat(Number(length))).join('-');
const shortened = (column: string): string =>
  `iif(${column} GLOB '${UUID}', unhex(replace(${column}, '-', '')), ${column})`;

/** From the tables that had ids as text and each checkpoint's text by itself; the texts stay as they are. */
export const SHORTEN_CHECKPOINTS = `
DROP VIEW IF EXISTS checkpoints; DROP VIEW IF EXISTS channel_blobs; DROP VIEW IF EXISTS checkpoint_writes;
ALTER TABLE checkpoint_rows ADD COLUMN base INTEGER;
ALTER TABLE blob_rows ADD COLUMN rest INTEGER;
ALTER TABLE blob_rows ADD COLUMN head INTEGER;
ALTER TABLE blob_rows ADD COLUMN start INTEGER;
CREATE INDEX blob_rows_by_rest ON blob_rows (rest) WHERE rest IS NOT NULL;
ALTER TABLE checkpoint_names RENAME TO long_names;
${NAMES}
INSERT INTO checkpoint_names (id, thread, name) SELECT id, thread, ${shortened('name')} FROM long_names;
DROP TABLE long_names;
DROP INDEX write_rows_by_checkpoint;
DROP INDEX write_rows_by_base;
ALTER TABLE write_rows RENAME TO long_writes;
${WRITES}
INSERT INTO write_rows (id, ns, checkpoint, task, idx, run, channel, base, head, start, kept, data)
  SELECT id, ns, checkpoint, ${shortened('task')}, idx, run, channel, base, head, start, kept, data FROM long_writes;
DROP TABLE long_writes;
${CHECKPOINT_VIEWS}
`;

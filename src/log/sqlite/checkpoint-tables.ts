/**
 * Tables of checkpoints. P3 What many rows share is stored once: the ids of threads, runs and checkpoints are numbers
 * in the rows, and the views of the same content have the ids themselves. Writers use the tables, readers the views.
 *
 * Names belong to their thread, so that nothing of it is left when it goes; those that no row has any more go when
 * its checkpoints are next collected. All three have row ids: without, of a row longer than a quarter of a page the
 * rest takes a whole page. Rows of checkpoints are numbered in the order of saving: ids come from the graph's runtime
 * and its clock, which may jump.
 */
import type { Prepare } from './statements.ts';

export const CHECKPOINTS = `
CREATE TABLE checkpoint_threads (id INTEGER PRIMARY KEY, thread_id TEXT NOT NULL UNIQUE) STRICT;
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
CREATE VIEW checkpoints AS
  SELECT saved.id AS seq, thread_id, ns, own.name AS checkpoint_id, above.name AS parent_id, ran.name AS run_id, at,
    packed
  FROM checkpoint_threads
  JOIN checkpoint_rows AS saved ON saved.thread = checkpoint_threads.id
  JOIN checkpoint_names AS own ON own.id = saved.checkpoint AND own.thread = checkpoint_threads.id
  JOIN checkpoint_names AS ran ON ran.id = saved.run
  LEFT JOIN checkpoint_names AS above ON above.id = saved.parent;
CREATE VIEW channel_blobs AS
  SELECT blob.id, thread_id, ns, channel, version, ran.name AS run_id, base, kept, coalesce(anchor, version) AS anchor,
    data
  FROM checkpoint_threads
  JOIN blob_rows AS blob ON blob.thread = checkpoint_threads.id
  JOIN checkpoint_names AS ran ON ran.id = blob.run;
CREATE VIEW checkpoint_writes AS
  SELECT written.id, thread_id, ns, own.name AS checkpoint_id, task AS task_id, idx, ran.name AS run_id, channel, base,
    head, start, kept, data
  FROM checkpoint_threads
  JOIN checkpoint_names AS own ON own.thread = checkpoint_threads.id
  JOIN write_rows AS written ON written.checkpoint = own.id
  JOIN checkpoint_names AS ran ON ran.id = written.run;
`;

/** From the tables that had every id in every row; text of checkpoints stays as it is. */
export const COMPACT_CHECKPOINTS = `
ALTER TABLE checkpoints RENAME TO long_checkpoints;
ALTER TABLE channel_blobs RENAME TO long_blobs;
ALTER TABLE checkpoint_writes RENAME TO long_writes;
${CHECKPOINTS}
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

/** The number of a thread, given when there is none. Inside the commit's transaction, as all of these. */
export function threadKey(prepare: Prepare, threadId: string): number {
  return (
    findThread(prepare, threadId) ??
    Number(prepare('INSERT INTO checkpoint_threads (thread_id) VALUES (?)').run(threadId).lastInsertRowid)
  );
}

export function findThread(prepare: Prepare, threadId: string): number | undefined {
  return prepare('SELECT id FROM checkpoint_threads WHERE thread_id = ?').pluck().get(threadId) as
    number | undefined;
}

/** The number of an id within its thread, given when there is none. */
export function nameKey(prepare: Prepare, thread: number, name: string): number {
  const found = prepare('SELECT id FROM checkpoint_names WHERE thread = ? AND name = ?')
    .pluck()
    .get(thread, name) as number | undefined;
  return (
    found ??
    Number(
      prepare('INSERT INTO checkpoint_names (thread, name) VALUES (?, ?)').run(thread, name).lastInsertRowid,
    )
  );
}

/** Names that no row of the thread has. */
export function forgetNames(prepare: Prepare, thread: number): void {
  prepare(
    `DELETE FROM checkpoint_names WHERE thread = @thread AND id NOT IN (
       SELECT checkpoint FROM checkpoint_rows WHERE thread = @thread
       UNION SELECT parent FROM checkpoint_rows WHERE thread = @thread AND parent IS NOT NULL
       UNION SELECT run FROM checkpoint_rows WHERE thread = @thread
       UNION SELECT run FROM blob_rows WHERE thread = @thread
       UNION SELECT run FROM write_rows WHERE checkpoint IN
         (SELECT checkpoint FROM checkpoint_rows WHERE thread = @thread))`,
  ).run({ thread });
}

export function purgeCheckpoints(prepare: Prepare, threadId: string): void {
  const thread = findThread(prepare, threadId);
  if (thread === undefined) return;
  prepare(
    'DELETE FROM write_rows WHERE checkpoint IN (SELECT id FROM checkpoint_names WHERE thread = ?)',
  ).run(thread);
  for (const table of ['checkpoint_rows', 'blob_rows', 'checkpoint_names'])
    prepare(`DELETE FROM ${table} WHERE thread = ?`).run(thread);
  prepare('DELETE FROM checkpoint_threads WHERE id = ?').run(thread);
}

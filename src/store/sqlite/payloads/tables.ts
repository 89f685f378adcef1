/**
 * Tables of content. P3 What many rows share is stored once: a text may be the difference from texts of earlier rows of
 * its table, whose ids `bases` lists (sql/texts.ts). Ids that are UUIDs are stored as their 16 bytes.
 *
 * Rows are long, so all tables have row ids: without, a search reads the whole of every row that it passes. Row ids are
 * in the order of saving: ids of checkpoints come from the graph's runtime and its clock, which may jump.
 */
/** Columns of every row that has content: the text, or its sealed bytes (sql/coder.ts), and the checksum of either. */
export const CONTENT = 'data ANY NOT NULL, crc INTEGER NOT NULL';

/** NULL for a whole text; else JSON with the ids of its bases, and the length of the whole text in UTF-16 units. */
const DIFFERENCE = 'bases TEXT, size INTEGER';

const TEXTS = `
CREATE TABLE texts (
  id INTEGER PRIMARY KEY,
  -- The row of the thread.
  thread INTEGER NOT NULL,
  -- 'c': a checkpoint without its values; 'v': a channel's value; 'w': what tasks of a run wrote on a checkpoint;
  -- 't': a thread that has some of these.
  kind TEXT NOT NULL,
  ns TEXT NOT NULL,
  -- The id of the checkpoint or thread, or the channel.
  name ANY NOT NULL,
  -- Of a value; empty for a checkpoint or thread; NULL for writes, of which a checkpoint has several rows.
  version TEXT,
  -- NULL for a value that came with its checkpoint.
  run ANY,
  parent ANY,
  at INTEGER,
  -- The last frame that the run had when it saved the checkpoint, if an executor did.
  last_frame INTEGER,
  -- Of writes: which stretch of the text is which write.
  parts TEXT,
  ${DIFFERENCE},
  ${CONTENT}
) STRICT;
CREATE UNIQUE INDEX texts_by_name ON texts (thread, kind, ns, name, version);
CREATE INDEX checkpoints_by_order ON texts (thread, ns) WHERE kind = 'c';
`;

const FRAMES = `
-- The frames of a run that one commit has, or one frame that shows the state.
CREATE TABLE frames (
  id INTEGER PRIMARY KEY,
  run ANY NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  -- Of the run's first row, and of those that show the state.
  thread ANY,
  -- The graph whose state it shows.
  series TEXT,
  at INTEGER NOT NULL,
  -- Which stretch of the text is which frame.
  parts TEXT NOT NULL,
  ${DIFFERENCE},
  ${CONTENT}
) STRICT;
CREATE UNIQUE INDEX frames_by_run ON frames (run, last);
CREATE INDEX frames_by_thread ON frames (thread, series) WHERE thread IS NOT NULL;
`;

const OTHERS = `
-- Content that belongs to a run and is found by its id: kinds.ts.
CREATE TABLE run_contents (
  id INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  ${CONTENT}
) STRICT;
CREATE INDEX run_contents_by_run ON run_contents (run_id, kind);
CREATE INDEX run_contents_by_thread ON run_contents (thread_id);
-- In the order of its row ids.
CREATE TABLE resume_calls (
  seq INTEGER PRIMARY KEY,
  thread_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  base TEXT,
  ${CONTENT}
) STRICT;
CREATE INDEX resume_calls_by_run ON resume_calls (run_id);
CREATE INDEX resume_calls_by_thread ON resume_calls (thread_id);
CREATE TABLE secrets (run_id TEXT PRIMARY KEY, thread_id TEXT NOT NULL, ${CONTENT}) STRICT, WITHOUT ROWID;
CREATE TABLE cron_secrets (cron_id TEXT PRIMARY KEY, ${CONTENT}) STRICT, WITHOUT ROWID;
CREATE TABLE bodies (delivery_id TEXT PRIMARY KEY, thread_id TEXT NOT NULL, ${CONTENT}) STRICT;
CREATE TABLE item_values (item_id TEXT PRIMARY KEY, ${CONTENT}) STRICT;
CREATE TABLE item_vectors (
  item_id TEXT NOT NULL,
  idx INTEGER NOT NULL,
  ${CONTENT},
  PRIMARY KEY (item_id, idx)
) STRICT;
`;

const IMPORTS = `
CREATE TABLE imports (storage_key TEXT PRIMARY KEY, thread_id TEXT NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;

export const PAYLOADS = `${TEXTS}${FRAMES}${OTHERS}${IMPORTS}`;

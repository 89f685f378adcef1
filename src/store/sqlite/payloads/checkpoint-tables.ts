/**
 * Tables of checkpoints. P3 What many rows share is stored once: the ids of threads, runs and checkpoints are numbers
 * in the rows, and the views of the same content have the ids themselves. Writers use the tables, readers the views.
 *
 * Names belong to their thread, so that nothing of it is left when it goes; those that no row has any more go when
 * its checkpoints are next collected. An id that is a UUID is stored as its 16 bytes. All have row ids: without, of a
 * row longer than a quarter of a page the rest takes a whole page. Rows of checkpoints are numbered in the order of
 * saving: ids come from the graph's runtime and its clock, which may jump.
 */
import { CONTENT } from './content-columns.ts';
import type { Prepare } from '../statements.ts';

const NAMES = `
CREATE TABLE checkpoint_names (
  id INTEGER PRIMARY KEY,
  thread INTEGER NOT NULL,
  name ANY NOT NULL,
  UNIQUE (thread, name)
) STRICT;
`;

const WRITES = `
CREATE TABLE write_rows (
  id INTEGER PRIMARY KEY,
  ns TEXT NOT NULL,
  checkpoint INTEGER NOT NULL,
  task ANY NOT NULL,
  -- Orders the tasks of a step before their ids do.
  task_path TEXT NOT NULL DEFAULT '',
  idx INTEGER NOT NULL,
  run INTEGER NOT NULL,
  channel TEXT NOT NULL,
  -- The row of blob_rows that has the rest of the data, if it is not here: see write-store.ts.
  base INTEGER,
  head INTEGER,
  start INTEGER,
  kept INTEGER,
  ${CONTENT}
) STRICT;
CREATE INDEX write_rows_by_checkpoint ON write_rows (checkpoint);
CREATE INDEX write_rows_by_base ON write_rows (base) WHERE base IS NOT NULL;
`;

/** The text of an id. */
export const idOf = (column: string): string => {
  const hex = [
    [1, 8],
    [9, 4],
    [13, 4],
    [17, 4],
    [21, 12],
  ].map(([from, length]) => `substr(hex(${column}), ${from}, ${length})`);
  return `CASE typeof(${column}) WHEN 'blob' THEN lower(${hex.join(" || '-' || ")}) ELSE ${column} END`;
};

/** The row that a value leans on, if its base is given as one: channel-store.ts. */
export const baseRow = (blob: string): string =>
  `iif(${blob}.base GLOB '#*', CAST(substr(${blob}.base, 2) AS INTEGER), NULL)`;
/** Its version. */
export const baseVersion = (blob: string): string =>
  `coalesce((SELECT below.version FROM blob_rows AS below WHERE below.id = ${baseRow(blob)}), ${blob}.base)`;

const CHECKPOINT_VIEWS = `
CREATE VIEW checkpoints AS
  SELECT saved.id AS seq, thread_id, ns, saved.checkpoint, own.name AS checkpoint_name,
    ${idOf('own.name')} AS checkpoint_id, ${idOf('above.name')} AS parent_id, ${idOf('ran.name')} AS run_id, at, packed,
    iif(saved.base IS NULL, NULL, coalesce((SELECT below.packed FROM checkpoint_rows AS below WHERE below.id = saved.base), ''))
      AS base
  FROM checkpoint_threads
  JOIN checkpoint_rows AS saved ON saved.thread = checkpoint_threads.id
  JOIN checkpoint_names AS own ON own.id = saved.checkpoint AND own.thread = checkpoint_threads.id
  JOIN checkpoint_names AS ran ON ran.id = saved.run
  LEFT JOIN checkpoint_names AS above ON above.id = saved.parent;
CREATE VIEW channel_blobs AS
  SELECT blob.id, thread_id, ns, channel, version, ${idOf('ran.name')} AS run_id,
    ${baseVersion('blob')} AS base, kept,
    coalesce(anchor, version) AS anchor, data, rest, head, start
  FROM checkpoint_threads
  JOIN blob_rows AS blob ON blob.thread = checkpoint_threads.id
  JOIN checkpoint_names AS ran ON ran.id = blob.run;
CREATE VIEW checkpoint_writes AS
  SELECT written.id, thread_id, ns, ${idOf('own.name')} AS checkpoint_id, ${idOf('task')} AS task_id, task_path, idx,
    ${idOf('ran.name')} AS run_id, channel, base, head, start, kept, data
  FROM checkpoint_threads
  JOIN checkpoint_names AS own ON own.thread = checkpoint_threads.id
  JOIN write_rows AS written ON written.checkpoint = own.id
  JOIN checkpoint_names AS ran ON ran.id = written.run;
`;

export const CHECKPOINTS = `
CREATE TABLE checkpoint_threads (id INTEGER PRIMARY KEY, thread_id TEXT NOT NULL UNIQUE) STRICT;
${NAMES}
CREATE TABLE checkpoint_rows (
  id INTEGER PRIMARY KEY,
  thread INTEGER NOT NULL,
  ns TEXT NOT NULL,
  checkpoint INTEGER NOT NULL,
  parent INTEGER,
  run INTEGER NOT NULL,
  at INTEGER NOT NULL,
  -- The last frame that the run had when it saved this, if an executor did.
  last_frame INTEGER,
  -- checkpoint-text.ts
  packed ANY NOT NULL,
  crc INTEGER NOT NULL,
  -- The row whose text the packed one differs from, if there is one; that row itself has none.
  base INTEGER,
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
  ${CONTENT},
  -- The row that has the rest of the data, if it is not here: see write-store.ts.
  rest INTEGER,
  head INTEGER,
  start INTEGER,
  UNIQUE (thread, ns, channel, version)
) STRICT;
CREATE INDEX blob_rows_by_rest ON blob_rows (rest) WHERE rest IS NOT NULL;
${WRITES}
${CHECKPOINT_VIEWS}
`;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** As it is stored. */
export const toName = (id: string): string | Buffer =>
  UUID.test(id) ? Buffer.from(id.replaceAll('-', ''), 'hex') : id;

export function toId(name: string | Buffer): string {
  if (typeof name === 'string') return name;
  const hex = name.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

export function findThread(prepare: Prepare, threadId: string): number | undefined {
  return prepare('SELECT id FROM checkpoint_threads WHERE thread_id = ?').pluck().get(threadId) as
    number | undefined;
}

/** The number of an id within its thread. */
export function findName(prepare: Prepare, thread: number, id: string): number | undefined {
  return prepare('SELECT id FROM checkpoint_names WHERE thread = ? AND name = ?')
    .pluck()
    .get(thread, toName(id)) as number | undefined;
}

export function findLastFrameAt(
  prepare: Prepare,
  { runId, threadId }: { readonly runId: string; readonly threadId: string },
  checkpointId: string,
): number | undefined {
  const thread = findThread(prepare, threadId);
  if (thread === undefined) return undefined;
  const [checkpoint, run] = [checkpointId, runId].map((id) => findName(prepare, thread, id) ?? null);
  const found = prepare("SELECT last_frame FROM checkpoint_rows WHERE checkpoint = ? AND ns = '' AND run = ?")
    .pluck()
    .get(checkpoint, run) as number | null | undefined;
  return found ?? undefined;
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

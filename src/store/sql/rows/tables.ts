/** The derived tables. Change one, or what is written to it, and raise `VERSION`: rows are then rebuilt at start. */

import { INDEX_DDL, INDEX_TABLES } from './thread-index.ts';

export const VERSION = '27';

export const TABLES = [
  'threads',
  'runs',
  'deliveries',
  'assistants',
  'assistant_versions',
  'items',
  'crons',
  ...INDEX_TABLES,
] as const;

/** Content: what clients and graphs say. Ids, times, statuses, names, schedules and metadata are not. */
export const SEALED: Readonly<Record<string, readonly string[]>> = {
  threads: ['interrupts', 'error', 'title'],
  runs: ['config', 'outcome'],
  deliveries: ['url', 'last_error'],
  assistants: ['config', 'context'],
  assistant_versions: ['config', 'context'],
  crons: ['payload', 'refused'],
};

export const DDL = `
CREATE TABLE threads (
  thread_id TEXT NOT NULL UNIQUE,
  -- Position of the fact that made it: short in indexes, and the order of threads of one millisecond.
  seq INTEGER PRIMARY KEY,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  state_updated_at INTEGER,
  status TEXT NOT NULL,
  -- The status without runs that are open: what it returns to when such a run leaves no trace.
  settled TEXT NOT NULL,
  metadata TEXT NOT NULL,
  -- What of the metadata is indexed, a list of texts.
  pairs TEXT NOT NULL,
  title ANY,
  -- The run whose deletion deletes the title.
  titled_by TEXT,
  head TEXT,
  interrupts ANY NOT NULL,
  error ANY,
  -- 1: of a stateless run. 2: its import is not complete.
  temporary INTEGER NOT NULL,
  -- Whose state this is when the run that left it is not among the thread's, and since when.
  bound_graph_id TEXT,
  bound_assistant_id TEXT,
  bound_at INTEGER,
  ttl_strategy TEXT,
  ttl_minutes REAL,
  expires_at INTEGER,
  -- Its runs ended elsewhere, and before.
  imported_at INTEGER
) STRICT;
CREATE INDEX threads_expiring ON threads (expires_at) WHERE expires_at IS NOT NULL;
${INDEX_DDL}
CREATE INDEX threads_temporary ON threads (updated_at) WHERE temporary = 1;
CREATE INDEX threads_arriving ON threads (thread_id) WHERE temporary = 2;

CREATE TABLE runs (
  run_id TEXT NOT NULL UNIQUE,
  thread_id TEXT NOT NULL,
  -- Of its RunCreated, which says what it was created with: short in indexes, each of which ends with it, and the order
  -- of runs of one millisecond.
  position INTEGER PRIMARY KEY,
  assistant_id TEXT NOT NULL,
  graph_id TEXT NOT NULL,
  -- Identity of the caller who created it; NULL without authentication.
  owner TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  status TEXT NOT NULL,
  metadata TEXT NOT NULL,
  -- What a thread shows of the config of its last run, an object without \`configurable\`; NULL for an empty one.
  config ANY,
  strategy TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  lease_id TEXT,
  not_before INTEGER NOT NULL,
  outcome ANY,
  -- 1: its answer was refused, so it has left the thread as it was.
  refused INTEGER NOT NULL,
  -- 1: its end is told to a webhook.
  webhook INTEGER NOT NULL,
  cancel_reason TEXT,
  head TEXT,
  -- Its place among the runs of its thread: the version of the fact that started it, or that ended it unstarted.
  turn INTEGER
) STRICT;
CREATE INDEX runs_by_thread ON runs (thread_id, created_at);
CREATE INDEX runs_by_assistant ON runs (assistant_id);
CREATE INDEX runs_by_turn ON runs (thread_id, turn) WHERE turn IS NOT NULL;
-- Whose turn it is, in the whole server and within a thread; and when the next one is due.
CREATE INDEX runs_pending ON runs (created_at, position, not_before) WHERE status = 'pending';
CREATE INDEX runs_pending_by_thread ON runs (thread_id, created_at) WHERE status = 'pending';
-- One that has begun and waits for its next attempt: nobody gets before it, whatever the clock said.
CREATE INDEX runs_begun ON runs (thread_id) WHERE status = 'pending' AND attempt > 0;
CREATE INDEX runs_due ON runs (not_before) WHERE status = 'pending';
CREATE UNIQUE INDEX runs_running ON runs (thread_id) WHERE status = 'running';
CREATE INDEX runs_ended ON runs (ended_at, run_id) WHERE ended_at IS NOT NULL;

CREATE TABLE deliveries (
  delivery_id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  url ANY NOT NULL,
  host TEXT NOT NULL,
  status TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  -- How many there were when it was owed, or asked for again.
  first INTEGER NOT NULL,
  version INTEGER NOT NULL,
  next_at INTEGER,
  last_status INTEGER,
  last_error ANY,
  -- What it reports is deleted: sent all the same, seen by nobody.
  orphan INTEGER NOT NULL,
  -- Its bytes are kept.
  body INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_due ON deliveries (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX deliveries_by_host ON deliveries (host, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX deliveries_by_thread ON deliveries (thread_id);
CREATE INDEX deliveries_by_run ON deliveries (run_id);
CREATE INDEX deliveries_by_age ON deliveries (created_at, delivery_id);
CREATE INDEX deliveries_kept ON deliveries (updated_at) WHERE status = 'delivered' AND body = 1;

CREATE TABLE assistants (
  assistant_id TEXT PRIMARY KEY,
  graph_id TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  config ANY NOT NULL,
  context ANY NOT NULL,
  metadata TEXT NOT NULL,
  version INTEGER NOT NULL,
  system INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE assistant_versions (
  version_id TEXT PRIMARY KEY,
  assistant_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  graph_id TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  config ANY NOT NULL,
  context ANY NOT NULL,
  metadata TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX assistant_versions_in_order ON assistant_versions (assistant_id, version);

-- Values are payloads: see item/events.ts.
CREATE TABLE items (
  item_id TEXT PRIMARY KEY,
  namespace TEXT NOT NULL,
  key TEXT NOT NULL,
  path TEXT NOT NULL,
  reversed TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  ttl REAL,
  expires_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX items_by_path ON items (path, item_id, expires_at);
CREATE INDEX items_by_reversed ON items (reversed, path);
CREATE INDEX items_by_update ON items (updated_at, item_id, path, expires_at);
CREATE INDEX items_expiring ON items (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE crons (
  cron_id TEXT PRIMARY KEY,
  assistant_id TEXT NOT NULL,
  thread_id TEXT,
  schedule TEXT NOT NULL,
  timezone TEXT,
  end_time INTEGER,
  enabled INTEGER NOT NULL,
  on_run_completed TEXT,
  user_id TEXT,
  payload ANY NOT NULL,
  metadata TEXT NOT NULL,
  -- The slot that is next, also when it is past already.
  next_at INTEGER,
  -- Why its last slot started no run, a JSON object.
  refused ANY,
  -- Of its stream.
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX crons_due ON crons (next_at) WHERE enabled = 1;
CREATE INDEX crons_by_thread ON crons (thread_id) WHERE thread_id IS NOT NULL;
CREATE INDEX crons_by_assistant ON crons (assistant_id);
`;

/** The tables of frames: frame-store.ts writes and reads them. */
import { CONTENT } from './content-columns.ts';
import { UNTRACKED_VALUES } from './untracked-values.ts';

/** Rows are too long for a table without row ids. */
export const FRAME_STATES = `
CREATE TABLE frame_states (
  id INTEGER PRIMARY KEY,
  thread_id TEXT NOT NULL,
  series TEXT NOT NULL,
  base INTEGER,
  anchor INTEGER NOT NULL,
  head INTEGER NOT NULL,
  start INTEGER NOT NULL,
  kept INTEGER NOT NULL,
  ${CONTENT}
) STRICT;
CREATE INDEX frame_states_by_series ON frame_states (thread_id, series);
CREATE INDEX frame_states_by_base ON frame_states (base) WHERE base IS NOT NULL;
`;

const TAIL = `
CREATE TABLE frame_tail (
  seq INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL,
  id INTEGER NOT NULL,
  event TEXT NOT NULL,
  ${CONTENT},
  at INTEGER NOT NULL
) STRICT;
-- The runs that have frames.
CREATE TABLE frame_runs (
  thread_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  PRIMARY KEY (thread_id, run_id)
) STRICT, WITHOUT ROWID;
${UNTRACKED_VALUES}`;

/** For whoever looks at a few runs of a file at rest; a run that is open is sought through the whole tail. */
const VIEW = `
CREATE VIEW frames AS
  SELECT run_id, id, event, data, at, state FROM frame_rows
  UNION ALL
  SELECT run_id, id, event, data, at, NULL FROM frame_tail AS newer WHERE NOT EXISTS (
    SELECT 1 FROM frame_rows AS moved WHERE moved.run_id = newer.run_id AND moved.id = newer.id);
`;

export const FRAMES = `
CREATE TABLE frame_rows (
  run_id TEXT NOT NULL,
  id INTEGER NOT NULL,
  event TEXT NOT NULL,
  ${CONTENT},
  at INTEGER NOT NULL,
  -- The row of frame_states that has its text, if it is not here.
  state INTEGER,
  PRIMARY KEY (run_id, id)
) STRICT, WITHOUT ROWID;
${TAIL}
${VIEW}
`;

/**
 * How threads are found by what their metadata says: on SQLite a table beside `threads` that triggers keep, in the same
 * transaction. P1 P2 hold as for all rows: what is here is a function of the row writes alone. A row here moves when
 * metadata does, and never with a status, but for the thread of a stateless run, which is seen while that run is open.
 */

import type { PairsIndex } from '../projection.ts';

/** As queries say it, word for word: an index on some of the rows is used only by who asks for the same ones. */
export const VISIBLE = "(temporary = 0 OR status = 'busy')";

const seen = (row: 'OLD' | 'NEW'): string => `(${row}.temporary = 0 OR ${row}.status = 'busy')`;
const pairsOf = (row: 'OLD' | 'NEW'): string =>
  `SELECT value FROM json_each(${row}.pairs) WHERE ${seen(row)}`;

const DDL = `
CREATE TABLE thread_pairs (
  pair TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  PRIMARY KEY (pair, thread_id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER threads_added AFTER INSERT ON threads BEGIN
  INSERT INTO thread_pairs SELECT value, NEW.thread_id FROM (${pairsOf('NEW')});
END;
CREATE TRIGGER threads_dropped AFTER DELETE ON threads BEGIN
  DELETE FROM thread_pairs WHERE thread_id = OLD.thread_id AND pair IN (${pairsOf('OLD')});
END;
CREATE TRIGGER threads_described AFTER UPDATE OF pairs, status, temporary ON threads
  WHEN OLD.pairs <> NEW.pairs OR ${seen('OLD')} <> ${seen('NEW')} BEGIN
  DELETE FROM thread_pairs WHERE thread_id = OLD.thread_id AND pair IN (${pairsOf('OLD')} EXCEPT ${pairsOf('NEW')});
  INSERT INTO thread_pairs SELECT value, NEW.thread_id FROM (${pairsOf('NEW')} EXCEPT ${pairsOf('OLD')});
END;
`;

export const PAIRS_INDEX: PairsIndex = {
  ddl: DDL,
  // `ORDER BY`, because rows that come in order of their keys are only appended.
  fill: {
    thread_pairs: `SELECT value, thread_id FROM threads, json_each(threads.pairs) WHERE ${VISIBLE} ORDER BY 1, 2`,
  },
};

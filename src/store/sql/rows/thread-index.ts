/**
 * How threads are found among a million: tables that triggers keep beside `threads`, in the same transaction. A
 * trigger sees what a projection cannot, the row as it was. P1 P2 hold as for all rows: what is here is a function of
 * the row writes alone.
 *
 *   thread_pairs     (pair, status, updated_at, seq)  threads by what their metadata says, by change; one entry for
 *                                                     each pair of a thread, moved with each change of the thread
 *   thread_origins   (pair, created_at, seq)          the same by creation; moved only when metadata changes
 *   thread_counts    entry, n                         how many threads have a status, or a pair
 *
 * Only threads that can be seen are in them. In each order the last key is `seq`, so it is total.
 */

/** As queries say it, word for word: an index on some of the rows is used only by who asks for the same ones. */
export const VISIBLE = "(temporary = 0 OR status = 'busy')";

export const INDEX_TABLES = ['thread_pairs', 'thread_origins', 'thread_counts'] as const;

const seen = (row: 'OLD' | 'NEW'): string => `(${row}.temporary = 0 OR ${row}.status = 'busy')`;
const pairsOf = (row: 'OLD' | 'NEW'): string => `(SELECT value FROM json_each(${row}.pairs))`;

const countUp = (what: string): string =>
  `INSERT INTO thread_counts (entry, n) ${what} ON CONFLICT (entry) DO UPDATE SET n = n + 1;`;

/** `when`: a condition on OLD and NEW that a statement inside a trigger repeats. */
const enter = (when: string): string => `
  INSERT INTO thread_pairs (pair, status, updated_at, seq, created_at)
    SELECT value, NEW.status, NEW.updated_at, NEW.seq, NEW.created_at FROM json_each(NEW.pairs) WHERE ${when};
  INSERT INTO thread_origins (pair, created_at, seq)
    SELECT value, NEW.created_at, NEW.seq FROM json_each(NEW.pairs) WHERE ${when};
  ${countUp(`SELECT value, 1 FROM json_each(NEW.pairs) WHERE ${when}`)}
  ${countUp(`SELECT NEW.status, 1 WHERE ${when}`)}`;

const leave = (when: string): string => `
  DELETE FROM thread_pairs WHERE pair IN ${pairsOf('OLD')} AND status = OLD.status
    AND updated_at = OLD.updated_at AND seq = OLD.seq AND ${when};
  DELETE FROM thread_origins WHERE pair IN ${pairsOf('OLD')} AND created_at = OLD.created_at AND seq = OLD.seq
    AND ${when};
  UPDATE thread_counts SET n = n - 1 WHERE (entry = OLD.status OR entry IN ${pairsOf('OLD')}) AND ${when};`;

const stays = `${seen('OLD')} AND ${seen('NEW')} AND OLD.pairs = NEW.pairs`;

export const INDEX_DDL = `
CREATE INDEX threads_by_status ON threads (status, updated_at, created_at) WHERE ${VISIBLE};
CREATE INDEX threads_by_creation ON threads (created_at) WHERE ${VISIBLE};

CREATE TABLE thread_pairs (
  pair TEXT NOT NULL,
  status TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  -- Not part of the order: spares a look at the thread where few are to be ordered by it.
  created_at INTEGER NOT NULL,
  PRIMARY KEY (pair, status, updated_at, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE thread_origins (
  pair TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (pair, created_at, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE thread_counts (entry TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TRIGGER threads_added AFTER INSERT ON threads WHEN ${seen('NEW')} BEGIN ${enter('true')} END;
CREATE TRIGGER threads_dropped AFTER DELETE ON threads WHEN ${seen('OLD')} BEGIN ${leave('true')} END;
CREATE TRIGGER threads_described AFTER UPDATE ON threads WHEN NOT (${stays}) BEGIN
  ${leave(seen('OLD'))}
  ${enter(seen('NEW'))}
END;
-- The common case, several times in every run.
CREATE TRIGGER threads_moved AFTER UPDATE OF updated_at, status ON threads
  WHEN ${stays} AND (OLD.updated_at <> NEW.updated_at OR OLD.status <> NEW.status) BEGIN
  UPDATE thread_pairs SET status = NEW.status, updated_at = NEW.updated_at
    WHERE pair IN ${pairsOf('NEW')} AND status = OLD.status AND updated_at = OLD.updated_at AND seq = NEW.seq;
END;
CREATE TRIGGER threads_turned AFTER UPDATE OF status ON threads
  WHEN ${stays} AND OLD.status <> NEW.status BEGIN
  UPDATE thread_counts SET n = n - 1 WHERE entry = OLD.status;
  ${countUp('SELECT NEW.status, 1 WHERE true')}
END;
-- What no thread says any more is not kept, or erased metadata would live on here.
CREATE TRIGGER thread_counts_emptied AFTER UPDATE OF n ON thread_counts WHEN NEW.n = 0 BEGIN
  DELETE FROM thread_counts WHERE entry = NEW.entry;
END;
`;

/**
 * The same from nothing, for all threads at once: what the triggers would have left after very many rows, for a
 * fraction of the work. `ORDER BY`, because rows that come in order of their keys are only appended. Lists of pairs are
 * read once: from then on `thread_pairs` has them, in their order.
 */
export const INDEX_FILL = `
INSERT INTO thread_pairs (pair, status, updated_at, seq, created_at)
  SELECT value, status, updated_at, seq, created_at FROM threads, json_each(threads.pairs) WHERE ${VISIBLE}
  ORDER BY 1, 2, 3, 4;
INSERT INTO thread_origins (pair, created_at, seq) SELECT pair, created_at, seq FROM thread_pairs ORDER BY 1, 2, 3;
INSERT INTO thread_counts (entry, n)
  SELECT status, count(*) FROM threads WHERE ${VISIBLE} GROUP BY status
  UNION ALL SELECT pair, count(*) FROM thread_pairs GROUP BY pair;
`;

/** The tables of checkpoints as they were up to version 7 of the log's file, with every id in every row. */
import type { Connection } from '../../src/log/sqlite/connection.ts';
import { unpackCheckpoint, type PackedCheckpoint } from '../../src/log/sqlite/checkpoint-text.ts';

interface Row extends PackedCheckpoint {
  readonly ns: string;
  readonly at: number;
  readonly seq: number;
}

/** What is in the file stays in it, in that form. Values and writes must not lean on each other. */
export function lengthenCheckpoints(db: Connection): void {
  const checkpoints = (db.prepare('SELECT * FROM checkpoints').all() as Row[]).map((row) => ({
    ...row,
    ...unpackCheckpoint(row),
  }));
  db.exec(`
    CREATE TABLE long (thread_id TEXT NOT NULL, ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL, parent_id TEXT,
      run_id TEXT NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL, metadata TEXT NOT NULL,
      channel_versions TEXT NOT NULL, value_channels TEXT NOT NULL, seq INTEGER NOT NULL,
      PRIMARY KEY (thread_id, ns, checkpoint_id)) STRICT;
    CREATE INDEX checkpoints_by_seq ON long (thread_id, seq);
    CREATE INDEX checkpoints_by_ns ON long (thread_id, ns, seq);
    CREATE TABLE long_blobs (thread_id TEXT NOT NULL, ns TEXT NOT NULL, channel TEXT NOT NULL, version TEXT NOT NULL,
      run_id TEXT NOT NULL, base TEXT, kept INTEGER NOT NULL, depth INTEGER NOT NULL, anchor TEXT NOT NULL,
      data TEXT NOT NULL, PRIMARY KEY (thread_id, ns, channel, version)) STRICT;
    CREATE TABLE long_writes (thread_id TEXT NOT NULL, ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL,
      task_id TEXT NOT NULL, idx INTEGER NOT NULL, run_id TEXT NOT NULL, channel TEXT NOT NULL, data TEXT NOT NULL,
      PRIMARY KEY (thread_id, ns, checkpoint_id, task_id, idx)) STRICT;
    INSERT INTO long_blobs SELECT thread_id, ns, channel, version, run_id, base, kept, 0, anchor, data FROM channel_blobs;
    INSERT INTO long_writes SELECT thread_id, ns, checkpoint_id, task_id, idx, run_id, channel, data
      FROM checkpoint_writes;`);
  const insert = db.prepare(
    `INSERT INTO long VALUES (@thread_id, @ns, @checkpoint_id, @parent_id, @run_id, @at, @body, @metadata,
       @versions, @valueChannels, @seq)`,
  );
  for (const row of checkpoints) insert.run(row);
  db.exec(`
    DROP VIEW checkpoints; DROP VIEW channel_blobs; DROP VIEW checkpoint_writes;
    DROP TABLE checkpoint_rows; DROP TABLE blob_rows; DROP TABLE write_rows;
    DROP TABLE checkpoint_names; DROP TABLE checkpoint_threads;
    ALTER TABLE long RENAME TO checkpoints;
    ALTER TABLE long_blobs RENAME TO channel_blobs;
    ALTER TABLE long_writes RENAME TO checkpoint_writes;`);
}

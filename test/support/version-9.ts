/** Makes tables of frames what they were in version 9. */
import type { Connection } from '../../src/log/sqlite/connection.ts';

export function joinFrames(db: Connection): void {
  db.exec(`
    CREATE TABLE old_frames (
      run_id TEXT NOT NULL,
      id INTEGER NOT NULL,
      thread_id TEXT NOT NULL,
      event TEXT NOT NULL,
      data TEXT NOT NULL,
      at INTEGER NOT NULL DEFAULT 0,
      state INTEGER,
      PRIMARY KEY (run_id, id)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO old_frames SELECT frames.run_id, id, thread_id, event, data, at, state
      FROM frames JOIN frame_runs USING (run_id);
    DROP VIEW frames;
    DROP TABLE frame_rows;
    DROP TABLE frame_tail;
    DROP TABLE frame_runs;
    ALTER TABLE old_frames RENAME TO frames;
    CREATE INDEX frames_by_thread ON frames (thread_id);
  `);
}

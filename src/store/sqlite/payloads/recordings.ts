/** Recordings of runs: what their models and tools answered, one compressed part a row, in order. */
import type { PayloadWrite } from '../../port/payloads.ts';
import { CONTENT } from './content-columns.ts';
import type { Prepare } from '../statements.ts';

/** With row ids, because rows are long. */
export const RECORDINGS = `
CREATE TABLE recordings (
  seq INTEGER PRIMARY KEY,
  thread_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  ${CONTENT}
) STRICT;
CREATE INDEX recordings_by_run ON recordings (run_id);
CREATE INDEX recordings_by_thread ON recordings (thread_id);
`;

export const writeRecording = (prepare: Prepare, write: PayloadWrite & { kind: 'recording' }): void =>
  void prepare(
    'INSERT INTO recordings (thread_id, run_id, data, crc) VALUES (@threadId, @runId, @data, @crc)',
  ).run({ ...write, ...prepare.coder.columns(write.data) });

const NO_LIMIT = -1;

export const readRecording = (prepare: Prepare, runId: string, limit = NO_LIMIT): Uint8Array[] =>
  (
    prepare('SELECT data FROM recordings WHERE run_id = ? ORDER BY seq LIMIT ?')
      .pluck()
      .all(runId, limit) as Uint8Array[]
  ).map((part) => prepare.coder.openBytes(part));

export function forgetRecordings(prepare: Prepare, runIds: readonly string[]): void {
  for (const runId of runIds) prepare('DELETE FROM recordings WHERE run_id = ?').run(runId);
}

export const forgetThreadRecordings = (prepare: Prepare, threadId: string): void =>
  void prepare('DELETE FROM recordings WHERE thread_id = ?').run(threadId);

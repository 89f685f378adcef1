/** X7 What open runs were answered, for their next attempts: one compressed part a row, in order. */
import type { PayloadWrite } from '../../port/payloads.ts';
import type { Prepare } from '../statements.ts';
import { CONTENT } from './tables.ts';

/** With row ids, because rows are long. */
export const RESUME_CALLS = `
CREATE TABLE resume_calls (
  seq INTEGER PRIMARY KEY,
  thread_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  base TEXT,
  ${CONTENT}
) STRICT;
CREATE INDEX resume_calls_by_run ON resume_calls (run_id);
CREATE INDEX resume_calls_by_thread ON resume_calls (thread_id);
`;

export function writeResume(
  prepare: Prepare,
  write: PayloadWrite & { kind: 'resume' | 'erase-resume' },
): void {
  const { base = null } = write;
  if (write.kind === 'resume')
    prepare(
      'INSERT INTO resume_calls (thread_id, run_id, base, data, crc) VALUES (@threadId, @runId, @base, @data, @crc)',
    ).run({ ...write, base, ...prepare.coder.columns(write.data) });
  else if (base === null) prepare('DELETE FROM resume_calls WHERE run_id = @runId').run(write);
  else prepare('DELETE FROM resume_calls WHERE run_id = @runId AND base <> @base').run({ ...write, base });
}

export const readResume = (prepare: Prepare, runId: string): Uint8Array[] =>
  (
    prepare('SELECT data FROM resume_calls WHERE run_id = ? ORDER BY seq').pluck().all(runId) as Uint8Array[]
  ).map((part) => prepare.coder.openBytes(part));

/** X7 What open runs were answered, for their next attempts: one compressed part a row, in order. */
import type { PayloadWrite } from '../../port/payloads.ts';
import { rows, write as step, type Step, type Work, type WorkContext } from '../work.ts';

export function writeResume(
  { coder }: WorkContext,
  write: PayloadWrite & { kind: 'resume' | 'erase-resume' },
): Step {
  const { runId, base = null } = write;
  const about = [`resume_calls ${runId}`];
  if (write.kind === 'resume')
    return step(
      'INSERT INTO resume_calls (thread_id, run_id, base, data, crc) VALUES (@threadId, @runId, @base, @data, @crc)',
      { threadId: write.threadId, runId, base, ...coder.columns(write.data) },
      about,
    );
  return base === null
    ? step('DELETE FROM resume_calls WHERE run_id = ?', [runId], about)
    : step('DELETE FROM resume_calls WHERE run_id = ? AND base <> ?', [runId, base], about);
}

export function* readResume({ coder }: WorkContext, runId: string): Work<Uint8Array[]> {
  const parts: { data: Uint8Array }[] = yield rows(
    'SELECT data FROM resume_calls WHERE run_id = ? ORDER BY seq',
    [runId],
  );
  return parts.map(({ data }) => coder.openBytes(data));
}

/** The values that a run showed at its end and that no checkpoint holds. */
import type { Stored } from '../../sql/coder.ts';
import type { PayloadWrite } from '../../port/payloads.ts';
import { CONTENT } from './content-columns.ts';
import type { Prepare } from '../statements.ts';

export const UNTRACKED_VALUES = `
CREATE TABLE untracked_values (run_id TEXT PRIMARY KEY, thread_id TEXT NOT NULL, ${CONTENT}) STRICT;
CREATE INDEX untracked_values_by_thread ON untracked_values (thread_id);
`;

export const writeUntracked = (prepare: Prepare, write: PayloadWrite & { kind: 'untracked-values' }): void =>
  void prepare('INSERT OR REPLACE INTO untracked_values VALUES (@runId, @threadId, @data, @crc)').run({
    ...write,
    ...prepare.coder.columns(write.data),
  });

export function readUntracked(prepare: Prepare, runId: string): string | undefined {
  const sql = 'SELECT data FROM untracked_values WHERE run_id = ?';
  const data = prepare(sql).pluck().get(runId) as Stored | undefined;
  return data && prepare.coder.open(data);
}

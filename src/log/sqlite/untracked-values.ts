/** The values that a run showed at its end and that no checkpoint holds. */
import type { PayloadWrite } from '../payloads.ts';
import type { Prepare } from './statements.ts';

export const UNTRACKED_VALUES = `
CREATE TABLE untracked_values (run_id TEXT PRIMARY KEY, thread_id TEXT NOT NULL, data TEXT NOT NULL) STRICT;
CREATE INDEX untracked_values_by_thread ON untracked_values (thread_id);
`;

export const writeUntracked = (prepare: Prepare, write: PayloadWrite & { kind: 'untracked-values' }): void =>
  void prepare('INSERT OR REPLACE INTO untracked_values VALUES (@runId, @threadId, @data)').run(write);

export const readUntracked = (prepare: Prepare, runId: string): string | undefined =>
  prepare('SELECT data FROM untracked_values WHERE run_id = ?').pluck().get(runId) as string | undefined;

/** The config of a thread's last run, as far as its thread shows it. */
import { fromStored } from '../../../kernel/stored-json.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Stored } from '../../sql/coder.ts';
import type { Prepare } from '../statements.ts';

interface ConfigRow {
  readonly run_id: string;
  readonly config: Stored | null;
}

/** Reads the config of the run that started last, or of the first created one while none has started. */
export function readLastConfig(prepare: Prepare, threadId: string): JsonObject | undefined {
  const row = (prepare(
    `SELECT run_id, config FROM runs INDEXED BY runs_by_turn
     WHERE thread_id = ? AND turn IS NOT NULL ORDER BY turn DESC LIMIT 1`,
  ).get(threadId) ??
    prepare(
      `SELECT run_id, config FROM runs INDEXED BY runs_by_thread
       WHERE thread_id = ? ORDER BY created_at, created LIMIT 1`,
    ).get(threadId)) as ConfigRow | undefined;
  if (row === undefined) return undefined;
  const config = prepare.coder.open(row.config);
  return config === null ? {} : (fromStored(config, 'config of run', row.run_id) as JsonObject);
}

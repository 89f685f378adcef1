/** The config of a thread's last run, as far as its thread shows it. */
import { fromStored } from '../../../kernel/stored-json.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Stored } from '../coder.ts';
import { rows, type Work, type WorkContext } from '../work.ts';

interface ConfigRow {
  readonly run_id: string;
  readonly config: Stored | null;
}

/** Reads the config of the run that started last, or of the first created one while none has started. */
export function* readLastConfig({ coder }: WorkContext, threadId: string): Work<JsonObject | undefined> {
  let [row]: ConfigRow[] = yield rows(
    'SELECT run_id, config FROM runs WHERE thread_id = ? AND turn IS NOT NULL ORDER BY turn DESC LIMIT 1',
    [threadId],
  );
  if (row === undefined)
    [row] = (yield rows(
      'SELECT run_id, config FROM runs WHERE thread_id = ? ORDER BY created_at, created LIMIT 1',
      [threadId],
    )) as ConfigRow[];
  if (row === undefined) return undefined;
  const config = coder.open(row.config);
  return config === null ? {} : (fromStored(config, 'config of run', row.run_id) as JsonObject);
}

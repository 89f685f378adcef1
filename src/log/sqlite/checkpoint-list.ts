/** Which checkpoints of a thread a filter means. */
import type { CheckpointFilter } from '../payloads.ts';
import type { Row, RowReader } from '../rows.ts';
import { findName, findThread } from './checkpoint-tables.ts';
import type { Prepare } from './statements.ts';

export interface CheckpointKey extends Row {
  readonly ns: string;
  readonly checkpoint_id: string;
}

/** Newest first. */
export async function findCheckpoints(
  prepare: Prepare,
  search: RowReader['search'],
  threadId: string,
  filter: CheckpointFilter,
): Promise<CheckpointKey[]> {
  const where = ['thread_id = @threadId'];
  const params: Record<string, string | number> = { threadId, limit: filter.limit ?? -1 };
  if (filter.ns !== undefined) {
    where.push('ns = @ns');
    params['ns'] = filter.ns;
  }
  if (filter.before !== undefined) {
    where.push(
      // Graphs may give the same id in several namespaces.
      `seq < (SELECT min(id) FROM checkpoint_rows WHERE checkpoint = @before
         ${filter.ns === undefined ? '' : 'AND ns = @ns'})`,
    );
    const thread = findThread(prepare, threadId);
    params['before'] = (thread === undefined ? undefined : findName(prepare, thread, filter.before)) ?? -1;
  }
  if (filter.metadata !== undefined) {
    where.push(
      'json_contains(checkpoint_metadata(thread_id, checkpoint_id, parent_id, run_id, packed, base), @metadata)',
    );
    params['metadata'] = JSON.stringify(filter.metadata);
  }
  const sql = `SELECT ns, checkpoint_id FROM checkpoints WHERE ${where.join(' AND ')} ORDER BY seq DESC LIMIT @limit`;
  // Without metadata the order's index is the answer; with it every checkpoint of the thread may be a candidate.
  return filter.metadata === undefined ? (prepare(sql).all(params) as CheckpointKey[]) : search(sql, params);
}

/** What is stored of a thread's checkpoints, seen without reading the values. */
import type { JsonObject } from '../../kernel/json.ts';
import type { CheckpointOutline, StorageSum, StorageUse } from '../payloads.ts';
import type { Prepare } from './statements.ts';

interface OutlineRow {
  ns: string;
  checkpointId: string;
  parentId: string | null;
  runId: string;
  body: string;
  metadata: string;
  written: string;
}

export function readOutline(prepare: Prepare, threadId: string): CheckpointOutline[] {
  const rows = prepare(
    `SELECT ns, checkpoint_id AS checkpointId, parent_id AS parentId, run_id AS runId, body, metadata,
       (SELECT json_group_array(DISTINCT channel) FROM checkpoint_writes AS w WHERE w.thread_id = c.thread_id
         AND w.ns = c.ns AND w.checkpoint_id = c.checkpoint_id) AS written
     FROM checkpoints AS c WHERE thread_id = ? ORDER BY seq DESC`,
  ).all(threadId) as OutlineRow[];
  return rows.map(({ metadata, written, ...row }) => ({
    ...row,
    metadata: JSON.parse(metadata) as JsonObject,
    written: JSON.parse(written) as string[],
  }));
}

export function readStorage(prepare: Prepare, threadId: string): StorageUse {
  const channels = prepare(
    `SELECT channel, count(*) AS count, coalesce(sum(octet_length(data)), 0) AS bytes
     FROM channel_blobs WHERE thread_id = ? GROUP BY channel ORDER BY channel`,
  ).all(threadId) as (StorageSum & { channel: string })[];
  return {
    checkpoints: prepare(
      `SELECT count(*) AS count,
         coalesce(sum(octet_length(body) + octet_length(metadata) + octet_length(channel_versions)), 0) AS bytes
       FROM checkpoints WHERE thread_id = ?`,
    ).get(threadId) as StorageSum,
    channels,
    writes: prepare(
      `SELECT count(*) AS count, coalesce(sum(octet_length(data)), 0) AS bytes
       FROM checkpoint_writes WHERE thread_id = ?`,
    ).get(threadId) as StorageSum,
  };
}

/** What is stored of a thread's checkpoints, seen without reading the values. */
import type { JsonObject } from '../../../kernel/json.ts';
import type { CheckpointOutline, StorageSum, StorageUse } from '../../port/payloads.ts';
import { openCheckpoints, type PackedCheckpoint } from './checkpoint-text.ts';
import type { Prepare } from '../statements.ts';

interface OutlineRow extends PackedCheckpoint {
  readonly ns: string;
  readonly written: string;
}

export function readOutline(prepare: Prepare, threadId: string): CheckpointOutline[] {
  const rows = prepare(
    `SELECT *,
       (SELECT json_group_array(DISTINCT channel) FROM write_rows AS w
         WHERE w.checkpoint = c.checkpoint AND w.ns = c.ns) AS written
     FROM checkpoints AS c WHERE thread_id = ? ORDER BY seq DESC`,
  ).all(threadId) as OutlineRow[];
  const unpack = openCheckpoints(prepare.coder);
  return rows.map((row) => {
    const { metadata, body } = unpack(row);
    return {
      ns: row.ns,
      checkpointId: row.checkpoint_id,
      parentId: row.parent_id,
      runId: row.run_id,
      body,
      metadata: JSON.parse(metadata) as JsonObject,
      written: JSON.parse(row.written) as string[],
    };
  });
}

export function readStorage(prepare: Prepare, threadId: string): StorageUse {
  const channels = prepare(
    `SELECT channel, count(*) AS count, coalesce(sum(octet_length(data)), 0) AS bytes
     FROM channel_blobs WHERE thread_id = ? GROUP BY channel ORDER BY channel`,
  ).all(threadId) as (StorageSum & { channel: string })[];
  return {
    checkpoints: prepare(
      `SELECT count(*) AS count,
         coalesce(sum(octet_length(packed)), 0) AS bytes
       FROM checkpoints WHERE thread_id = ?`,
    ).get(threadId) as StorageSum,
    channels,
    writes: prepare(
      `SELECT count(*) AS count, coalesce(sum(octet_length(data)), 0) AS bytes
       FROM checkpoint_writes WHERE thread_id = ?`,
    ).get(threadId) as StorageSum,
  };
}

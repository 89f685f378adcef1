/**
 * Checks payloads against events and rows.
 *
 * S1 A run's frames have dense ids from 0 and texts. A4 Only open runs and existing crons have secrets. X7 Only open
 * runs keep what they were answered. X5 The queue has a row for each thread with open runs, of which none is due while
 * one executes. P3 Every checkpoint that an event names exists, unless its run was rolled back or deleted
 * or the thread was pruned; so does every delta base. L3 Every item has a value, and no value lacks an item. W1 Every
 * owed delivery has a body; deliveries that are gone or erased have none.
 */
import type { Finding } from '../../port/past.ts';
import type { RowReader } from '../row-store.ts';
import { opened } from '../statements.ts';

const DATA = opened('data');

interface PayloadCheck {
  readonly sql: string;
  readonly problem: (subject: string) => string;
}

const CHECKS: readonly PayloadCheck[] = [
  {
    sql: `SELECT 'thread ' || thread_id || ': its head checkpoint ' || head AS subject,
            (SELECT position FROM events WHERE stream = 'thread-' || thread_id AND type = 'CheckpointSaved'
               AND ${DATA} ->> 'checkpointId' = head ORDER BY version DESC LIMIT 1) AS position
          FROM threads WHERE head IS NOT NULL AND NOT EXISTS
            (SELECT 1 FROM checkpoints AS saved WHERE saved.thread_id = threads.thread_id AND ns = ''
               AND checkpoint_name IN (head, unhex(replace(head, '-', ''))))
          ORDER BY thread_id`,
    problem: (head) => `${head} is missing`,
  },
  {
    sql: `SELECT run_id AS subject, NULL AS position FROM frames
          GROUP BY run_id HAVING min(id) <> 0 OR count(*) <> max(id) + 1`,
    problem: (run) => `run ${run}: its frames have a gap`,
  },
  {
    sql: `SELECT run_id AS subject, NULL AS position FROM frames
          WHERE state IS NOT NULL AND state NOT IN (SELECT id FROM frame_states)`,
    problem: (run) => `run ${run}: a frame's text is missing`,
  },
  {
    sql: `SELECT id AS subject, NULL AS position FROM frame_states
          WHERE base IS NOT NULL AND base NOT IN (SELECT id FROM frame_states)`,
    problem: (id) => `frame state ${id} has a delta base that is gone`,
  },
  {
    sql: `SELECT json_extract(${DATA}, '$.checkpointId') AS subject, position FROM events
          WHERE type = 'CheckpointSaved'
            AND EXISTS (SELECT 1 FROM runs WHERE run_id = json_extract(${DATA}, '$.runId'))
            AND NOT EXISTS (SELECT 1 FROM checkpoints
              WHERE thread_id = json_extract(${DATA}, '$.threadId') AND ns = json_extract(${DATA}, '$.ns')
                AND checkpoint_name IN (json_extract(${DATA}, '$.checkpointId'), unhex(replace(json_extract(${DATA}, '$.checkpointId'), '-', ''))))
            AND NOT EXISTS (SELECT 1 FROM events AS later WHERE later.stream = events.stream
              AND later.version > events.version AND later.type = 'ThreadPruned')
          ORDER BY position`,
    problem: (checkpoint) => `checkpoint ${checkpoint} is missing`,
  },
  {
    sql: `SELECT json_extract(saved.value, '$.checkpointId') AS subject, position
          FROM events, json_each(${DATA}, '$.checkpoints') AS saved
          WHERE events.type = 'StateUpdated'
            AND NOT EXISTS (SELECT 1 FROM checkpoints
              WHERE thread_id = json_extract(${DATA}, '$.threadId') AND ns = json_extract(saved.value, '$.ns')
                AND checkpoint_name IN (json_extract(saved.value, '$.checkpointId'), unhex(replace(json_extract(saved.value, '$.checkpointId'), '-', ''))))
            AND NOT EXISTS (SELECT 1 FROM events AS later WHERE later.stream = events.stream
              AND later.version > events.version AND later.type = 'ThreadPruned')
          ORDER BY position`,
    problem: (checkpoint) => `checkpoint ${checkpoint} of an update is missing`,
  },
  {
    sql: `SELECT kept.value ->> 'checkpointId' AS subject, position FROM events, json_each(${DATA}, '$.kept') AS kept
          WHERE events.type = 'ThreadPruned'
            AND NOT EXISTS (SELECT 1 FROM checkpoints WHERE thread_id = ${DATA} ->> 'threadId'
              AND ns = kept.value ->> 'ns' AND checkpoint_name IN (kept.value ->> 'checkpointId',
                unhex(replace(kept.value ->> 'checkpointId', '-', ''))))
            AND NOT EXISTS (SELECT 1 FROM events AS later WHERE later.stream = events.stream
              AND later.version > events.version AND later.type IN ('ThreadPruned', 'RunDeleted'))
          ORDER BY position`,
    problem: (checkpoint) => `checkpoint ${checkpoint}, which a pruning left, is missing`,
  },
  {
    sql: `SELECT id AS subject, NULL AS position FROM checkpoint_rows
          WHERE base IS NOT NULL AND base NOT IN (SELECT id FROM checkpoint_rows WHERE base IS NULL)`,
    problem: (row) => `the text of checkpoint row ${row} has a delta base that is gone`,
  },
  {
    sql: `SELECT thread_id || ' ' || channel || ' ' || version AS subject, NULL AS position
          FROM channel_blobs AS delta WHERE base IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM channel_blobs AS below WHERE below.thread_id = delta.thread_id
              AND below.ns = delta.ns AND below.channel = delta.channel AND below.version = delta.base)`,
    problem: (value) => `value ${value} has a delta base that is gone`,
  },
  {
    sql: `SELECT thread_id || ' ' || checkpoint_id AS subject, NULL AS position FROM checkpoint_writes
          WHERE base IS NOT NULL AND base NOT IN (SELECT id FROM blob_rows)`,
    problem: (checkpoint) => `a write on checkpoint ${checkpoint} has a delta base that is gone`,
  },
  {
    sql: `SELECT id AS subject, NULL AS position FROM blob_rows
          WHERE rest IS NOT NULL AND rest NOT IN (SELECT id FROM blob_rows WHERE rest IS NULL)`,
    problem: (row) => `an input in row ${row} has a delta base that is gone`,
  },
  {
    sql: `SELECT thread_id AS subject, NULL AS position
          FROM (SELECT thread_id, max(status = 'running') AS busy FROM runs WHERE ended_at IS NULL GROUP BY thread_id)
            FULL JOIN (SELECT thread_id, due_at IS NULL AS holds FROM queue) USING (thread_id)
          WHERE busy IS NOT holds`,
    problem: (thread) => `thread ${thread}: its row in the queue does not fit its open runs`,
  },
  {
    sql: `SELECT stream AS subject, NULL AS position FROM snapshots
          WHERE NOT EXISTS (SELECT 1 FROM events WHERE events.stream = snapshots.stream)`,
    problem: (stream) => `${stream}: its snapshot outlived its events`,
  },
  {
    sql: `SELECT run_id AS subject, NULL AS position FROM secrets
          WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.run_id = secrets.run_id AND ended_at IS NULL)`,
    problem: (run) => `run ${run}: a secret outlived it`,
  },
  {
    sql: `SELECT run_id AS subject, NULL AS position FROM resume_calls
          WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.run_id = resume_calls.run_id AND ended_at IS NULL)`,
    problem: (run) => `run ${run}: what it was answered outlived it`,
  },
  {
    sql: `SELECT cron_id AS subject, NULL AS position FROM cron_secrets
          WHERE cron_id NOT IN (SELECT cron_id FROM crons)`,
    problem: (cron) => `cron ${cron}: a secret outlived it`,
  },
  {
    sql: `SELECT ${DATA} ->> 'runId' AS subject, position FROM events AS fired
          WHERE type = 'CronFired'
            AND NOT EXISTS (SELECT 1 FROM events WHERE type = 'RunCreated' AND command_id = fired.command_id
              AND stream = 'thread-' || (${opened('fired.data')} ->> 'threadId'))
            AND NOT EXISTS (SELECT 1 FROM events WHERE type = 'ThreadDeleted'
              AND stream = 'thread-' || (${opened('fired.data')} ->> 'threadId'))
          ORDER BY position`,
    problem: (run) => `run ${run}: its cron fired without it`,
  },
  {
    sql: `SELECT item_id AS subject, NULL AS position FROM items
          WHERE NOT EXISTS (SELECT 1 FROM item_values WHERE item_values.item_id = items.item_id)`,
    problem: (item) => `item ${item}: its value is missing`,
  },
  {
    sql: `SELECT item_id AS subject, NULL AS position
          FROM (SELECT item_id FROM item_values UNION ALL SELECT item_id FROM item_vectors)
          WHERE item_id NOT IN (SELECT item_id FROM items)`,
    problem: (item) => `item ${item}: its value outlived it`,
  },
  {
    sql: `SELECT delivery_id AS subject, NULL AS position FROM deliveries
          WHERE status = 'owed' AND delivery_id NOT IN (SELECT delivery_id FROM bodies)`,
    problem: (delivery) => `webhook ${delivery}: it is owed and its body is missing`,
  },
  {
    sql: `SELECT delivery_id AS subject, NULL AS position FROM bodies
          WHERE NOT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.delivery_id = bodies.delivery_id AND body = 1)`,
    problem: (delivery) => `webhook ${delivery}: its body outlived it`,
  },
];

export function findBadPayload(rows: RowReader): Finding | undefined {
  for (const { sql, problem } of CHECKS) {
    const found = rows.get<{ subject: string; position: number | null }>(`${sql} LIMIT 1`);
    if (found !== undefined)
      return { position: found.position ?? undefined, problem: problem(found.subject) };
  }
  return undefined;
}

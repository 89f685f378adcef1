/**
 * Checks payloads against events and rows.
 *
 * S1 A run's frames have dense ids from 0 and texts. A4 Only open runs and existing crons have secrets. X7 Only open
 * runs keep what they were answered. L3 No content of a run outlives it. X5 The queue has a row for each thread with open runs, of which none is due while
 * one executes. P3 Every checkpoint that an event names exists, unless its run was rolled back or deleted
 * or the thread was pruned; so does every delta base. L3 Every item has a value, and no value lacks an item. W1 Every
 * owed delivery has a body; deliveries that are gone or erased have none.
 */
import type { Finding } from '../../port/past.ts';
import { selectThreads } from '../../sql/views/any-thread.ts';
import type { RowReader } from '../row-reader.ts';
import { opened } from '../statements.ts';

const DATA = opened('data');
/** The same within a question about other rows. */
const EVENT = opened('events.data');

interface PayloadCheck {
  readonly sql: string;
  readonly problem: (subject: string) => string;
}

/** A checkpoint of a thread. All are SQL for text. */
const saved = (threadId: string, ns: string, checkpointId: string): string =>
  `SELECT 1 FROM texts AS c JOIN texts AS t ON t.id = c.thread AND t.thread = 0 AND t.kind = 't' AND t.ns = ''
     AND t.name = stored_id(${threadId})
   WHERE c.kind = 'c' AND c.ns = ${ns} AND c.name = stored_id(${checkpointId})`;

const CHECKS: readonly PayloadCheck[] = [
  {
    sql: `SELECT 'thread ' || thread_id || ': its head checkpoint ' || head AS subject,
            (SELECT position FROM events WHERE stream = 'thread-' || thread_id AND type = 'CheckpointSaved'
               AND ${DATA} ->> 'checkpointId' = head ORDER BY version DESC LIMIT 1) AS position
          FROM (${selectThreads('t.head IS NOT NULL')}) AS threads WHERE NOT EXISTS
            (${saved('threads.thread_id', "''", 'head')})
          ORDER BY thread_id`,
    problem: (head) => `${head} is missing`,
  },
  {
    sql: `SELECT shown_id(run) AS subject, NULL AS position FROM frames
          GROUP BY run HAVING min(first) <> 0 OR sum(last - first + 1) <> max(last) + 1`,
    problem: (run) => `run ${run}: its frames have a gap`,
  },
  {
    sql: `SELECT json_extract(${DATA}, '$.checkpointId') AS subject, position FROM events
          WHERE type = 'CheckpointSaved'
            AND EXISTS (SELECT 1 FROM runs WHERE run_id = json_extract(${DATA}, '$.runId'))
            AND NOT EXISTS (${saved(`${EVENT} ->> 'threadId'`, `${EVENT} ->> 'ns'`, `${EVENT} ->> 'checkpointId'`)})
            AND NOT EXISTS (SELECT 1 FROM events AS later WHERE later.stream = events.stream
              AND later.version > events.version AND later.type = 'ThreadPruned')
          ORDER BY position`,
    problem: (checkpoint) => `checkpoint ${checkpoint} is missing`,
  },
  {
    sql: `SELECT json_extract(saved.value, '$.checkpointId') AS subject, position
          FROM events, json_each(${DATA}, '$.checkpoints') AS saved
          WHERE events.type = 'StateUpdated'
            AND NOT EXISTS (${saved(`${EVENT} ->> 'threadId'`, "saved.value ->> 'ns'", "saved.value ->> 'checkpointId'")})
            AND NOT EXISTS (SELECT 1 FROM events AS later WHERE later.stream = events.stream
              AND later.version > events.version AND later.type = 'ThreadPruned')
          ORDER BY position`,
    problem: (checkpoint) => `checkpoint ${checkpoint} of an update is missing`,
  },
  {
    sql: `SELECT kept.value ->> 'checkpointId' AS subject, position FROM events, json_each(${DATA}, '$.kept') AS kept
          WHERE events.type = 'ThreadPruned'
            AND NOT EXISTS (${saved(`${EVENT} ->> 'threadId'`, "kept.value ->> 'ns'", "kept.value ->> 'checkpointId'")})
            AND NOT EXISTS (SELECT 1 FROM events AS later WHERE later.stream = events.stream
              AND later.version > events.version AND later.type IN ('ThreadPruned', 'RunDeleted'))
          ORDER BY position`,
    problem: (checkpoint) => `checkpoint ${checkpoint}, which a pruning left, is missing`,
  },
  ...(['texts', 'frames'] as const).map((table) => ({
    sql: `SELECT ${table}.id AS subject, NULL AS position FROM ${table}, json_each(${table}.bases) AS base
          WHERE base.value NOT IN (SELECT id FROM ${table})`,
    problem: (row: string) => `the text in row ${row} of ${table} has a delta base that is gone`,
  })),
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
    sql: `SELECT run_id AS subject, NULL AS position FROM run_contents
          WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.run_id = run_contents.run_id)
            AND NOT EXISTS (SELECT 1 FROM imports WHERE imports.thread_id = run_contents.thread_id)`,
    problem: (run) => `run ${run}: what it printed, called or recorded outlived it`,
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

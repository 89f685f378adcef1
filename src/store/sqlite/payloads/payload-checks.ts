/**
 * Checks checkpoints and the queue against events and rows; `content-checks.ts` has the other checks.
 *
 * X5 The queue has a row for each thread with open runs, of which none is due while one executes. P3 Every checkpoint that an
 * event names exists, unless its run was rolled back or deleted or the thread was pruned.
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
  {
    sql: `SELECT thread_id AS subject, NULL AS position
          FROM (SELECT thread_id, max(status = 'running') AS busy FROM runs WHERE ended_at IS NULL GROUP BY thread_id)
            FULL JOIN (SELECT thread_id, due_at IS NULL AS holds FROM queue) USING (thread_id)
          WHERE busy IS NOT holds`,
    problem: (thread) => `thread ${thread}: its row in the queue does not fit its open runs`,
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
];

export function findBadPayload(rows: RowReader): Finding | undefined {
  for (const { sql, problem } of CHECKS) {
    const found = rows.get<{ subject: string; position: number | null }>(`${sql} LIMIT 1`);
    if (found !== undefined)
      return { position: found.position ?? undefined, problem: problem(found.subject) };
  }
  return undefined;
}

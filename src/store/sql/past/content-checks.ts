/**
 * Checks rows of content against derived rows and each other, and the queue against runs.
 *
 * X5 The queue has a row for each thread with open runs, of which none is due while one executes. S1 A run's frames have dense ids from 0 and texts. A4 Only open runs and existing crons have secrets. X7 Only open
 * runs keep what they were answered. L3 No content of a run outlives it. P3 Every delta base exists. L3 Every item has a
 * value, and no value lacks an item. W1 Every owed delivery has a body; deliveries that are gone or erased have none.
 */
import type { Finding } from '../../port/past.ts';
import { rows, type Work, type WorkContext } from '../work.ts';

interface ContentCheck {
  /** Finds rows with a `subject`. */
  readonly sql: string;
  readonly problem: (subject: string | number) => string;
}

const openRun = (table: string): string =>
  `SELECT run_id AS subject FROM ${table}
   WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.run_id = ${table}.run_id AND ended_at IS NULL)`;

const checksOf = ({ shownId, listed }: WorkContext): readonly ContentCheck[] => [
  {
    sql: `SELECT ${shownId('run')} AS subject FROM frames
          GROUP BY run HAVING min(first) <> 0 OR sum(last - first + 1) <> max(last) + 1`,
    problem: (run) => `run ${run}: its frames have a gap`,
  },
  ...(['texts', 'frames'] as const).map((table) => ({
    sql: `SELECT own.id AS subject FROM ${table} AS own CROSS JOIN ${listed('own.bases')} AS base
          WHERE NOT EXISTS (SELECT 1 FROM ${table} AS below WHERE below.id = CAST(base.value AS bigint))`,
    problem: (row: string | number) => `the text in row ${row} of ${table} has a delta base that is gone`,
  })),
  {
    sql: `SELECT stream AS subject FROM snapshots
          WHERE NOT EXISTS (SELECT 1 FROM events WHERE events.stream = snapshots.stream)`,
    problem: (stream) => `${stream}: its snapshot outlived its events`,
  },
  {
    sql: `SELECT thread_id AS subject
          FROM (SELECT thread_id, max(CASE status WHEN 'running' THEN 1 ELSE 0 END) AS busy
              FROM runs WHERE ended_at IS NULL GROUP BY thread_id) AS open_runs
            FULL JOIN (SELECT thread_id, CASE WHEN due_at IS NULL THEN 1 ELSE 0 END AS holds FROM queue) AS queued
            USING (thread_id)
          WHERE busy IS DISTINCT FROM holds`,
    problem: (thread) => `thread ${thread}: its row in the queue does not fit its open runs`,
  },
  { sql: openRun('secrets'), problem: (run) => `run ${run}: a secret outlived it` },
  { sql: openRun('resume_calls'), problem: (run) => `run ${run}: what it was answered outlived it` },
  {
    sql: `SELECT run_id AS subject FROM run_contents
          WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.run_id = run_contents.run_id)
            AND NOT EXISTS (SELECT 1 FROM imports WHERE imports.thread_id = run_contents.thread_id)`,
    problem: (run) => `run ${run}: what it printed, called or recorded outlived it`,
  },
  {
    sql: `SELECT cron_id AS subject FROM cron_secrets
          WHERE NOT EXISTS (SELECT 1 FROM crons WHERE crons.cron_id = cron_secrets.cron_id)`,
    problem: (cron) => `cron ${cron}: a secret outlived it`,
  },
  {
    sql: `SELECT item_id AS subject FROM items
          WHERE NOT EXISTS (SELECT 1 FROM item_values WHERE item_values.item_id = items.item_id)`,
    problem: (item) => `item ${item}: its value is missing`,
  },
  ...['item_values', 'item_vectors'].map((table) => ({
    sql: `SELECT item_id AS subject FROM ${table}
          WHERE NOT EXISTS (SELECT 1 FROM items WHERE items.item_id = ${table}.item_id)`,
    problem: (item: string | number) => `item ${item}: its value outlived it`,
  })),
  {
    sql: `SELECT delivery_id AS subject FROM deliveries WHERE status = 'owed'
            AND NOT EXISTS (SELECT 1 FROM bodies WHERE bodies.delivery_id = deliveries.delivery_id)`,
    problem: (delivery) => `webhook ${delivery}: it is owed and its body is missing`,
  },
  {
    sql: `SELECT delivery_id AS subject FROM bodies
          WHERE NOT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.delivery_id = bodies.delivery_id AND body = 1)`,
    problem: (delivery) => `webhook ${delivery}: its body outlived it`,
  },
];

export function* findBadContent(context: WorkContext): Work<Finding | undefined> {
  for (const { sql, problem } of checksOf(context)) {
    const [found]: { subject: string | number }[] = yield rows(`${sql} LIMIT 1`, []);
    if (found !== undefined) return { position: undefined, problem: problem(found.subject) };
  }
  return undefined;
}

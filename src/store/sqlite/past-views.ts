/** Named questions that replay asks of a log. */
import type { ListedRow, PastViews } from '../port/past.ts';
import { selectThreads } from '../sql/views/any-thread.ts';
import type { RowReader } from './row-reader.ts';
import { opened, type Prepare } from './statements.ts';
import { readPlacedWrites, readTasks, readWriters } from '../sql/payloads/write-reads.ts';

export function createPastViews(prepare: Prepare, rows: RowReader): PastViews {
  const { runAsync, context } = prepare.driver;
  return {
    lastPosition: async () =>
      prepare('SELECT coalesce(max(position), 0) FROM events').pluck().get() as number,
    threads: async () =>
      rows.all<ListedRow & Record<string, string | number | null>>(
        `SELECT thread_id, status, created_at, updated_at, error,
           coalesce(metadata ->> 'graph_id', bound_graph_id,
             (SELECT graph_id FROM runs WHERE runs.thread_id = threads.thread_id LIMIT 1)) AS graph_id,
           (SELECT count(*) FROM runs WHERE runs.thread_id = threads.thread_id) AS runs,
           (SELECT count(*) FROM events WHERE stream = 'thread-' || threads.thread_id) AS events,
           temporary <> 0 OR (
             EXISTS (SELECT 1 FROM runs WHERE runs.thread_id = threads.thread_id)
             AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.thread_id = threads.thread_id
               AND json_type(runs.metadata, '$.cron_id') IS NOT 'text')
             AND NOT EXISTS (SELECT 1 FROM crons WHERE crons.thread_id = threads.thread_id)) AS is_side
         FROM (${selectThreads('1')}) AS threads ORDER BY updated_at DESC, thread_id DESC`,
      ),
    threadIds: async (prefix, limit) =>
      prepare(
        `SELECT DISTINCT substr(stream, 8) FROM events
         WHERE stream >= 'thread-' || @prefix AND stream < 'thread-' || @prefix || 'g' LIMIT @limit`,
      )
        .pluck()
        .all({ prefix, limit }) as string[],
    runIds: async (prefix, limit) =>
      prepare(
        `SELECT run_id FROM runs WHERE run_id >= @prefix AND run_id < @prefix || 'g' ORDER BY run_id LIMIT @limit`,
      )
        .pluck()
        .all({ prefix, limit }) as string[],
    heads: async () =>
      rows
        .all<{ threadId: string; head: string; position: number | null }>(
          `SELECT thread_id AS "threadId", head,
             (SELECT position FROM events WHERE stream = 'thread-' || thread_id AND type = 'CheckpointSaved'
                AND ${opened('data')} ->> 'checkpointId' = head ORDER BY version DESC LIMIT 1) AS position
           FROM (${selectThreads('t.head IS NOT NULL')}) AS threads ORDER BY thread_id`,
        )
        .map(({ position, ...head }) => ({ ...head, position: position ?? undefined })),
    deliveryIds: async (threadId) =>
      prepare('SELECT delivery_id FROM deliveries WHERE thread_id = ?').pluck().all(threadId) as string[],
    cronIds: async (threadId) =>
      prepare(
        `SELECT metadata ->> 'cron_id' FROM runs
         WHERE thread_id = @threadId AND json_type(metadata, '$.cron_id') = 'text'
         UNION SELECT cron_id FROM crons WHERE thread_id = @threadId`,
      )
        .pluck()
        .all({ threadId }) as string[],
    tasks: (threadId) => runAsync(readTasks(context, threadId)),
    writers: (threadId) => runAsync(readWriters(threadId)),
    writes: (threadId, of) => runAsync(readPlacedWrites(context, threadId, of)),
  };
}

/** Named questions that replay asks of a log. */
import type { RowReader } from '../rows.ts';
import type { Prepare } from './statements.ts';
import {
  readPlacedWrites,
  readWriters,
  type PlacedWrite,
  type WriteChoice,
  type Writer,
} from './placed-writes.ts';
import { readTasks, type TaskOutline } from './write-store.ts';

export interface ListedRow {
  readonly thread_id: string;
  readonly status: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly graph_id: string | null;
  /** JSON text. */
  readonly error: string | null;
  readonly runs: number;
  readonly events: number;
  /** 1: the thread of a stateless run or of an incomplete import, or one that a cron made and only its runs used. */
  readonly is_side: number;
}

export interface PastViews {
  /** The position of the last event, 0 of an empty log. */
  lastPosition(): Promise<number>;
  /** Newest first. */
  threads(): Promise<ListedRow[]>;
  /** The ids of at most `limit` streams of threads whose id begins with `prefix`, deleted threads too. */
  threadIds(prefix: string, limit: number): Promise<string[]>;
  /** The ids of at most `limit` runs whose id begins with `prefix`. */
  runIds(prefix: string, limit: number): Promise<string[]>;
  deliveryIds(threadId: string): Promise<string[]>;
  /** Crons that the thread belongs to, or whose runs it has. */
  cronIds(threadId: string): Promise<string[]>;
  tasks(threadId: string): Promise<TaskOutline[]>;
  /** Writes on the thread's checkpoints, those of one run or on one checkpoint, in the order in which they were saved. */
  writes(threadId: string, of: WriteChoice): Promise<PlacedWrite[]>;
  /** Which runs have writes on which checkpoints of the thread. */
  writers(threadId: string): Promise<Writer[]>;
}

export function createPastViews(prepare: Prepare, rows: RowReader): PastViews {
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
         FROM threads ORDER BY updated_at DESC, seq DESC`,
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
    tasks: async (threadId) => readTasks(prepare, threadId),
    writers: async (threadId) => readWriters(prepare, threadId),
    writes: async (threadId, of) => readPlacedWrites(prepare, threadId, of),
  };
}

/**
 * The queue: one row for each thread with open runs. `due_at` is null while a run executes, else the first time at which
 * one may start, 0 for a run that has begun. The row is no projection: the commits of the thread's actor write it.
 */
import type { RunViews } from '../../port/views/runs.ts';
import type { Ask } from '../ask.ts';

type ClaimViews = Pick<RunViews, 'dueThreads' | 'busyThreads' | 'firstDue' | 'lead'>;

export const claimViews = (ask: Ask): ClaimViews => ({
  async dueThreads(now, limit) {
    const sql = 'SELECT thread_id FROM queue WHERE due_at <= @now ORDER BY due_at, thread_id LIMIT @limit';
    return (await ask.all<{ thread_id: string }>(sql, { now, limit })).map((row) => row.thread_id);
  },
  async busyThreads() {
    const sql = 'SELECT thread_id FROM queue WHERE due_at IS NULL ORDER BY thread_id';
    return (await ask.all<{ thread_id: string }>(sql)).map((row) => row.thread_id);
  },
  async firstDue(runIds, now, ahead) {
    // Until a run starts, `updated_at` is its creation.
    const row = await ask.get<{ run_id: string }>(
      `SELECT run_id FROM runs WHERE ${ask.dialect.oneOf('run_id', 'ids')}
         AND not_before <= @ahead AND (not_before <= @now OR updated_at > @now)
       ORDER BY created_at, created LIMIT 1`,
      { ids: runIds, now, ahead },
    );
    return row?.run_id;
  },
  async lead(now) {
    const row = await ask.get<{ at: number | null }>(
      `SELECT max(runs.updated_at) AS at FROM queue JOIN runs ON runs.thread_id = queue.thread_id
       WHERE due_at > @now AND runs.created_at > @now AND status = 'pending' AND attempt = 0`,
      { now },
    );
    return Math.max(row?.at ?? now, now) - now;
  },
});

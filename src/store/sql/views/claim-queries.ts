/** Which runs may start now, and when the next ones are due. */
import type { RunViews } from '../../port/views/runs.ts';
import type { Ask } from '../ask.ts';
import { toRunRef, type RunRefRow } from './run-record.ts';

/** A delayed run counts as created when it is due, so those of later days are at the end and not looked at. */
const HORIZON_MS = 24 * 3_600_000;

/** Runs that may start now: nothing runs beside them in their thread (X1), and what `where` says. */
const claimable = (index: string, where: string): string =>
  `SELECT run_id, thread_id FROM runs AS candidate INDEXED BY ${index}
   WHERE status = 'pending' AND ${where}
     AND NOT EXISTS (SELECT 1 FROM runs AS other INDEXED BY runs_running
       WHERE other.thread_id = candidate.thread_id AND other.status = 'running')
   ORDER BY created_at, position LIMIT @limit`;

/** Runs that have begun, whatever the clock says now. */
const CLAIMABLE_AGAIN = claimable('runs_begun', 'attempt > 0');

/** `@ahead` for runs that a clock ahead of `@now` has created, else `@now`. Until then, `updated_at` is their creation. */
const due = (run: string): string =>
  `${run}.not_before <= @ahead AND (${run}.not_before <= @now OR ${run}.updated_at > @now)`;

/** Runs that have not, are due, and are the first of their thread. */
const CLAIMABLE_ANEW = claimable(
  'runs_pending',
  `attempt = 0 AND created_at <= @horizon AND ${due('candidate')}
     AND NOT EXISTS (SELECT 1 FROM runs AS other INDEXED BY runs_begun
       WHERE other.thread_id = candidate.thread_id AND other.status = 'pending' AND other.attempt > 0)
     AND NOT EXISTS (SELECT 1 FROM runs AS other INDEXED BY runs_pending_by_thread
       WHERE other.thread_id = candidate.thread_id AND other.status = 'pending' AND ${due('other')}
         AND (other.created_at, other.position) < (candidate.created_at, candidate.position))`,
);

export const claimViews = (ask: Ask): Pick<RunViews, 'claimable' | 'nextDue' | 'lead' | 'running'> => ({
  async claimable(now, limit, ahead = now) {
    const again = await ask.all<RunRefRow>(CLAIMABLE_AGAIN, { limit });
    const rest = { now, ahead, horizon: ahead + HORIZON_MS, limit: limit - again.length };
    const anew = rest.limit > 0 ? await ask.all<RunRefRow>(CLAIMABLE_ANEW, rest) : [];
    return [...again, ...anew].map(toRunRef);
  },
  async nextDue(now) {
    const sql = "SELECT min(not_before) AS at FROM runs WHERE status = 'pending' AND not_before > @now";
    return (await ask.get<{ at: number | null }>(sql, { now }))?.at ?? undefined;
  },
  async lead(now) {
    const sql = `SELECT max(updated_at) AS at FROM runs INDEXED BY runs_pending
      WHERE status = 'pending' AND created_at > @now AND attempt = 0 AND updated_at > @now`;
    return ((await ask.get<{ at: number | null }>(sql, { now }))?.at ?? now) - now;
  },
  async running() {
    const sql = "SELECT run_id, thread_id FROM runs WHERE status = 'running'";
    return (await ask.all<RunRefRow>(sql)).map(toRunRef);
  },
});

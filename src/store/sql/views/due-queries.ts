import type { DueViews } from '../../port/views/views.ts';
import type { Ask } from '../ask.ts';

/** Selects the first time after `@now` at which a thread, a cron or a delivery becomes due. */
export const NEXT_DUE = `SELECT min(at) AS at FROM (
  SELECT min(due_at) AS at FROM queue WHERE due_at > @now
  UNION ALL SELECT min(next_at) FROM crons WHERE enabled = 1 AND next_at > @now
  UNION ALL SELECT min(next_at) FROM deliveries WHERE next_at > @now) AS coming`;

export const dueViews = (ask: Ask): DueViews => ({
  async next(now) {
    return (await ask.get<{ at: number | null }>(NEXT_DUE, { now }))?.at ?? undefined;
  },
});

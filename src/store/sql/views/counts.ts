/** How much there is, for those who watch the server. Counted on the reader thread: no index bounds it. */
import type { Counts } from '../../port/views/views.ts';
import type { Scan } from '../ask.ts';

const PENDING = `
  WITH pending AS (
    SELECT created_at, due_at, row_number() OVER (ORDER BY created_at) AS place, count(*) OVER () AS n
    FROM queue JOIN runs ON runs.thread_id = queue.thread_id WHERE status = 'pending'
  )
  SELECT min(created_at) AS oldest,
    avg(created_at) FILTER (WHERE place IN ((n + 1) / 2, (n + 2) / 2)) AS median,
    min(created_at) FILTER (WHERE due_at IS NOT NULL) AS oldest_unblocked
  FROM pending`;

export const COUNTS: Scan<[number], Counts> = {
  name: 'inventory.counts',
  async answer(ask, now) {
    const grouped = async (sql: string): Promise<Record<string, number>> =>
      Object.fromEntries(
        (await ask.all<{ status: string; n: number }>(sql)).map(({ status, n }) => [status, n]),
      );
    const runs = await grouped('SELECT status, count(*) AS n FROM runs GROUP BY status');
    const deliveries = await grouped('SELECT status, count(*) AS n FROM deliveries GROUP BY status');
    const due = await ask.get<{ n: number }>(
      `SELECT count(*) AS n FROM queue JOIN runs ON runs.thread_id = queue.thread_id
       WHERE status = 'pending' AND not_before <= @now`,
      { now },
    );
    const pending = await ask.get<{
      oldest: number | null;
      median: number | null;
      oldest_unblocked: number | null;
    }>(PENDING);
    const { oldest, median, oldest_unblocked: oldestUnblocked } = pending!;
    return { runs, deliveries, queued: due!.n, pending: { oldest, median, oldestUnblocked } };
  },
};

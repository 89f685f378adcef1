/** How much there is, for those who watch the server. Counted on the reader thread: no index bounds it. */
import type { RowReader } from '../log/rows.ts';

export interface Counts {
  readonly runs: Readonly<Record<string, number>>;
  /** Runs that could start now. */
  readonly queued: number;
  readonly deliveries: Readonly<Record<string, number>>;
}

/** Rejects with `SearchRefused`. */
export async function countAll(rows: RowReader, now: number): Promise<Counts> {
  const grouped = async (sql: string): Promise<Record<string, number>> =>
    Object.fromEntries(
      (await rows.search<{ status: string; n: number }>(sql)).map(({ status, n }) => [status, n]),
    );
  const runs = await grouped('SELECT status, count(*) AS n FROM runs GROUP BY status');
  const deliveries = await grouped('SELECT status, count(*) AS n FROM deliveries GROUP BY status');
  const [due] = await rows.search<{ n: number }>(
    "SELECT count(*) AS n FROM runs WHERE status = 'pending' AND not_before <= @now",
    { now },
  );
  return { runs, deliveries, queued: due?.n ?? 0 };
}

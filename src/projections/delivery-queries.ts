import type { Cell, RowReader } from '../log/rows.ts';

export interface DueDelivery {
  readonly deliveryId: string;
  readonly threadId: string;
  readonly url: string;
  readonly host: string;
  readonly attempts: number;
  readonly version: number;
}

interface DeliveryRow {
  [column: string]: Cell;
  delivery_id: string;
  thread_id: string;
  url: string;
  host: string;
  attempts: number;
  version: number;
}

/** Deliveries to try now, longest due first, leaving out hosts and deliveries that are busy already. */
export async function dueDeliveries(
  rows: RowReader,
  now: number,
  limit: number,
  busy: { hosts: readonly string[]; ids: readonly string[] },
): Promise<DueDelivery[]> {
  return rows
    .all<DeliveryRow>(
      `SELECT * FROM deliveries WHERE next_at <= @now
         AND host NOT IN (SELECT value FROM json_each(@hosts))
         AND delivery_id NOT IN (SELECT value FROM json_each(@ids))
       ORDER BY next_at, delivery_id LIMIT @limit`,
      { now, limit, hosts: JSON.stringify(busy.hosts), ids: JSON.stringify(busy.ids) },
    )
    .map((row) => ({
      deliveryId: row.delivery_id,
      threadId: row.thread_id,
      url: row.url,
      host: row.host,
      attempts: row.attempts,
      version: row.version,
    }));
}

export async function nextDueDelivery(rows: RowReader, now: number): Promise<number | undefined> {
  const row = rows.get<{ at: number | null }>(
    'SELECT min(next_at) AS at FROM deliveries WHERE next_at > @now',
    { now },
  );
  return row?.at ?? undefined;
}

/** Deliveries of a thread, or of one run of it, that nobody will try again. */
export async function failedDeliveries(rows: RowReader, threadId: string, runId?: string): Promise<string[]> {
  return rows
    .all<DeliveryRow>(
      "SELECT * FROM deliveries WHERE thread_id = @threadId AND status = 'failed' AND (@runId IS NULL OR run_id = @runId)",
      { threadId, runId: runId ?? null },
    )
    .map((row) => row.delivery_id);
}

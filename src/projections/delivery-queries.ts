import type { Cell, RowReader } from '../log/rows.ts';

export interface DueDelivery {
  readonly deliveryId: string;
  readonly runId: string;
  readonly threadId: string;
  readonly url: string;
  readonly attempts: number;
  readonly version: number;
  readonly createdAt: number;
}

interface DeliveryRow {
  [column: string]: Cell;
  delivery_id: string;
  run_id: string;
  thread_id: string;
  url: string;
  attempts: number;
  version: number;
  created_at: number;
}

/** Deliveries to try now, longest due first. */
export async function dueDeliveries(rows: RowReader, now: number, limit: number): Promise<DueDelivery[]> {
  return rows
    .all<DeliveryRow>(
      'SELECT * FROM deliveries WHERE next_at <= @now ORDER BY next_at, delivery_id LIMIT @limit',
      { now, limit },
    )
    .map((row) => ({
      deliveryId: row.delivery_id,
      runId: row.run_id,
      threadId: row.thread_id,
      url: row.url,
      attempts: row.attempts,
      version: row.version,
      createdAt: row.created_at,
    }));
}

export async function nextDueDelivery(rows: RowReader, now: number): Promise<number | undefined> {
  const row = rows.get<{ at: number | null }>(
    'SELECT min(next_at) AS at FROM deliveries WHERE next_at > @now',
    { now },
  );
  return row?.at ?? undefined;
}

/** Deliveries of a thread that nobody will try again. */
export async function failedDeliveries(rows: RowReader, threadId: string): Promise<string[]> {
  return rows
    .all<DeliveryRow>("SELECT * FROM deliveries WHERE thread_id = @threadId AND status = 'failed'", {
      threadId,
    })
    .map((row) => row.delivery_id);
}

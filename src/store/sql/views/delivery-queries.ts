/** Reads owed webhooks. Access to one is access to its thread: filters are matched against the thread's metadata. */
import type { DeliveryState, DeliveryStatus } from '../../../delivery/decide.ts';
import type { Filter } from '../../../kernel/filter.ts';
import type { Cell, RowReader } from '../../port/rows.ts';
import { conditionOf, whereMatches, type Where } from './filters.ts';

export interface DeliveryRecord extends DeliveryState {
  readonly runId: string;
  readonly threadId: string;
  /** With its secrets: nobody is shown it. */
  readonly url: string;
  readonly host: string;
  readonly version: number;
  /** When the next attempt is due; null when it is over. */
  readonly nextAt: number | null;
  /** Its bytes can be sent again. */
  readonly hasBody: boolean;
  readonly createdAt: number;
}

interface DeliveryRow {
  [column: string]: Cell;
  delivery_id: string;
  run_id: string;
  thread_id: string;
  url: string;
  host: string;
  status: string;
  attempts: number;
  first: number;
  version: number;
  next_at: number | null;
  orphan: number;
  body: number;
  created_at: number;
}

const toRecord = (row: DeliveryRow): DeliveryRecord => ({
  deliveryId: row.delivery_id,
  runId: row.run_id,
  threadId: row.thread_id,
  url: row.url,
  host: row.host,
  status: row.status as DeliveryStatus,
  attempts: row.attempts,
  tries: row.attempts - row.first,
  version: row.version,
  nextAt: row.next_at,
  orphan: row.orphan === 1,
  hasBody: row.body === 1,
  createdAt: row.created_at,
});

/** Hosts that are owed something now, the longest waiting first. Costs one look per host, not per delivery. */
export async function dueHosts(rows: RowReader, now: number): Promise<string[]> {
  return rows
    .all<{ host: string }>(
      `WITH RECURSIVE hosts (host) AS (
         SELECT min(host) FROM deliveries INDEXED BY deliveries_by_host WHERE next_at IS NOT NULL
         UNION ALL
         SELECT (SELECT min(host) FROM deliveries INDEXED BY deliveries_by_host
                 WHERE next_at IS NOT NULL AND host > hosts.host)
         FROM hosts WHERE hosts.host IS NOT NULL)
       SELECT host, (SELECT min(next_at) FROM deliveries INDEXED BY deliveries_by_host
                     WHERE next_at IS NOT NULL AND deliveries.host = hosts.host) AS due
       FROM hosts WHERE host IS NOT NULL AND due <= @now ORDER BY due, host`,
      { now },
    )
    .map(({ host }) => host);
}

/**
 * What a host is owed now, longest due first. `ahead`: `now` by the clock that planned deliveries later than `now`
 * (`deliveryLead`).
 */
export async function dueDeliveries(
  rows: RowReader,
  host: string,
  now: number,
  limit: number,
  ahead = now,
): Promise<DeliveryRecord[]> {
  return rows
    .all<DeliveryRow>(
      `SELECT * FROM deliveries INDEXED BY deliveries_by_host
       WHERE host = @host AND next_at IS NOT NULL AND next_at <= @ahead AND (next_at <= @now OR updated_at > @now)
       ORDER BY next_at LIMIT @limit`,
      { host, now, ahead, limit },
    )
    .map(toRecord);
}

export async function nextDueDelivery(rows: RowReader, now: number): Promise<number | undefined> {
  const row = rows.get<{ at: number | null }>(
    'SELECT min(next_at) AS at FROM deliveries WHERE next_at > @now',
    { now },
  );
  return row?.at ?? undefined;
}

/** Returns by how many milliseconds a clock was ahead of `now` when it planned deliveries that are still owed. */
export async function deliveryLead(rows: RowReader, now: number): Promise<number> {
  const row = rows.get<{ at: number | null }>(
    'SELECT max(updated_at) AS at FROM deliveries WHERE next_at > @now AND updated_at > @now',
    { now },
  );
  return (row?.at ?? now) - now;
}

/** Deliveries of a thread, or of one run of it. */
export async function deliveriesOf(
  rows: RowReader,
  threadId: string,
  runId?: string,
): Promise<DeliveryRecord[]> {
  return rows
    .all<DeliveryRow>(
      'SELECT * FROM deliveries WHERE thread_id = @threadId AND (@runId IS NULL OR run_id = @runId)',
      { threadId, runId: runId ?? null },
    )
    .map(toRecord);
}

const VISIBLE = 'FROM deliveries JOIN threads USING (thread_id)';

/** Without a filter, whoever sees it or not. With one (`[]`: anybody's), only what is not deleted. */
export async function getDelivery(
  rows: RowReader,
  deliveryId: string,
  filter?: Filter,
): Promise<DeliveryRecord | undefined> {
  const where: Where = { clauses: ['delivery_id = @deliveryId'], params: { deliveryId } };
  if (filter !== undefined) where.clauses.push('orphan = 0');
  whereMatches(where, 'threads.metadata', filter);
  const from = filter === undefined ? 'FROM deliveries' : VISIBLE;
  const row = rows.get<DeliveryRow>(`SELECT deliveries.* ${from} WHERE ${conditionOf(where)}`, where.params);
  return row && toRecord(row);
}

export interface DeliverySearch {
  readonly runId?: string | undefined;
  readonly threadId?: string | undefined;
  readonly host?: string | undefined;
  readonly status?: DeliveryStatus | undefined;
  /** Owed from that moment on, milliseconds since 1970. */
  readonly since?: number | undefined;
  /** Owed before that moment. */
  readonly until?: number | undefined;
  /** Those that can be sent again. */
  readonly hasBody?: boolean;
}

function whereOf(wanted: DeliverySearch, filter: Filter | undefined): Where {
  const where: Where = { clauses: ['orphan = 0'], params: {} };
  const add = (name: string, clause: string, value: Cell | undefined): void => {
    if (value === undefined) return;
    where.clauses.push(clause);
    where.params[name] = value;
  };
  add('runId', 'run_id = @runId', wanted.runId);
  add('threadId', 'deliveries.thread_id = @threadId', wanted.threadId);
  add('host', 'host = @host', wanted.host);
  add('status', 'deliveries.status = @status', wanted.status);
  add('since', 'deliveries.created_at >= @since', wanted.since);
  add('until', 'deliveries.created_at < @until', wanted.until);
  if (wanted.hasBody === true) where.clauses.push('body = 1');
  whereMatches(where, 'threads.metadata', filter);
  return where;
}

/** A page of those that may be seen, the newest first, and how many there are in all. Rejects with `SearchRefused`. */
export async function searchDeliveries(
  rows: RowReader,
  wanted: DeliverySearch,
  { limit, offset }: { limit: number; offset: number },
  filter: Filter | undefined,
): Promise<{ deliveries: DeliveryRecord[]; total: number }> {
  const { clauses, params } = whereOf(wanted, filter);
  const from = `${VISIBLE} WHERE ${clauses.join(' AND ')}`;
  const found = await rows.search<DeliveryRow>(
    `SELECT deliveries.* ${from} ORDER BY deliveries.created_at DESC, delivery_id DESC LIMIT @limit OFFSET @offset`,
    { ...params, limit, offset },
  );
  const counted = await rows.search<{ n: number }>(`SELECT count(*) AS n ${from}`, params);
  return { deliveries: found.map(toRecord), total: counted[0]?.n ?? 0 };
}

/** Those that were delivered before that moment and still have their bodies. */
export async function deliveriesKeptSince(rows: RowReader, before: number, limit: number): Promise<string[]> {
  return rows
    .all<{ delivery_id: string }>(
      `SELECT delivery_id FROM deliveries INDEXED BY deliveries_kept
       WHERE status = 'delivered' AND body = 1 AND updated_at < @before LIMIT @limit`,
      { before, limit },
    )
    .map((row) => row.delivery_id);
}

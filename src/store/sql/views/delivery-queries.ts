import type { DeliveryStatus } from '../../../delivery/decide.ts';
import type { Filter } from '../../../kernel/filter.ts';
import type { Cell } from '../../port/rows.ts';
import type { DeliveryRecord, DeliverySearch, DeliveryViews } from '../../port/views/deliveries.ts';
import type { Ask, Scan } from '../ask.ts';
import { ofThread } from './any-thread.ts';
import { conditionOf, judge, passes, whereEqual } from './filters.ts';

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

export const deliveryViews = (ask: Ask): DeliveryViews => ({
  async get(deliveryId, filter) {
    const sql = `SELECT deliveries.*, ${ofThread('deliveries')} AS of_thread FROM deliveries
      WHERE delivery_id = @deliveryId`;
    const row = await ask.get<JudgedRow>(sql, { deliveryId });
    const isSeen =
      filter === undefined || (row?.orphan === 0 && row.of_thread !== null && passes(row.of_thread, filter));
    return row && isSeen ? toRecord(row) : undefined;
  },
  search: (...asked) => ask.scan(SEARCH, ...asked),
  async of(threadId, runId) {
    const where = whereEqual({ thread_id: threadId, run_id: runId });
    const sql = `SELECT * FROM deliveries WHERE ${conditionOf(where)} ORDER BY delivery_id`;
    return (await ask.all<DeliveryRow>(sql, where.params)).map(toRecord);
  },
  async dueHosts(now) {
    const owed = 'FROM deliveries WHERE next_at IS NOT NULL';
    const found = await ask.all<{ host: string }>(
      `WITH RECURSIVE hosts (host) AS (
         SELECT min(host) ${owed}
         UNION ALL
         SELECT (SELECT min(host) ${owed} AND host > hosts.host) FROM hosts WHERE hosts.host IS NOT NULL)
       SELECT host FROM (
         SELECT host, (SELECT min(next_at) ${owed} AND deliveries.host = hosts.host) AS due
         FROM hosts WHERE host IS NOT NULL) AS owing
       WHERE due <= @now ORDER BY due, host`,
      { now },
    );
    return found.map(({ host }) => host);
  },
  async due(host, now, limit, ahead = now) {
    const found = await ask.all<DeliveryRow>(
      `SELECT * FROM deliveries
       WHERE host = @host AND next_at IS NOT NULL AND next_at <= @ahead AND (next_at <= @now OR updated_at > @now)
       ORDER BY next_at, delivery_id LIMIT @limit`,
      { host, now, ahead, limit },
    );
    return found.map(toRecord);
  },
  async lead(now) {
    const sql = 'SELECT max(updated_at) AS at FROM deliveries WHERE next_at > @now AND updated_at > @now';
    return ((await ask.get<{ at: number | null }>(sql, { now }))?.at ?? now) - now;
  },
  async keptSince(before, limit) {
    const found = await ask.all<{ delivery_id: string }>(
      `SELECT delivery_id FROM deliveries WHERE status = 'delivered' AND body = 1 AND updated_at < @before
       ORDER BY updated_at, delivery_id LIMIT @limit`,
      { before, limit },
    );
    return found.map((row) => row.delivery_id);
  },
});

interface JudgedRow extends DeliveryRow {
  of_thread: string | null;
}

export const SEARCH: Scan<
  [DeliverySearch, { limit: number; offset: number }, Filter | undefined],
  { deliveries: DeliveryRecord[]; total: number }
> = {
  name: 'deliveries.search',
  async answer(ask, wanted, page, filter) {
    const where = whereEqual({
      orphan: 0,
      run_id: wanted.runId,
      'deliveries.thread_id': wanted.threadId,
      host: wanted.host,
      'deliveries.status': wanted.status,
      body: wanted.hasBody === true ? 1 : undefined,
    });
    // A delivery that is seen reports a run that is there.
    if (wanted.runId !== undefined)
      where.clauses.push('deliveries.thread_id = (SELECT thread_id FROM runs WHERE runs.run_id = @run_id)');
    for (const [name, value, order] of [
      ['since', wanted.since, '>='],
      ['until', wanted.until, '<'],
    ] as const) {
      if (value === undefined) continue;
      where.clauses.push(`deliveries.created_at ${order} @${name}`);
      where.params[name] = value;
    }
    const sql = `SELECT deliveries.*, ${ofThread('deliveries')} AS of_thread FROM deliveries
      WHERE ${conditionOf(where)}
      ORDER BY deliveries.created_at DESC, delivery_id DESC`;
    const { rows, total } = await judge<JudgedRow>(
      ask,
      { sql, params: where.params },
      (row) => row.of_thread !== null && passes(row.of_thread, filter),
      page,
    );
    return { deliveries: rows.map(toRecord), total };
  },
};

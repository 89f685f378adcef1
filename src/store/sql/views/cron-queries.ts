import type { Filter } from '../../../kernel/filter.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { fromStored } from '../../../kernel/stored-json.ts';
import type { Cell } from '../../port/rows.ts';
import type { CronConditions, CronRecord, CronSearch, CronViews } from '../../port/views/crons.ts';
import type { Ask, Params, Scan } from '../ask.ts';
import { ofThread } from './any-thread.ts';
import { conditionOf, judge, metadataFilter, passes, whereEqual } from './filters.ts';

/** By the names that clients sort with. NULL has no place that all engines agree on. */
const SORT_COLUMNS = {
  cron_id: 'crons.cron_id',
  assistant_id: 'crons.assistant_id',
  thread_id: "coalesce(crons.thread_id, '')",
  next_run_date: 'coalesce(crons.next_at, 0)',
  end_time: 'coalesce(crons.end_time, 0)',
  created_at: 'crons.created_at',
  updated_at: 'crons.updated_at',
} as const satisfies Record<CronSearch['sortBy'], string>;

interface CronRow {
  [column: string]: Cell;
  cron_id: string;
  assistant_id: string;
  thread_id: string | null;
  schedule: string;
  timezone: string | null;
  end_time: number | null;
  enabled: number;
  on_run_completed: string | null;
  user_id: string | null;
  payload: string;
  metadata: string;
  next_at: number | null;
  refused: string | null;
  created_at: number;
  updated_at: number;
}

export const cronViews = (ask: Ask): CronViews => ({
  async get(cronId, filter) {
    const row = await ask.get<CronRow>('SELECT * FROM crons WHERE cron_id = @cronId', { cronId });
    return row && passes(row.metadata, filter) ? toRecord(row) : undefined;
  },
  search: (search, filter) => ask.scan(SEARCH, search, filter),
  count: (wanted, filter) => ask.scan(COUNT, wanted, filter),
  async due(now, limit, except) {
    const sql = `SELECT cron_id FROM crons WHERE enabled = 1 AND next_at <= @now
      AND NOT ${ask.dialect.oneOf('cron_id', 'except')} ORDER BY next_at LIMIT @limit`;
    const found = await ask.all<{ cron_id: string }>(sql, { now, limit, except });
    return found.map(({ cron_id }) => cron_id);
  },
  async hasPlanned(now) {
    const sql = `SELECT 1 AS found FROM crons WHERE enabled = 1 AND next_at > @now
      UNION ALL SELECT 1 FROM crons WHERE enabled = 1 AND next_at IS NULL AND end_time > @now LIMIT 1`;
    return (await ask.get(sql, { now })) !== undefined;
  },
  async of(of) {
    const where = whereEqual(
      'threadId' in of ? { thread_id: of.threadId } : { assistant_id: of.assistantId },
    );
    const sql = `SELECT cron_id, version FROM crons WHERE ${conditionOf(where)} ORDER BY cron_id`;
    const found = await ask.all<{ cron_id: string; version: number }>(sql, where.params);
    return found.map(({ cron_id: cronId, version }) => ({ cronId, version }));
  },
});

export const SEARCH: Scan<[CronSearch, Filter | undefined], { crons: CronRecord[]; total: number }> = {
  name: 'crons.search',
  async answer(ask, search, filter) {
    const order = search.sortOrder === 'asc' ? 'ASC' : 'DESC';
    const { rows, total } = await judge<JudgedRow>(
      ask,
      candidates(search, `ORDER BY ${SORT_COLUMNS[search.sortBy]} ${order}, crons.cron_id ${order}`),
      isMatch(search, filter),
      search,
    );
    return { crons: rows.map(toRecord), total };
  },
};

export const COUNT: Scan<[CronConditions, Filter | undefined], number> = {
  name: 'crons.count',
  async answer(ask, wanted, filter) {
    const none = { limit: 0, offset: 0 };
    return (await judge<JudgedRow>(ask, candidates(wanted, ''), isMatch(wanted, filter), none)).total;
  },
};

interface JudgedRow extends CronRow {
  of_thread: string | null;
}

function candidates(
  { assistantId, threadId, enabled }: CronConditions,
  order: string,
): { sql: string; params: Params } {
  const where = whereEqual({
    'crons.assistant_id': assistantId,
    'crons.thread_id': threadId,
    'crons.enabled': enabled === undefined ? undefined : Number(enabled),
  });
  const sql = `SELECT crons.*, ${ofThread('crons')} AS of_thread FROM crons
    WHERE ${conditionOf(where)} ${order}`;
  return { sql, params: where.params };
}

function isMatch(
  { metadata, threadFilter }: CronConditions,
  filter: Filter = [],
): (row: JudgedRow) => boolean {
  const own = [...metadataFilter(metadata), ...filter];
  return (row) =>
    passes(row.metadata, own) && (row.thread_id === null || passes(row.of_thread, threadFilter));
}

const toRecord = (row: CronRow): CronRecord => ({
  cronId: row.cron_id,
  assistantId: row.assistant_id,
  threadId: row.thread_id,
  schedule: row.schedule,
  timezone: row.timezone,
  endTime: row.end_time,
  enabled: row.enabled === 1,
  onRunCompleted: row.on_run_completed as CronRecord['onRunCompleted'],
  userId: row.user_id,
  payload: fromStored(row.payload, 'payload of cron', row.cron_id) as JsonObject,
  metadata: fromStored(row.metadata, 'metadata of cron', row.cron_id) as JsonObject,
  nextAt: row.next_at,
  refused: row.refused === null ? null : (JSON.parse(row.refused) as CronRecord['refused']),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

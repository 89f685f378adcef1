import type { CronContent } from '../../../cron/events.ts';
import type { Filter } from '../../../kernel/filter.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { fromStored } from '../../../kernel/stored-json.ts';
import type { Cell, RowReader } from '../../port/rows.ts';
import { conditionOf, metadataFilter, whereMatches, type Where } from './filters.ts';

export interface CronRecord extends CronContent {
  readonly cronId: string;
  readonly nextAt: number | null;
  /** Why its last slot started no run; `slot` in milliseconds since 1970. */
  readonly refused: { readonly slot: number; readonly reason: string } | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Where a cron's stream ends: what has to be known to delete it. */
export interface CronEnd {
  readonly cronId: string;
  readonly version: number;
}

/** By the names that clients sort with. */
const SORT_COLUMNS = {
  cron_id: 'cron_id',
  assistant_id: 'assistant_id',
  thread_id: 'thread_id',
  next_run_date: 'next_at',
  end_time: 'end_time',
  created_at: 'created_at',
  updated_at: 'updated_at',
} as const;
export type CronSort = keyof typeof SORT_COLUMNS;
export const CRON_SORTS = Object.keys(SORT_COLUMNS) as [CronSort, ...CronSort[]];

export interface CronConditions {
  readonly assistantId?: string;
  readonly threadId?: string;
  readonly enabled?: boolean;
  readonly metadata?: JsonObject;
  /** A cron on a thread is found with its thread. */
  readonly threadFilter?: Filter | undefined;
}

export interface CronSearch extends CronConditions {
  readonly sortBy: CronSort;
  readonly sortOrder: 'asc' | 'desc';
  readonly limit: number;
  readonly offset: number;
}

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

export async function getCron(
  rows: RowReader,
  cronId: string,
  filter?: Filter,
): Promise<CronRecord | undefined> {
  const where: Where = { clauses: ['cron_id = @id'], params: { id: cronId } };
  whereMatches(where, 'metadata', filter);
  const row = rows.get<CronRow>(`SELECT * FROM crons WHERE ${conditionOf(where)}`, where.params);
  return row && toRecord(row);
}

const METADATA_OF_THREAD = '(SELECT metadata FROM threads WHERE threads.thread_id = crons.thread_id)';

function whereOf(wanted: CronConditions, filter: Filter | undefined): Where {
  const where: Where = { clauses: [], params: {} };
  const equals = { assistant_id: wanted.assistantId, thread_id: wanted.threadId };
  for (const [column, value] of Object.entries(equals))
    if (value !== undefined) {
      where.clauses.push(`${column} = @${column}`);
      where.params[column] = value;
    }
  if (wanted.enabled !== undefined) where.clauses.push(`enabled = ${wanted.enabled ? 1 : 0}`);
  whereMatches(where, 'metadata', [...metadataFilter(wanted.metadata), ...(filter ?? [])]);
  const ofThread = { exempt: 'thread_id IS NULL', parameter: 'threadFilter' };
  whereMatches(where, METADATA_OF_THREAD, wanted.threadFilter, ofThread);
  return where;
}

/** The matches of one page, and how many there are in all. */
export async function searchCrons(
  rows: RowReader,
  search: CronSearch,
  filter?: Filter,
): Promise<{ crons: CronRecord[]; total: number }> {
  const where = whereOf(search, filter);
  const order = search.sortOrder === 'asc' ? 'ASC' : 'DESC';
  const found = await rows.search<CronRow>(
    `SELECT * FROM crons WHERE ${conditionOf(where)}
     ORDER BY ${SORT_COLUMNS[search.sortBy]} ${order}, cron_id ${order} LIMIT @limit OFFSET @offset`,
    { ...where.params, limit: search.limit, offset: search.offset },
  );
  return { crons: found.map(toRecord), total: await countCrons(rows, search, filter) };
}

export async function countCrons(rows: RowReader, wanted: CronConditions, filter?: Filter): Promise<number> {
  const where = whereOf(wanted, filter);
  const [count] = await rows.search<{ n: number }>(
    `SELECT count(*) AS n FROM crons WHERE ${conditionOf(where)}`,
    where.params,
  );
  return count!.n;
}

/** The longest due first, without those of `except`. */
export async function dueCrons(
  rows: RowReader,
  now: number,
  limit: number,
  except: readonly string[],
): Promise<string[]> {
  return rows
    .all<{ cron_id: string }>(
      `SELECT cron_id FROM crons WHERE enabled = 1 AND next_at <= @now
         AND cron_id NOT IN (SELECT value FROM json_each(@except)) ORDER BY next_at LIMIT @limit`,
      { now, limit, except: JSON.stringify(except) },
    )
    .map(({ cron_id }) => cron_id);
}

export async function nextDueCron(rows: RowReader, after: number): Promise<number | undefined> {
  const row = rows.get<{ at: number | null }>(
    'SELECT min(next_at) AS at FROM crons WHERE enabled = 1 AND next_at > @after',
    {
      after,
    },
  );
  return row?.at ?? undefined;
}

/** Whether a cron is yet to fire, or its end is yet to come: only such a cron can have the plan of a clock ahead. */
export async function hasPlannedCron(rows: RowReader, now: number): Promise<boolean> {
  const sql = `SELECT 1 FROM crons WHERE enabled = 1 AND next_at > @now
     UNION ALL SELECT 1 FROM crons WHERE enabled = 1 AND next_at IS NULL AND end_time > @now LIMIT 1`;
  return rows.get(sql, { now }) !== undefined;
}

export async function cronsOf(
  rows: RowReader,
  of: { readonly threadId: string } | { readonly assistantId: string },
): Promise<CronEnd[]> {
  const [column, id] = 'threadId' in of ? ['thread_id', of.threadId] : ['assistant_id', of.assistantId];
  return rows.all<{ cronId: string; version: number }>(
    `SELECT cron_id AS cronId, version FROM crons WHERE ${column} = @id ORDER BY cron_id`,
    { id: id! },
  );
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

/** Reads threads. A thread of a stateless run is seen only while that run is open, and never once it ended. */
import { parseFilter } from '../../../kernel/filter-syntax.ts';
import type { Filter } from '../../../kernel/filter.ts';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import { fromStored } from '../../../kernel/stored-json.ts';
import type { Recorded } from '../../port/events.ts';
import type { PayloadReader } from '../../port/payloads.ts';
import type { Cell, Row, RowReader } from '../../port/rows.ts';
import type { Ttl } from '../../../thread/events.ts';
import { conditionOf, whereMatches, type Where } from './filters.ts';
import type { ThreadConditions } from './thread-conditions.ts';
import { VISIBLE } from '../rows/thread-index.ts';
import { planThreads, type Query, type ThreadPlan } from './thread-plan.ts';
import { projectThread, type ThreadStatus } from '../rows/threads.ts';

export interface ThreadRecord {
  readonly threadId: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly stateUpdatedAt: number | null;
  readonly status: ThreadStatus;
  readonly metadata: JsonObject;
  readonly head: string | null;
  readonly interrupts: JsonObject;
  readonly error: Json;
  readonly ttl: ThreadTtl | null;
  /** Of at most 80 characters; null before a run with a human text. */
  readonly title: string | null;
}

export interface ThreadTtl extends Ttl {
  /** Milliseconds since 1970; null when the thread was pruned and no run has ended since. */
  readonly expiresAt: number | null;
}

export interface ThreadSearch extends ThreadConditions {
  /** A filter on the thread's values; a thread without values passes none. */
  readonly values?: JsonObject;
  readonly limit: number;
  readonly offset: number;
}

interface ThreadRow {
  [column: string]: Cell;
  thread_id: string;
  created_at: number;
  updated_at: number;
  state_updated_at: number | null;
  status: string;
  metadata: string;
  head: string | null;
  interrupts: string;
  error: string | null;
  ttl_strategy: string | null;
  ttl_minutes: number | null;
  expires_at: number | null;
  title: string | null;
}

/** The thread as the fact that made it leaves it; undefined when these are not that fact alone. */
export function newThread([event, ...more]: readonly Recorded[]): ThreadRecord | undefined {
  if (event?.type !== 'ThreadCreated' || more.length > 0) return undefined;
  // Pairs are for the index, which has them by now.
  const [write] = projectThread(event, (metadata) => ({ metadata: JSON.stringify(metadata), pairs: '' }));
  return write?.op === 'put' ? toRecord(write.row as ThreadRow) : undefined;
}

export async function getThread(
  rows: RowReader,
  threadId: string,
  filter?: Filter,
): Promise<ThreadRecord | undefined> {
  const where: Where = { clauses: ['thread_id = @id', VISIBLE], params: { id: threadId } };
  whereMatches(where, 'metadata', filter);
  const row = rows.get<ThreadRow>(`SELECT * FROM threads WHERE ${conditionOf(where)}`, where.params);
  return row && toRecord(row);
}

/** Totals of pages are exact up to this. */
const MAX_TOTAL = 10_000;

/** The matches of one page, and how many there are in all, exactly up to 10,000. Rejects with `SearchRefused`. */
export async function searchThreads(
  { rows, payloads }: { rows: RowReader; payloads: PayloadReader },
  { limit, offset, values, ...wanted }: ThreadSearch,
  filter?: Filter,
  few?: number,
): Promise<{ threads: ThreadRecord[]; total: number }> {
  const plan = planThreads(rows, wanted, filter, few);
  if (hasMembers(values)) {
    const matches = await withValues(rows, payloads, plan, parseFilter(values, 'part'));
    const found = matches
      .slice(offset, offset + limit)
      .flatMap((id) => rows.get<ThreadRow>('SELECT * FROM threads WHERE thread_id = @id', { id }) ?? []);
    return { threads: found.map(toRecord), total: matches.length };
  }
  const found = await answer<ThreadRow>(rows, plan.page('t.*', limit, offset));
  // A page that is not full is the last one and tells the number by itself.
  const isLast = found.length < limit && (found.length > 0 || offset === 0);
  const total = isLast
    ? offset + found.length
    : await countMatches(rows, plan, Math.max(MAX_TOTAL, offset + limit + 1));
  return { threads: found.map(toRecord), total };
}

/** How many match, exactly. Rejects with `SearchRefused`. */
export async function countThreads(
  { rows, payloads }: { rows: RowReader; payloads: PayloadReader },
  { values, ...wanted }: Pick<ThreadSearch, 'ids' | 'metadata' | 'status' | 'values'>,
  filter?: Filter,
): Promise<number> {
  const plan = planThreads(rows, { ...wanted, sortBy: 'thread_id', sortOrder: 'asc' }, filter);
  if (hasMembers(values)) return (await withValues(rows, payloads, plan, parseFilter(values, 'part'))).length;
  return countMatches(rows, plan, Number.MAX_SAFE_INTEGER);
}

const hasMembers = (values: JsonObject | undefined): values is JsonObject =>
  values !== undefined && Object.keys(values).length > 0;

const countMatches = async (rows: RowReader, plan: ThreadPlan, cap: number): Promise<number> =>
  (await answer<{ n: number }>(rows, plan.total(cap)))[0]!.n;

const answer = async <R extends Row>(rows: RowReader, { sql, params, isNear }: Query): Promise<R[]> =>
  isNear ? rows.all<R>(sql, params) : rows.search<R>(sql, params);

/** Candidates whose values are compared between two reads. */
const AT_ONCE = 5_000;

/** No index knows values: those of every candidate are looked at. */
async function withValues(
  rows: RowReader,
  payloads: PayloadReader,
  plan: ThreadPlan,
  values: Filter,
): Promise<string[]> {
  // A thread that changes meanwhile may come twice.
  const matches = new Set<string>();
  for (let offset = 0; ; offset += AT_ONCE) {
    const heads = await answer<{ thread_id: string; head: string | null }>(
      rows,
      plan.page('t.thread_id, t.head', AT_ONCE, offset),
    );
    const candidates = heads.flatMap(({ thread_id: threadId, head }) =>
      head === null ? [] : [{ threadId, checkpointId: head }],
    );
    for (const id of await payloads.containing(candidates, values)) matches.add(id);
    if (heads.length < AT_ONCE) return [...matches];
  }
}

/** Threads of stateless runs that ended before `before`: their frames are past retention and they can go. */
export async function expiredThreads(
  rows: RowReader,
  { before, failedBefore }: { before: number; failedBefore: number },
  limit: number,
): Promise<string[]> {
  const old = 'temporary = 1 AND updated_at < @before';
  if (rows.get(`SELECT 1 AS old FROM threads WHERE ${old} LIMIT 1`, { before }) === undefined) return [];
  const found = await rows.search<{ thread_id: string }>(
    `SELECT thread_id FROM threads WHERE ${old} AND status <> 'busy'
       AND NOT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.thread_id = threads.thread_id
         AND (next_at IS NOT NULL OR (deliveries.status = 'failed' AND deliveries.updated_at >= @failedBefore)))
     LIMIT @limit`,
    { before, failedBefore, limit },
  );
  return found.map((row) => row.thread_id);
}

/** Threads whose import ended before all of it had come. */
export const arrivingThreads = (rows: RowReader): string[] =>
  rows
    .all<{ thread_id: string }>('SELECT thread_id FROM threads WHERE temporary = 2')
    .map((row) => row.thread_id);

/** Threads whose time is over and that nothing holds, longest over first. */
export async function outlivedThreads(
  rows: RowReader,
  now: number,
  limit: number,
): Promise<{ threadId: string; ttl: ThreadTtl }[]> {
  return rows
    .all<ThreadRow>(
      `SELECT * FROM threads WHERE expires_at <= @now AND status <> 'busy' AND temporary <> 2
       ORDER BY expires_at, thread_id LIMIT @limit`,
      { now, limit },
    )
    .map((row) => ({ threadId: row.thread_id, ttl: ttlOf(row)! }));
}

export async function getTtl(rows: RowReader, threadId: string): Promise<ThreadTtl | undefined> {
  const row = rows.get<ThreadRow>('SELECT * FROM threads WHERE thread_id = @threadId', { threadId });
  return (row && ttlOf(row)) ?? undefined;
}

const ttlOf = ({ ttl_strategy: strategy, ttl_minutes: minutes, expires_at }: ThreadRow): ThreadTtl | null =>
  strategy === null || minutes === null
    ? null
    : { strategy: strategy as Ttl['strategy'], minutes, expiresAt: expires_at };

function toRecord(row: ThreadRow): ThreadRecord {
  return {
    threadId: row.thread_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    stateUpdatedAt: row.state_updated_at,
    status: row.status as ThreadStatus,
    metadata: fromStored(row.metadata, 'metadata of thread', row.thread_id) as JsonObject,
    head: row.head,
    interrupts: fromStored(row.interrupts, 'interrupts of thread', row.thread_id) as JsonObject,
    error: row.error === null ? null : (fromStored(row.error, 'error of thread', row.thread_id) as Json),
    ttl: ttlOf(row),
    title: row.title,
  };
}

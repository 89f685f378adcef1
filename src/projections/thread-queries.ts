/** Reads threads. A thread of a stateless run is seen only while that run is open, and never once it ended. */
import type { Json, JsonObject } from '../kernel/json.ts';
import type { PayloadReader } from '../log/payloads.ts';
import type { Cell, RowReader } from '../log/rows.ts';
import type { Ttl } from '../thread/events.ts';
import { conditionOf, whereAllowed, whereContains, type AccessFilter, type Where } from './filters.ts';
import type { ThreadStatus } from './threads.ts';

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
}

export interface ThreadTtl extends Ttl {
  /** Milliseconds since 1970; null when the thread was pruned and no run has ended since. */
  readonly expiresAt: number | null;
}

export const THREAD_SORTS = ['thread_id', 'status', 'created_at', 'updated_at', 'state_updated_at'] as const;

export interface ThreadSearch {
  readonly ids?: readonly string[];
  readonly metadata?: JsonObject;
  /** Contained in the thread's values; a thread without values has none. */
  readonly values?: JsonObject;
  readonly status?: ThreadStatus;
  readonly sortBy: (typeof THREAD_SORTS)[number];
  readonly sortOrder: 'asc' | 'desc';
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
}

const VISIBLE = "(temporary = 0 OR status = 'busy')";

export async function getThread(
  rows: RowReader,
  threadId: string,
  filter?: AccessFilter,
): Promise<ThreadRecord | undefined> {
  const where: Where = { clauses: ['thread_id = @id', VISIBLE], params: { id: threadId } };
  whereAllowed(where, 'metadata', filter);
  const row = rows.get<ThreadRow>(`SELECT * FROM threads WHERE ${conditionOf(where)}`, where.params);
  return row && toRecord(row);
}

/** The matches of one page, and how many there are in all. */
export async function searchThreads(
  { rows, payloads }: { rows: RowReader; payloads: PayloadReader },
  search: ThreadSearch,
  filter?: AccessFilter,
): Promise<{ threads: ThreadRecord[]; total: number }> {
  const where: Where = { clauses: [VISIBLE], params: {} };
  if (search.ids !== undefined && search.ids.length > 0) {
    where.clauses.push('thread_id IN (SELECT value FROM json_each(@ids))');
    where.params['ids'] = JSON.stringify(search.ids);
  }
  if (search.status !== undefined) {
    where.clauses.push('status = @status');
    where.params['status'] = search.status;
  }
  whereContains(where, 'metadata', search.metadata);
  whereAllowed(where, 'metadata', filter);
  const condition = conditionOf(where);
  const order = search.sortOrder === 'asc' ? 'ASC' : 'DESC';
  const sorted = `ORDER BY ${search.sortBy} ${order}, created_at ${order}, thread_id ${order}`;
  const { values } = search;
  if (values !== undefined && Object.keys(values).length > 0) {
    const heads = await rows.search<{ thread_id: string; head: string }>(
      `SELECT thread_id, head FROM threads WHERE ${condition} AND head IS NOT NULL ${sorted}`,
      where.params,
    );
    const matches = await payloads.containing(
      heads.map((row) => ({ threadId: row.thread_id, checkpointId: row.head })),
      values,
    );
    const page = matches.slice(search.offset, search.offset + search.limit);
    const found = page.flatMap(
      (id) => rows.get<ThreadRow>('SELECT * FROM threads WHERE thread_id = @id', { id }) ?? [],
    );
    return { threads: found.map(toRecord), total: matches.length };
  }
  const found = await rows.search<ThreadRow>(
    `SELECT * FROM threads WHERE ${condition} ${sorted} LIMIT @limit OFFSET @offset`,
    { ...where.params, limit: search.limit, offset: search.offset },
  );
  const [count] = await rows.search<{ n: number }>(
    `SELECT count(*) AS n FROM threads WHERE ${condition}`,
    where.params,
  );
  return { threads: found.map(toRecord), total: count!.n };
}

/** Threads of stateless runs that ended before `before`: their frames are past retention and they can go. */
export async function expiredThreads(rows: RowReader, before: number, limit: number): Promise<string[]> {
  return rows
    .all<{ thread_id: string }>(
      `SELECT thread_id FROM threads WHERE temporary = 1 AND status <> 'busy' AND updated_at < @before LIMIT @limit`,
      { before, limit },
    )
    .map((row) => row.thread_id);
}

/** Threads whose time is over and that nothing holds, longest over first. */
export async function outlivedThreads(
  rows: RowReader,
  now: number,
  limit: number,
): Promise<{ threadId: string; ttl: ThreadTtl }[]> {
  return rows
    .all<ThreadRow>(
      `SELECT * FROM threads WHERE expires_at <= @now AND status <> 'busy'
       ORDER BY expires_at, thread_id LIMIT @limit`,
      { now, limit },
    )
    .map((row) => ({ threadId: row.thread_id, ttl: ttlOf(row)! }));
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
    metadata: JSON.parse(row.metadata) as JsonObject,
    head: row.head,
    interrupts: JSON.parse(row.interrupts) as JsonObject,
    error: row.error === null ? null : (JSON.parse(row.error) as Json),
    ttl: ttlOf(row),
  };
}

import { parseFilter } from '../../../kernel/filter-syntax.ts';
import type { Filter } from '../../../kernel/filter.ts';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import { fromStored } from '../../../kernel/stored-json.ts';
import type { PayloadReader } from '../../port/payloads.ts';
import type { Cell, Row } from '../../port/rows.ts';
import type { ThreadRecord, ThreadStatus, ThreadTtl, ThreadViews } from '../../port/views/threads.ts';
import type { ThreadEventMap, Ttl } from '../../../thread/events.ts';
import { questionsOf, runEndOf } from '../../../thread/run-end.ts';
import type { Ask, Scan } from '../ask.ts';
import { VISIBLE } from '../rows/thread-index.ts';
import { projectThread } from '../rows/threads.ts';
import { selectThreads } from './any-thread.ts';
import { passes } from './filters.ts';
import { answerCount, answerPage, planThreads, type ThreadPlan } from './thread-plan.ts';

interface ThreadRow {
  [column: string]: Cell;
  thread_id: string;
  created_at: number;
  updated_at: number;
  state_updated_at: number | null;
  status: string;
  settled: string;
  metadata: string;
  head: string | null;
  interrupts: string;
  error: string | null;
  ttl_strategy: string | null;
  ttl_minutes: number | null;
  expires_at: number | null;
  title: string | null;
}

/** Totals of pages are exact up to this. */
const MAX_TOTAL = 10_000;

/** `containing`: finds threads by their values. `few`: candidates that are sorted. */
export function threadViews(ask: Ask, containing: PayloadReader['containing'], few?: number): ThreadViews {
  const byId = async (id: string): Promise<ThreadRow[]> =>
    ask.all<ThreadRow>(selectThreads('t.thread_id = @id'), { id });

  /** No index knows values: those of every candidate are looked at. */
  async function withValues(plan: ThreadPlan, wanted: Filter): Promise<string[]> {
    // A thread that changes meanwhile may come twice.
    const matches = new Set<string>();
    for (let offset = 0; ; offset += WINDOW_ROWS) {
      const { rows } = await answerPage<ThreadRow>(ask, plan, {
        ...{ limit: WINDOW_ROWS, offset, cap: 0 },
      });
      const candidates = rows.flatMap(({ thread_id: threadId, head }) =>
        head === null ? [] : [{ threadId, checkpointId: head }],
      );
      for (const id of await containing(candidates, wanted)) matches.add(id);
      if (rows.length < WINDOW_ROWS) return [...matches];
    }
  }

  return {
    made([event, ...more]) {
      if (event?.type !== 'ThreadCreated' || more.length > 0) return undefined;
      const [write] = projectThread(event);
      return write?.op === 'put' ? toThread(write.row) : undefined;
    },
    async get(threadId, filter) {
      const sql = selectThreads(`t.thread_id = @threadId AND ${VISIBLE}`);
      const row = await ask.get<ThreadRow>(sql, { threadId });
      return row && passes(row.metadata, filter) ? toRecord(row) : undefined;
    },
    async search({ limit, offset, values, ...wanted }, filter) {
      const plan = await planThreads(ask, wanted, filter, few);
      if (hasMembers(values)) {
        const matches = await withValues(plan, parseFilter(values, 'part'));
        const found: ThreadRow[] = [];
        for (const id of matches.slice(offset, offset + limit)) found.push(...(await byId(id)));
        return { threads: found.map(toRecord), total: matches.length };
      }
      const cap = Math.max(MAX_TOTAL, offset + limit + 1);
      const { rows, total } = await answerPage<ThreadRow>(ask, plan, { limit, offset, cap });
      return { threads: rows.map(toRecord), total };
    },
    async count({ values, ...wanted }, filter) {
      const plan = await planThreads(ask, { ...wanted, sortBy: 'thread_id', sortOrder: 'asc' }, filter, few);
      if (hasMembers(values)) return (await withValues(plan, parseFilter(values, 'part'))).length;
      return answerCount(ask, plan, Number.MAX_SAFE_INTEGER);
    },
    async ttl(threadId) {
      const [row] = await byId(threadId);
      return (row && ttlOf(row)) ?? undefined;
    },
    async leftBy({ threadId, outcome, attempt, head }: ThreadEventMap['RunCompleted']) {
      const { thread: status } = runEndOf(outcome, { attempt, head });
      if (status !== 'as-before') return { status, interrupts: questionsOf(outcome) };
      const [row] = await byId(threadId);
      return row && { status: row.settled as ThreadStatus, interrupts: interruptsOf(row) };
    },
    async outlived(now, limit) {
      const found = await ask.all<ThreadRow>(
        `SELECT * FROM threads WHERE expires_at <= @now AND status <> 'busy'
         ORDER BY expires_at, thread_id LIMIT @limit`,
        { now, limit },
      );
      return found.map((row) => ({ threadId: row.thread_id, ttl: ttlOf(row)! }));
    },
    async expired(than, limit) {
      // A server that never searches has no reader thread, which takes 10 MB.
      const sql = `SELECT 1 AS old FROM threads WHERE ${OLD} UNION ALL SELECT 1 FROM runs WHERE ${OLD_CARRIED} LIMIT 1`;
      if ((await ask.get(sql, { before: than.before })) === undefined) return [];
      return ask.scan(EXPIRED, than, limit);
    },
  };
}

/** Candidates whose values are compared between two reads. */
const WINDOW_ROWS = 5_000;

const hasMembers = (values: JsonObject | undefined): values is JsonObject =>
  values !== undefined && Object.keys(values).length > 0;

const OLD = 'temporary = 1 AND updated_at < @before';
const OLD_CARRIED = "thread_status <> 'busy' AND thread_updated_at < @before";

export const EXPIRED: Scan<[{ before: number; failedBefore: number }, number], string[]> = {
  name: 'threads.expired',
  async answer(ask, { before, failedBefore }, limit) {
    const found = await ask.all<ThreadRow>(
      `SELECT thread_id FROM (
         SELECT thread_id, updated_at FROM threads WHERE ${OLD} AND status <> 'busy'
         UNION ALL SELECT thread_id, thread_updated_at FROM runs WHERE ${OLD_CARRIED}) AS old
       WHERE NOT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.thread_id = old.thread_id
         AND (next_at IS NOT NULL OR (deliveries.status = 'failed' AND deliveries.updated_at >= @failedBefore)))
       ORDER BY updated_at, thread_id LIMIT @limit`,
      { before, failedBefore, limit },
    );
    return found.map((row) => row.thread_id);
  },
};

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
    interrupts: interruptsOf(row),
    error: row.error === null ? null : (fromStored(row.error, 'error of thread', row.thread_id) as Json),
    ttl: ttlOf(row),
    title: row.title,
  };
}

const interruptsOf = (row: ThreadRow): JsonObject =>
  fromStored(row.interrupts, 'interrupts of thread', row.thread_id) as JsonObject;

/** Undefined for a row that no client sees. */
export const toThread = (row: Row): ThreadRecord | undefined =>
  row['temporary'] === 0 || row['status'] === 'busy' ? toRecord(row as ThreadRow) : undefined;

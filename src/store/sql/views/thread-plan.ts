/**
 * How a search for threads is answered. A capped count picks the arm: where few threads have a pair of the filter, or
 * the status, these are the candidates and are sorted; else all threads are walked in the order of an index until the
 * page is full, and each is asked for the pairs. What pairs do not say is judged row by row. Threads that runs carry are
 * seen while they are in the queue: one arm more looks at these.
 */
import type { Filter } from '../../../kernel/filter.ts';
import type { Row } from '../../port/rows.ts';
import { THREAD_STATUSES, type ThreadConditions, type ThreadSearch } from '../../port/views/threads.ts';
import type { Ask, Params, Points, Scan } from '../ask.ts';
import { UNINDEXED } from '../rows/metadata-pairs.ts';
import { VISIBLE } from '../rows/thread-index.ts';
import { selectThreads } from './any-thread.ts';
import { judge, metadataFilter, passes } from './filters.ts';
import { narrow } from './thread-pairs.ts';

interface Query {
  readonly sql: string;
  readonly params: Params;
}

interface JudgedQuery extends Query {
  readonly filter: Filter;
}

interface NearQuery extends Query {
  /** It looks at so few rows that the event loop can wait for it. */
  readonly isNear: boolean;
}

export interface ThreadPlan {
  page(limit: number, offset: number): NearQuery;
  /** Column `n`: how many match, at most `cap`. */
  total(cap: number): NearQuery;
  /** Candidates that have to pass the filter, for a page and for a total; the others are not for these. */
  readonly judged: { readonly page: JudgedQuery; readonly total: JudgedQuery } | undefined;
}

/** Candidates that are sorted, and rows that are walked on the event loop: 2 ms at worst. */
const FEW = 2_000;
/** The text of a query may not grow with what a client sends. */
const MAX_CLAUSES = 4;

/** The last key makes each order total. */
const KEYS: Record<ThreadSearch['sortBy'], readonly string[]> = {
  thread_id: ['t.thread_id'],
  status: ['t.status', 't.updated_at', 't.thread_id'],
  created_at: ['t.created_at', 't.thread_id'],
  updated_at: ['t.updated_at', 't.thread_id'],
  // NULL has no place that all engines agree on.
  state_updated_at: ['coalesce(t.state_updated_at, 0)', 't.thread_id'],
};

type Wanted = Pick<ThreadConditions, 'ids' | 'metadata' | 'status'> &
  Pick<ThreadSearch, 'sortBy' | 'sortOrder'>;

export async function planThreads(
  ask: Ask,
  wanted: Wanted,
  access: Filter = [],
  few = FEW,
): Promise<ThreadPlan> {
  const { status, sortBy } = wanted;
  const { holders, holds, carries, oneOf } = ask.dialect;
  const ids = wanted.ids === undefined || wanted.ids.length === 0 ? undefined : wanted.ids;
  const filter = [...metadataFilter(wanted.metadata), ...access];
  const { clauses, isExact } = ids ? { clauses: [], isExact: filter.length === 0 } : narrow(filter);
  const count = async (sql: string, params: Params): Promise<number> =>
    (await ask.get<{ n: number }>(`SELECT count(*) AS n FROM (${sql} LIMIT ${few + 1}) AS found`, params))!.n;

  // The index only narrows if some threads have too many pairs to be in it.
  const isPartial = clauses.length > 0 && (await count(holders('pairs'), { pairs: [UNINDEXED] })) > 0;
  const counted: { pairs: readonly string[]; n: number }[] = [];
  for (const clause of clauses.slice(0, MAX_CLAUSES)) {
    const pairs = isPartial ? [...clause, UNINDEXED] : clause;
    counted.push({ pairs, n: await count(holders('pairs'), { pairs }) });
  }
  counted.sort((a, b) => a.n - b.n);
  const ofPairs = counted[0]?.n ?? Infinity;
  const ofStatus =
    status === undefined
      ? Infinity
      : await count(`SELECT 1 FROM threads AS t WHERE ${VISIBLE} AND t.status = @status`, { status });
  const isCarriedSeen = status === undefined || status === 'busy';
  const isQueueShort = !isCarriedSeen || (await count('SELECT 1 FROM queue', {})) <= few;
  const isFew = ids ? ids.length <= FEW : Math.min(ofPairs, ofStatus) <= few;
  const isJudged = !isExact || isPartial || clauses.length > MAX_CLAUSES;
  const params: Params = {
    ...(ids !== undefined && { ids }),
    ...Object.fromEntries(counted.map(({ pairs }, at) => [`pairs${at}`, pairs])),
    ...(status !== undefined && { status }),
  };

  /** Conditions on a thread; those of `by` find candidates. */
  function conditions(by: 'pair' | 'status' | 'order'): string[] {
    // An expression is no column of an index: candidates are found in another way.
    const isStatus = by === 'status' && !ids ? 't.status = @status' : "t.status || '' = @status";
    return [
      VISIBLE,
      ...(ids ? [oneOf('t.thread_id', 'ids')] : []),
      ...counted.map((_, at) =>
        at === 0 && by === 'pair' ? `t.thread_id IN (${holders('pairs0')})` : holds(`pairs${at}`),
      ),
      ...(status === undefined ? [] : [isStatus]),
    ];
  }

  const carried = `carried_threads AS t WHERE ${[
    ...['t.thread_id IN (SELECT thread_id FROM queue)', isCarriedSeen ? "t.status = 'busy'" : '1 = 0'],
    ...(ids ? [oneOf('t.thread_id', 'ids')] : []),
    ...counted.map((_, at) => carries(`pairs${at}`)),
  ].join(' AND ')}`;

  const order = wanted.sortOrder === 'asc' ? 'ASC' : 'DESC';
  const keys = KEYS[sortBy];
  function candidates(columns: string): string {
    const isByPair = isFew && !ids && ofPairs <= ofStatus;
    const isByStatus = isFew || sortBy.endsWith('updated_at');
    const where = conditions(isByPair ? 'pair' : isByStatus ? 'status' : 'order');
    // The index by change begins with the status: four walks are merged.
    const isMerged = !isFew && sortBy === 'updated_at' && status === undefined;
    const arms = isMerged ? THREAD_STATUSES.map((each) => [`t.status = '${each}'`, ...where]) : [where];
    const selected = [columns, ...keys.map((key, at) => `${key} AS k${at}`)].join();
    const sql = arms.map((arm) => `SELECT ${selected} FROM threads AS t WHERE ${arm.join(' AND ')}`);
    sql.push(`SELECT ${selected} FROM ${carried}`);
    return `${sql.join(' UNION ALL ')} ORDER BY ${keys.map((_, at) => `k${at} ${order}`).join()}`;
  }

  /** In no order. */
  const counts = (): string =>
    `threads AS t WHERE ${conditions(ofPairs <= ofStatus ? 'pair' : 'status').join(' AND ')}`;

  return {
    page(limit, offset) {
      const isWalked =
        counted.length === 0 &&
        limit + offset <= FEW &&
        sortBy !== 'state_updated_at' &&
        (status === undefined || sortBy === 'updated_at');
      return {
        sql: `${candidates('t.thread_id')} LIMIT @limit OFFSET @offset`,
        params: { ...params, limit, offset },
        isNear: isQueueShort && (isFew || isWalked),
      };
    },
    total(cap) {
      const isOnlyPair = counted.length === 1 && counted[0]!.pairs.length === 1 && status === undefined;
      const found = isOnlyPair ? holders('pairs0') : `SELECT t.thread_id FROM ${counts()}`;
      return {
        sql: `SELECT count(*) AS n FROM (${found} UNION ALL SELECT t.thread_id FROM ${carried} LIMIT @cap) AS found`,
        params: { ...params, cap },
        isNear: isQueueShort && (isFew || ((isOnlyPair || counted.length === 0) && cap <= 10 * FEW)),
      };
    },
    judged: isJudged
      ? {
          page: { sql: candidates('t.thread_id, t.metadata'), params, filter },
          total: {
            sql: `SELECT t.metadata FROM ${counts()} UNION ALL SELECT t.metadata FROM ${carried}`,
            params,
            filter,
          },
        }
      : undefined,
  };
}

interface Asked {
  readonly limit: number;
  readonly offset: number;
  readonly cap: number;
}

/** A page in its order, and how many match in all, at most `cap`. */
export async function answerPage<R extends Row>(
  ask: Ask,
  plan: ThreadPlan,
  asked: Asked,
): Promise<{ rows: R[]; total: number }> {
  const { limit, offset, cap } = asked;
  if (plan.judged !== undefined)
    return ask.scan(JUDGED, plan.judged.page, asked) as Promise<{ rows: R[]; total: number }>;
  const page = plan.page(limit, offset);
  const rows = (await (page.isNear ? PAGE.answer(ask, page) : ask.scan(PAGE, page))) as R[];
  // A page that is not full is the last one and tells the number by itself.
  const isLast = rows.length < limit && (rows.length > 0 || offset === 0);
  return { rows, total: isLast || cap === 0 ? offset + rows.length : await answerCount(ask, plan, cap) };
}

export async function answerCount(ask: Ask, plan: ThreadPlan, cap: number): Promise<number> {
  if (plan.judged !== undefined)
    return (await ask.scan(JUDGED, plan.judged.total, { limit: 0, offset: 0, cap })).total;
  const total = plan.total(cap);
  return total.isNear ? TOTAL.answer(ask, total) : ask.scan(TOTAL, total);
}

export const PAGE: Scan<[Query], Row[], Points> = {
  name: 'threads.page',
  answer: async (ask, { sql, params }) => readThreads(ask, await ask.all(sql, params)),
};

export const TOTAL: Scan<[Query], number, Points> = {
  name: 'threads.total',
  answer: async (ask, { sql, params }) => (await ask.get<{ n: number }>(sql, params))!.n,
};

export const JUDGED: Scan<[JudgedQuery, Asked], { rows: Row[]; total: number }> = {
  name: 'threads.judged',
  async answer(ask, { filter, ...query }, asked) {
    const isMatch = ({ metadata }: Row): boolean => passes(metadata, filter);
    const { rows, total } = await judge(ask, query, isMatch, asked);
    return { rows: await readThreads(ask, rows), total };
  },
};

/** Whole rows of the threads that the rows name, in their order. */
async function readThreads(ask: Points, rows: readonly Row[]): Promise<Row[]> {
  const ids = rows.map((row) => row['thread_id'] as string);
  const sql = selectThreads(ask.dialect.oneOf('t.thread_id', 'ids'));
  const byId = new Map((await ask.all(sql, { ids })).map((row) => [row['thread_id'] as string, row]));
  return ids.map((id) => byId.get(id)).filter((row) => row !== undefined);
}

/**
 * How a search for threads is answered. A capped count picks the arm: where few threads have a pair of the filter, or
 * the status, these are the candidates and are sorted; else all threads are walked in the order of an index until the
 * page is full, and each is asked for the pairs.
 */
import type { Filter } from '../../../kernel/filter.ts';
import type { Cell, RowReader } from '../../port/rows.ts';
import { UNINDEXED } from '../rows/metadata-pairs.ts';
import { VISIBLE } from '../rows/thread-index.ts';
import { THREAD_STATUSES } from '../rows/threads.ts';
import { metadataFilter } from './filters.ts';
import type { ThreadConditions } from './thread-conditions.ts';
import { narrow, type Clause } from './thread-pairs.ts';

export interface Query {
  readonly sql: string;
  readonly params: Readonly<Record<string, Cell>>;
  /** It looks at so few rows that the event loop can wait for it. */
  readonly isNear: boolean;
}

export interface ThreadPlan {
  /** These columns of the matches, in their order. */
  page(columns: string, limit: number, offset: number): Query;
  /** Column `n`: how many match, at most `cap`. */
  total(cap: number): Query;
}

/** Candidates that are sorted, and rows that are walked on the event loop: 2 ms at worst. */
export const FEW = 2_000;
/** The text of a query may not grow with what a client sends. */
const MAX_CLAUSES = 4;

const holders = (name: string): string =>
  `SELECT DISTINCT thread_id FROM thread_pairs WHERE pair IN (SELECT value FROM json_each(@${name}))`;
const holds = (name: string): string =>
  `EXISTS (SELECT 1 FROM thread_pairs AS held WHERE held.thread_id = t.thread_id AND held.pair IN (SELECT value FROM json_each(@${name})))`;

/** The last key makes each order total. */
const KEYS = {
  thread_id: ['t.thread_id'],
  status: ['t.status', 't.updated_at', 't.thread_id'],
  created_at: ['t.created_at', 't.thread_id'],
  updated_at: ['t.updated_at', 't.thread_id'],
  // NULL has no place that all engines agree on.
  state_updated_at: ['coalesce(t.state_updated_at, 0)', 't.thread_id'],
} as const;

export function planThreads(
  rows: RowReader,
  wanted: ThreadConditions,
  access: Filter = [],
  most = FEW,
): ThreadPlan {
  const { ids, status, sortBy } = wanted;
  const filter = [...metadataFilter(wanted.metadata), ...access];
  const isNamed = ids !== undefined && ids.length > 0;
  const { clauses, isExact } = isNamed ? { clauses: [], isExact: filter.length === 0 } : narrow(filter);
  const few = (sql: string, params: Query['params']): number =>
    rows.get<{ n: number }>(`SELECT count(*) AS n FROM (${sql} LIMIT ${most + 1}) AS found`, params)!.n;

  // The index only narrows if some threads have too many pairs to be in it.
  const isPartial = clauses.length > 0 && few(holders('pairs'), { pairs: JSON.stringify([UNINDEXED]) }) > 0;
  const counted = clauses
    .slice(0, MAX_CLAUSES)
    .map((clause: Clause) => JSON.stringify(isPartial ? [...clause, UNINDEXED] : clause))
    .map((pairs) => ({ pairs, n: few(holders('pairs'), { pairs }) }))
    .sort((a, b) => a.n - b.n);
  const [rarest] = counted;
  const ofStatus =
    status === undefined
      ? Infinity
      : few(`SELECT 1 FROM threads AS t WHERE ${VISIBLE} AND t.status = @status`, { status });

  const isJudged = !isExact || isPartial || clauses.length > MAX_CLAUSES;
  const isFew = isNamed ? ids.length <= FEW : Math.min(rarest?.n ?? Infinity, ofStatus) <= most;
  const byPair = !isNamed && isFew && rarest !== undefined && rarest.n <= ofStatus;
  // An expression is no column of an index: candidates are found in another way.
  const isStatus = (indexed: boolean): string =>
    indexed ? 't.status = @status' : "t.status || '' = @status";
  const conditions = (pairs: readonly string[], indexed: boolean): string[] => [
    VISIBLE,
    ...(isNamed ? ['t.thread_id IN (SELECT value FROM json_each(@ids))'] : []),
    ...pairs,
    ...(status === undefined ? [] : [isStatus(indexed && !isNamed)]),
    ...(isJudged ? ['filter_matches(t.metadata, @filter)'] : []),
  ];
  const among = `t.thread_id IN (${holders('pairs0')})`;
  const rest = counted.slice(1).map((_, at) => holds(`pairs${at + 1}`));
  const params = {
    ...(isNamed && { ids: JSON.stringify(ids) }),
    ...Object.fromEntries(counted.map(({ pairs }, at) => [`pairs${at}`, pairs])),
    ...(status !== undefined && { status }),
    ...(isJudged && { filter: JSON.stringify(filter) }),
  };

  return {
    page(columns, limit, offset) {
      const order = wanted.sortOrder === 'asc' ? 'ASC' : 'DESC';
      const keys = KEYS[sortBy];
      const from = conditions(
        rarest === undefined ? [] : [byPair ? among : holds('pairs0'), ...rest],
        !byPair && (isFew || sortBy.endsWith('updated_at')),
      );
      const selected = keys.map((key, at) => `${key} AS k${at}`).join();
      // The index by change begins with the status: four walks are merged.
      const isMerged = !isFew && sortBy === 'updated_at' && status === undefined;
      const arms = (isMerged ? THREAD_STATUSES.map((each) => [`t.status = '${each}'`]) : [[]]).map(
        (more) =>
          `SELECT t.thread_id, ${selected} FROM threads AS t WHERE ${[...more, ...from].join(' AND ')}`,
      );
      const by = (prefix: string): string => keys.map((_, at) => `${prefix}k${at} ${order}`).join();
      const isWalked = rarest === undefined && sortBy !== 'state_updated_at' && limit + offset <= FEW;
      return {
        sql: `WITH page AS (${arms.join(' UNION ALL ')} ORDER BY ${by('')} LIMIT @limit OFFSET @offset)
          SELECT ${columns} FROM page CROSS JOIN threads AS t WHERE t.thread_id = page.thread_id ORDER BY ${by('page.')}`,
        params: { ...params, limit, offset },
        isNear: !isJudged && (isFew || (isWalked && (status === undefined || sortBy === 'updated_at'))),
      };
    },
    total(cap) {
      const isOnlyPair = counted.length === 1 && !isNamed && !isJudged && status === undefined;
      const isPair = rarest !== undefined && rarest.n <= ofStatus;
      const from = conditions(
        rarest === undefined ? [] : [isPair ? among : holds('pairs0'), ...rest],
        !isPair,
      );
      const found = isOnlyPair ? holders('pairs0') : `SELECT 1 FROM threads AS t WHERE ${from.join(' AND ')}`;
      return {
        sql: `SELECT count(*) AS n FROM (${found} LIMIT @cap) AS found`,
        params: { ...params, cap },
        isNear: !isJudged && (isFew || ((isOnlyPair || rarest === undefined) && cap <= 10 * FEW)),
      };
    },
  };
}

/**
 * How a search for threads is answered: which index is walked, what is tried on each candidate, and whether that is
 * little enough for the event loop.
 *
 * Orders are walked and not sorted where an index has them: by change (also within a status, within a pair, or both)
 * and by creation (also within a pair). The index by change begins with the status, so all statuses are four walks
 * that SQLite merges as it goes. Indexes are named, because without statistics SQLite would have to guess.
 */
import type { Filter } from '../../../kernel/filter.ts';
import type { Cell, RowReader } from '../../port/rows.ts';
import type { ThreadConditions } from './thread-conditions.ts';
import { VISIBLE } from '../rows/thread-index.ts';
import { surveyThreads, type Survey } from './thread-survey.ts';
import { THREAD_STATUSES } from '../rows/threads.ts';

export interface Query {
  readonly sql: string;
  readonly params: Readonly<Record<string, Cell>>;
  /** It looks at so few rows that the event loop can wait for it. */
  readonly bounded: boolean;
}

export interface ThreadPlan {
  /** These columns of the matches, in their order; a `limit` of -1 is none. */
  page(columns: string, limit: number, offset: number): Query;
  /** How many match: known, or to be counted (column `n`). */
  total(): number | Query;
}

/** What the event loop may do at once, in index entries: some 10 ms. */
const BOUND = 10_000;
const COST = { probe: 3, row: 5, call: 30 } as const;

/** Rows to take in turn from one index. `sorted`: they come in the order that was asked for. */
interface Arms {
  readonly from: readonly string[];
  readonly keys: readonly string[];
  readonly sorted: boolean;
  /** A condition that the index does not answer is tried on each. */
  readonly tries: boolean;
}

export function planThreads(
  rows: RowReader,
  wanted: ThreadConditions,
  filter: Filter | undefined,
): ThreadPlan {
  const survey = surveyThreads(rows, wanted, filter);
  const { params } = survey;
  const order = wanted.sortOrder === 'asc' ? 'ASC' : 'DESC';
  const perCandidate =
    1 + COST.probe * survey.probes.length + (survey.tests.length > 0 ? COST.row + COST.call : 0);

  function page(columns: string, limit: number, offset: number): Query {
    const { from, keys, sorted, tries } = armsFor(wanted, survey);
    const candidates = survey.candidates;
    const reach = limit < 0 ? candidates : Math.min(candidates, limit + offset);
    const looked = sorted && !tries ? reach : candidates * (tries ? Math.max(perCandidate, COST.row) : 1);
    const names = [...keys.map((_, index) => `k${index}`), 'seq'];
    const selected = [...keys.map((key, index) => `${key} AS k${index}`), 'd.seq AS seq'].join();
    const arms = from.map((arm) => `SELECT ${selected} FROM ${arm}`).join(' UNION ALL ');
    const by = (prefix: string): string => names.map((name) => `${prefix}${name} ${order}`).join();
    return {
      sql: `WITH page AS (${arms} ORDER BY ${by('')} LIMIT @limit OFFSET @offset)
        SELECT ${columns} FROM page CROSS JOIN threads ON threads.seq = page.seq ORDER BY ${by('page.')}`,
      params: { ...params, limit, offset },
      bounded: looked + Math.min(reach, limit < 0 ? reach : limit) * COST.row <= BOUND,
    };
  }

  function total(): number | Query {
    const known = knownTotal(wanted, survey);
    if (known !== undefined) return known;
    // Each of them in no order: then the table itself is read, not an index and the row to each of its entries.
    const isEach = wanted.status === undefined && survey.drivers.length === 0 && !survey.ids;
    const arms = isEach
      ? [`threads AS d NOT INDEXED WHERE ${clauses(VISIBLE, ...survey.tests.map((test) => test('d')))}`]
      : sourceArms(wanted, survey, [wanted.status]);
    const counted = arms.map((arm) => `SELECT count(*) AS n FROM ${arm}`).join(' UNION ALL ');
    return {
      sql: `SELECT sum(n) AS n FROM (${counted})`,
      params,
      bounded: survey.candidates * perCandidate <= BOUND,
    };
  }

  return { page, total };
}

function knownTotal({ status }: ThreadConditions, survey: Survey): number | undefined {
  if (survey.ids || survey.tests.length + survey.probes.length > 0 || survey.drivers.length > 1)
    return undefined;
  const [driver] = survey.drivers;
  if (driver === undefined) return survey.candidates;
  return status === undefined || survey.candidates === 0 ? survey.candidates : undefined;
}

function armsFor(wanted: ThreadConditions, survey: Survey): Arms {
  const { status, sortBy } = wanted;
  const hasDriver = survey.drivers.length > 0;
  const tries = survey.tests.length + survey.probes.length > 0;
  const statuses = status === undefined ? THREAD_STATUSES : [status];
  const one = [status];
  // The index by change over all threads has the time of creation before `seq`.
  const byChange = hasDriver ? ['d.updated_at'] : ['d.updated_at', 'd.created_at'];
  if (survey.ids)
    return { from: sourceArms(wanted, survey, one), keys: [`d.${sortBy}`], sorted: false, tries: true };
  switch (sortBy) {
    case 'updated_at':
      return { from: sourceArms(wanted, survey, statuses), keys: byChange, sorted: true, tries };
    case 'status':
      return {
        from: sourceArms(wanted, survey, one),
        keys: ['d.status', ...byChange],
        sorted: true,
        tries,
      };
    case 'created_at':
      // Few of one status: both indexes by change carry the time of creation, so sorting them costs less than a walk.
      if (status !== undefined && survey.candidates <= BOUND)
        return { from: sourceArms(wanted, survey, one), keys: ['d.created_at'], sorted: false, tries };
      return {
        from: hasDriver ? originArms(wanted, survey) : [creationArm(wanted, survey)],
        keys: ['d.created_at'],
        sorted: true,
        tries: tries || status !== undefined,
      };
    case 'thread_id':
    case 'state_updated_at': {
      const from = hasDriver
        ? sourceArms(wanted, survey, one, 'thread_pairs AS d JOIN threads AS t ON t.seq = d.seq')
        : [
            `threads AS d WHERE ${clauses(VISIBLE, statusIs('d', status), ...survey.tests.map((t) => t('d')))}`,
          ];
      return {
        from,
        keys: [`${hasDriver ? 't' : 'd'}.${sortBy}`],
        sorted: !hasDriver && sortBy === 'thread_id',
        tries: tries || hasDriver || status !== undefined || sortBy !== 'thread_id',
      };
    }
  }
}

const clauses = (...parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined).join(' AND ');

/** Statuses are words of this program. */
const statusIs = (alias: string, status: string | undefined): string | undefined =>
  status === undefined ? undefined : `${alias}.status = '${status}'`;

/** By change: one arm for each status (undefined: all of them in one) and driver. */
function sourceArms(
  wanted: ThreadConditions,
  survey: Survey,
  statuses: readonly (string | undefined)[],
  pairs = 'thread_pairs AS d',
): string[] {
  const { ids, drivers, probes, tests } = survey;
  const onRow = tests.map((test) => test('d'));
  if (ids)
    return [
      `threads AS d WHERE ${clauses('d.thread_id IN (SELECT value FROM json_each(@ids))', VISIBLE, statusIs('d', wanted.status), ...onRow)}`,
    ];
  return statuses.flatMap((status) => {
    if (drivers.length === 0)
      return [
        `threads AS d INDEXED BY threads_by_status WHERE ${clauses(VISIBLE, statusIs('d', status), ...onRow)}`,
      ];
    const probed = probes.map(
      (probe) =>
        `EXISTS (SELECT 1 FROM thread_pairs AS o WHERE o.pair = @${probe} AND o.status = d.status AND o.updated_at = d.updated_at AND o.seq = d.seq)`,
    );
    return drivers.map(
      (driver) =>
        `${pairs} WHERE ${clauses(`d.pair = @${driver}`, statusIs('d', status), ...probed, ofThread(tests))}`,
    );
  });
}

/** By creation within a pair; a status is asked of the thread itself. */
function originArms({ status }: ThreadConditions, { drivers, probes, tests }: Survey): string[] {
  const probed = probes.map(
    (probe) =>
      `EXISTS (SELECT 1 FROM thread_origins AS o WHERE o.pair = @${probe} AND o.created_at = d.created_at AND o.seq = d.seq)`,
  );
  const asked = status === undefined ? tests : [() => statusIs('t', status)!, ...tests];
  return drivers.map(
    (driver) => `thread_origins AS d WHERE ${clauses(`d.pair = @${driver}`, ...probed, ofThread(asked))}`,
  );
}

const creationArm = ({ status }: ThreadConditions, { tests }: Survey): string =>
  `threads AS d INDEXED BY threads_by_creation WHERE ${clauses(VISIBLE, statusIs('d', status), ...tests.map((test) => test('d')))}`;

const ofThread = (tests: Survey['tests']): string | undefined =>
  tests.length === 0
    ? undefined
    : `EXISTS (SELECT 1 FROM threads AS t WHERE t.seq = d.seq AND ${clauses(...tests.map((test) => test('t')))})`;

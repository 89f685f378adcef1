/** What is known of a search before it is made: its conditions as SQL, and how many threads they concern at most. */
import type { Filter } from '../../../kernel/filter.ts';
import type { Cell, Row, RowReader } from '../../port/rows.ts';
import { metadataFilter } from './filters.ts';
import { UNINDEXED } from '../rows/metadata-pairs.ts';
import type { ThreadConditions } from './thread-conditions.ts';
import { selectBy } from './thread-selection.ts';
import { THREAD_STATUSES } from '../rows/threads.ts';

export interface Survey {
  /** The search names threads (`@ids`); nothing else is an index then. */
  readonly ids: boolean;
  /** Parameters that hold the pairs whose threads are the candidates; none: all threads are. */
  readonly drivers: readonly string[];
  /** Parameters that hold further pairs which a candidate has to have. */
  readonly probes: readonly string[];
  /** Conditions that functions try on a candidate, given the alias of its row in `threads`. */
  readonly tests: readonly ((alias: string) => string)[];
  /** No more threads than these match without probes and tests; exactly these without a driver or a status. */
  readonly candidates: number;
  readonly params: Readonly<Record<string, Cell>>;
}

/** The text of a query may not grow with what a client sends: further pairs are left to the functions. */
const MAX_PROBES = 3;

export function surveyThreads(
  rows: RowReader,
  { ids, metadata, status }: ThreadConditions,
  access: Filter = [],
): Survey {
  const filter = [...metadataFilter(metadata), ...access];
  if (ids !== undefined && ids.length > 0)
    return {
      ids: true,
      drivers: [],
      probes: [],
      ...testsOf(filter, { ids: JSON.stringify(ids) }),
      candidates: ids.length,
    };

  const { pairs, rest } = selectBy(filter);
  const counts = readCounts(rows, pairs);
  const count = (entry: string): number => counts.get(entry) ?? 0;
  const [rarest, ...others] = [...pairs].sort((a, b) => count(a) - count(b));
  const seen =
    status === undefined ? THREAD_STATUSES.reduce((sum, one) => sum + count(one), 0) : count(status);
  if (rarest === undefined)
    return { ids: false, drivers: [], probes: [], ...testsOf(rest, {}), candidates: seen };

  // Where threads are that no pair finds, pairs only choose candidates and the functions say it all.
  if (count(UNINDEXED) > 0)
    return {
      ids: false,
      drivers: ['driver', 'unindexed'],
      probes: [],
      ...testsOf(filter, { driver: rarest, unindexed: UNINDEXED }),
      candidates: Math.min(seen, count(rarest) + count(UNINDEXED)),
    };
  const probed = others.slice(0, MAX_PROBES);
  const named = Object.fromEntries(probed.map((pair, index) => [`probe${index}`, pair]));
  const isAll = probed.length === others.length;
  return {
    ids: false,
    drivers: ['driver'],
    probes: Object.keys(named),
    ...testsOf(isAll ? rest : filter, { driver: rarest, ...named }),
    candidates: Math.min(seen, count(rarest)),
  };
}

function testsOf(filter: Filter, params: Record<string, Cell>): Pick<Survey, 'tests' | 'params'> {
  if (filter.length === 0) return { tests: [], params };
  return {
    tests: [(alias) => `filter_matches(${alias}.metadata, @filter)`],
    params: { ...params, filter: JSON.stringify(filter) },
  };
}

interface CountRow extends Row {
  readonly entry: string;
  readonly n: number;
}

function readCounts(rows: RowReader, pairs: readonly string[]): ReadonlyMap<string, number> {
  const entries = JSON.stringify([...THREAD_STATUSES, UNINDEXED, ...pairs]);
  return new Map(
    rows
      .all<CountRow>(
        'SELECT entry, n FROM thread_counts WHERE entry IN (SELECT value FROM json_each(@entries))',
        {
          entries,
        },
      )
      .map(({ entry, n }) => [entry, n]),
  );
}

/** Which index answers which query, as SQLite itself says: what looks at every thread or run is named here. */
import assert from 'node:assert/strict';
import type { Filter } from '../../../src/kernel/filter.ts';
import type { Params, RowReader } from '../../../src/store/port/rows.ts';
import { runsOfAssistant } from '../../../src/store/sql/views/assistant-queries.ts';
import { cronsOf, dueCrons, hasPlannedCron, nextDueCron } from '../../../src/store/sql/views/cron-queries.ts';
import {
  deliveriesKeptSince,
  deliveriesOf,
  deliveryLead,
  dueDeliveries,
  dueHosts,
  getDelivery,
  nextDueDelivery,
} from '../../../src/store/sql/views/delivery-queries.ts';
import { hasOldCommands, runsWithOldFrames } from '../../../src/store/sql/views/retention-queries.ts';
import { endOfRun, isRunOpen, mayOweWebhook } from '../../../src/store/sql/views/run-end-queries.ts';
import {
  boundGraph,
  claimableRuns,
  getRun,
  lastStartedRun,
  latestRun,
  listRuns,
  nextDueRun,
  runLead,
  nextRun,
  runningRuns,
} from '../../../src/store/sql/views/run-queries.ts';
import type { ThreadConditions } from '../../../src/store/sql/views/thread-conditions.ts';
import { planThreads } from '../../../src/store/sql/views/thread-plan.ts';
import { expiredThreads, getThread } from '../../../src/store/sql/views/thread-queries.ts';
import { fact } from '../../support/given.ts';
import { batch } from '../../support/batches.ts';
import { suite } from '../../support/suite.ts';
import { withLog } from '../../support/with-log.ts';

const test = suite('projections: plans of queries');

const OWNER: Filter = [{ op: 'equal', key: 'owner', value: 'ann' }];
const PAGE = { limit: 10, offset: 0 };
const LATER = Number.MAX_SAFE_INTEGER;

/** Asks of an open log what each query would do; `plansOf` gives the plan of every statement that `use` makes. */
async function withPlans(
  check: (plansOf: (use: (rows: RowReader) => unknown) => Promise<string[]>) => Promise<void>,
  many = 0,
): Promise<void> {
  await withLog(async ({ log, past }) => {
    const more = Array.from({ length: many }, (_, i) => ({
      stream: `thread-${i}`,
      expected: 0,
      events: [fact.created({ owner: 'ann', plan: 'pro', deep: {} }, false, String(i))],
    }));
    await log.commit(batch(more));
    for (const id of ['a', 'b', 'c']) {
      const events = [fact.created({ owner: 'ann', plan: 'pro' }, false, id)];
      await log.commit(batch([{ stream: `thread-${id}`, expected: 0, events }]));
    }
    // Something is due, or nothing more would be asked.
    const due = [fact.created({}, true, 'd'), fact.runCreated('d'), fact.completed('d')];
    await log.commit(batch([{ stream: 'thread-d', expected: 0, events: due }]));
    await past(({ rows }) =>
      check(async (use) => {
        const plans: string[] = [];
        const explain = (sql: string, params: Params = {}): void => {
          for (const { detail } of rows.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, params))
            plans.push(detail);
        };
        await use({
          all: (sql, params) => (explain(sql, params), rows.all(sql, params)),
          get: (sql, params) => (explain(sql, params), rows.get(sql, params)),
          search: (sql, params) => (explain(sql, params), rows.search(sql, params)),
        });
        return plans;
      }),
    );
  });
}

const NAMED: Record<string, (rows: RowReader) => unknown> = {
  claimableRuns: (rows) => claimableRuns(rows, 1, 10),
  nextDueRun: (rows) => nextDueRun(rows, 1),
  runLead: (rows) => runLead(rows, 1),
  hasOldCommands: (rows) => hasOldCommands(rows, 1),
  runsWithOldFrames: (rows) => runsWithOldFrames(rows, { after: undefined, before: LATER, looked: 10 }),
  getRun: (rows) => getRun(rows, 'r', { threadId: 't', filter: OWNER }),
  endOfRun: (rows) => endOfRun(rows, 'r'),
  mayOweWebhook: (rows) => mayOweWebhook(rows, 'r'),
  isRunOpen: (rows) => isRunOpen(rows, 'r'),
  lastStartedRun: (rows) => lastStartedRun(rows, 't'),
  boundGraph: (rows) => boundGraph(rows, 't'),
  latestRun: (rows) => latestRun(rows, 't'),
  nextRun: (rows) => nextRun(rows, 't', 1),
  listRuns: (rows) => listRuns(rows, { threadId: 't', status: 'success', ...PAGE }, OWNER),
  runsOfAssistant: (rows) => runsOfAssistant(rows, 'a'),
  getThread: (rows) => getThread(rows, 't', OWNER),
  expiredThreads: (rows) => expiredThreads(rows, { before: LATER, failedBefore: 1 }, 10),
  dueHosts: (rows) => dueHosts(rows, 1),
  dueDeliveries: (rows) => dueDeliveries(rows, 'h', 1, 10),
  nextDueDelivery: (rows) => nextDueDelivery(rows, 1),
  deliveriesOf: (rows) => deliveriesOf(rows, 't', 'r'),
  deliveryLead: (rows) => deliveryLead(rows, 1),
  getDelivery: (rows) => getDelivery(rows, 'd', OWNER),
  deliveriesKeptSince: (rows) => deliveriesKeptSince(rows, 1, 10),
  dueCrons: (rows) => dueCrons(rows, 1, 10, ['c']),
  nextDueCron: (rows) => nextDueCron(rows, 1),
  hasPlannedCron: (rows) => hasPlannedCron(rows, 1),
  cronsOfThread: (rows) => cronsOf(rows, { threadId: 't' }),
  cronsOfAssistant: (rows) => cronsOf(rows, { assistantId: 'a' }),
};

/** Runs that have begun and wait for their next attempt: never more than executed at once. */
const FEW = 'SCAN candidate USING INDEX runs_begun';

/** A walk through a whole table or index. `SCAN page` and the like walk what a search found. */
const isScan = (detail: string): boolean =>
  /^SCAN (threads|runs|events|deliveries|crons|candidate|other|d|t|o)\b/.test(detail) && detail !== FEW;

test('no query of executor, sweeper, recovery or routes scans every thread or run', () =>
  withPlans(async (plansOf) => {
    for (const [name, use] of Object.entries(NAMED)) {
      const plans = await plansOf(use);
      assert.ok(plans.length > 0, name);
      assert.deepEqual(plans.filter(isScan), [], name);
    }
    // The exception: all running runs, which are few, are an index of their own.
    assert.deepEqual(await plansOf(runningRuns), ['SCAN runs USING INDEX runs_running']);
  }));

type Wanted = Partial<ThreadConditions>;

const plansOfThreads = (wanted: Wanted, filter?: Filter) => (rows: RowReader) => {
  const plan = planThreads(rows, { sortBy: 'updated_at', sortOrder: 'desc', ...wanted }, filter);
  const queries = [plan.page('t.*', PAGE.limit, PAGE.offset), plan.total(1_000)];
  for (const { sql, params } of queries) rows.all(sql, params);
};

/** Threads, as many as are too many to be sorted. */
async function withManyThreads(check: Parameters<typeof withPlans>[0]): Promise<void> {
  await withPlans(check, 2_100);
}

test('a pair, a status or ids that few threads have are looked up; no search walks the others', () =>
  withPlans(async (plansOf) => {
    const searches: [Wanted, Filter?][] = [
      [{ status: 'idle' }],
      [{}, OWNER],
      [{ status: 'idle' }, OWNER],
      [{ metadata: { plan: 'pro' } }, OWNER],
      [{ metadata: { plan: 'pro', deep: { x: 1 } }, sortBy: 'state_updated_at' }],
      [{}, [{ op: 'any', of: [OWNER, OWNER] }]],
      [{ ids: ['a', 'b'] }],
    ];
    for (const [wanted, filter] of searches)
      assert.deepEqual(
        (await plansOf(plansOfThreads(wanted, filter))).filter(isScan),
        [],
        JSON.stringify(wanted),
      );
  }));

test('searches that many threads match take the newest from an index unsorted', () =>
  withManyThreads(async (plansOf) => {
    const searches: [Wanted, Filter?][] = [
      [{}],
      [{ status: 'idle' }],
      [{ status: 'idle', sortBy: 'created_at' }],
      [{ sortBy: 'created_at' }],
      [{ sortBy: 'thread_id' }],
      [{ sortBy: 'status' }],
      [{}, OWNER],
      [{ status: 'idle' }, OWNER],
      [{ metadata: { plan: 'pro' }, sortBy: 'created_at' }, OWNER],
      [{ metadata: { plan: 'pro', deep: { x: 1 } } }, OWNER],
      [{ metadata: { deep: { x: 1 } } }],
    ];
    for (const [wanted, filter] of searches) {
      const sorted = (await plansOf(plansOfThreads(wanted, filter))).filter((detail) =>
        /TEMP B-TREE FOR ORDER BY/.test(detail),
      );
      assert.deepEqual(sorted, [], JSON.stringify([wanted, filter]));
    }
  }));

test.run();

/** Which index answers which query, as SQLite itself says: what looks at every thread or run is named here. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Filter } from '../../../src/kernel/filter.ts';
import type { Views } from '../../../src/store/port/views/views.ts';
import type { Ask, Params, Walks } from '../../../src/store/sql/ask.ts';
import { withCarrier } from '../../../src/thread/carrier.ts';
import { planThreads } from '../../../src/store/sql/views/thread-plan.ts';
import { createViews } from '../../../src/store/sql/views/views.ts';
import { withOwnScans } from '../../../src/store/sql/ask.ts';
import { createAsk } from '../../../src/store/sqlite/ask.ts';
import { openConnection } from '../../../src/store/sqlite/connection.ts';
import { LOG_FILE } from '../../../src/store/sqlite/log.ts';
import { createStatements } from '../../../src/store/sqlite/statements.ts';
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
  check: (plansOf: (use: (ask: Ask) => unknown) => Promise<string[]>) => Promise<void>,
  many = 0,
): Promise<void> {
  await withLog(async ({ log, dir }) => {
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
    const due = withCarrier({ status: 'idle', temporary: true }, [
      ...[fact.created({}, true, 'd'), fact.runCreated('d'), fact.completed('d')],
    ]);
    await log.commit(batch([{ stream: 'thread-d', expected: 0, events: due }]));
    const db = openConnection(join(dir, LOG_FILE), { readonly: true });
    const asked = createAsk(createStatements(db));
    try {
      await check(async (use) => {
        const plans: string[] = [];
        const explain = async (sql: string, params: Params = {}): Promise<void> => {
          for (const { detail } of await asked.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, params))
            plans.push(detail);
        };
        const explained: Walks = {
          dialect: asked.dialect,
          all: async (sql, params) => (await explain(sql, params), asked.all(sql, params)),
          get: async (sql, params) => (await explain(sql, params), asked.get(sql, params)),
          async *walk(sql, params) {
            await explain(sql, params);
            yield* asked.walk(sql, params);
          },
        };
        await use(withOwnScans(explained));
        return plans;
      });
    } finally {
      db.close();
    }
  });
}

const NAMED: Record<string, (views: Views) => unknown> = {
  dueThreads: (views) => views.runs.dueThreads(1, 10),
  firstDueRun: (views) => views.runs.firstDue(['r'], 1, 1),
  nextDue: (views) => views.due.next(1),
  runLead: (views) => views.runs.lead(1),
  hasOldCommands: (views) => views.retention.hasOldCommands(1),
  runsWithOldFrames: (views) =>
    views.retention.runsWithFrames({ after: undefined, before: LATER, looked: 10 }),
  getRun: (views) => views.runs.get('r', { threadId: 't', filter: OWNER }),
  endOfRun: (views) => views.runs.end('r'),
  mayOweWebhook: (views) => views.runs.owesWebhook('r'),
  isRunOpen: (views) => views.runs.isOpen('r'),
  lastStartedRun: (views) => views.runs.lastStarted('t'),
  boundGraph: (views) => views.runs.bound('t'),
  latestRun: (views) => views.runs.latest('t'),
  nextRun: (views) => views.runs.next('t', 1),
  listRuns: (views) => views.runs.list({ threadId: 't', status: 'success', ...PAGE }, OWNER),
  runsOfAssistant: (views) => views.runs.ofAssistant('a'),
  getThread: (views) => views.threads.get('t', OWNER),
  expiredThreads: (views) => views.threads.expired({ before: LATER, failedBefore: 1 }, 10),
  dueHosts: (views) => views.deliveries.dueHosts(1),
  dueDeliveries: (views) => views.deliveries.due('h', 1, 10),
  deliveriesOf: (views) => views.deliveries.of('t', 'r'),
  deliveryLead: (views) => views.deliveries.lead(1),
  getDelivery: (views) => views.deliveries.get('d', OWNER),
  deliveriesKeptSince: (views) => views.deliveries.keptSince(1, 10),
  dueCrons: (views) => views.crons.due(1, 10, ['c']),
  hasPlannedCron: (views) => views.crons.hasPlanned(1),
  cronsOfThread: (views) => views.crons.of({ threadId: 't' }),
  cronsOfAssistant: (views) => views.crons.of({ assistantId: 'a' }),
};

/** A walk through a whole table or index. `SCAN page` and the like walk what a search found. */
const isScan = (detail: string): boolean =>
  /^SCAN (threads|runs|events|deliveries|crons|queue|d|t|o)\b/.test(detail);

test('no query of executor, sweeper, recovery or routes scans every thread or run', () =>
  withPlans(async (plansOf) => {
    for (const [name, use] of Object.entries(NAMED)) {
      const plans = await plansOf((ask) => use(createViews(ask, async () => [])));
      assert.ok(plans.length > 0, name);
      assert.deepEqual(plans.filter(isScan), [], name);
    }
  }));

test('runs of all threads are read in the order of their ids, open ones from the queue', () =>
  withPlans(async (plansOf) => {
    const plan = async (statuses: readonly ('pending' | 'error')[]) =>
      (
        await plansOf((ask) =>
          createViews(ask, async () => []).runs.everywhere({ statuses, older: 'r', limit: 10 }, OWNER),
        )
      ).filter((line) => /runs|queue|B-TREE/.test(line) && !/LIST SUBQUERY|carried/i.test(line));
    const open = await plan(['pending']);
    assert.ok(open.includes('SCAN queue'), open.join());
    assert.ok(
      open.some((line) => line.startsWith('SEARCH runs USING INDEX runs_by_thread')),
      open.join(),
    );
    const ended = await plan(['error']);
    assert.ok(
      ended.some((line) => line.startsWith('SEARCH runs USING INDEX sqlite_autoindex_runs')),
      ended.join(),
    );
    assert.ok(
      ended.every((line) => !line.includes('B-TREE')),
      ended.join(),
    );
  }));

type Wanted = Partial<Parameters<typeof planThreads>[1]>;

/** The queue is counted up to a cap. */
const isScanOfThreads = (detail: string): boolean => isScan(detail) && detail !== 'SCAN queue';

/** Threads that runs carry are sorted: they are no more than the queue. */
const isSort = (detail: string, at: number, plan: readonly string[]): boolean =>
  /TEMP B-TREE FOR ORDER BY/.test(detail) &&
  plan.slice(0, at).findLast((line) => /^SEARCH (t|runs) /.test(line)) !== CARRIED;
const CARRIED = 'SEARCH runs USING INDEX runs_by_thread (thread_id=?)';

const plansOfThreads = (wanted: Wanted, filter?: Filter) => async (ask: Ask) => {
  const plan = await planThreads(ask, { sortBy: 'updated_at', sortOrder: 'desc', ...wanted }, filter);
  for (const query of [plan.page(PAGE.limit, PAGE.offset), plan.total(1_000), plan.judged?.page])
    if (query !== undefined) await ask.all(query.sql, query.params);
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
        (await plansOf(plansOfThreads(wanted, filter))).filter(isScanOfThreads),
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
      const sorted = (await plansOf(plansOfThreads(wanted, filter))).filter(isSort);
      assert.deepEqual(sorted, [], JSON.stringify([wanted, filter]));
    }
  }));

test.run();

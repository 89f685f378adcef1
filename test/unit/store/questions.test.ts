/** Every question has one text: on SQLite and on PostgreSQL it finds the same rows, whatever is asked. */
import assert from 'node:assert/strict';
import type { Filter } from '../../../src/kernel/filter.ts';
import type { RunStatus } from '../../../src/thread/run-end.ts';
import type { Views } from '../../../src/store/port/views/views.ts';
import { ASSISTANT_SORTS } from '../../../src/store/port/views/assistants.ts';
import { CRON_SORTS } from '../../../src/store/port/views/crons.ts';
import { THREAD_SORTS, THREAD_STATUSES } from '../../../src/store/port/views/threads.ts';
import { threadViews } from '../../../src/store/sql/views/thread-queries.ts';
import { createViews } from '../../../src/store/sql/views/views.ts';
import type { Ask } from '../../../src/store/sql/ask.ts';
import { withOwnScans } from '../../../src/store/sql/ask.ts';
import { createAsk } from '../../../src/store/sqlite/ask.ts';
import { projection } from '../../../src/store/sql/rows/projection.ts';
import { openConnection, type Connection } from '../../../src/store/sqlite/connection.ts';
import { prepareRows } from '../../../src/store/sqlite/rebuild.ts';
import { prepareSchema } from '../../../src/store/sqlite/schema.ts';
import { createStatements } from '../../../src/store/sqlite/statements.ts';
import { readAddress } from '../../../src/kernel/database-address.ts';
import { createAsk as askPostgres } from '../../../src/store/postgres/ask.ts';
import { createPool } from '../../../src/store/postgres/pool.ts';
import { connect, type Session } from '../../../src/store/postgres/sessions.ts';
import { prepareSchema as preparePostgres } from '../../../src/store/postgres/schema.ts';
import { withPostgres } from '../../support/postgres.ts';
import { createRandom, seedFromEnv, type Random } from '../../support/random.ts';
import { ALL_TABLES, randomMetadata, randomRows, WORDS, type Rows } from '../../support/random-rows.ts';
import { suite } from '../../support/suite.ts';

const test = suite('store, questions on both engines');

/** Of questions that have found nothing so far. */
const MAX_MORE_ROUNDS = 1_000;
const ROUNDS = 20;

/** It reads nothing. */
const APART: ReadonlySet<string> = new Set(['threads.made']);

function toSqlite(db: Connection, rows: Rows): void {
  for (const [table, { columns }] of Object.entries(ALL_TABLES)) {
    const names = Object.keys(columns);
    const insert = db.prepare(
      `INSERT INTO ${table} (${names.join()}) VALUES (${names.map((name) => `@${name}`).join()})`,
    );
    for (const row of rows[table]!) insert.run(row);
  }
}

async function fillPostgres(session: Session, rows: Rows): Promise<void> {
  await session.run(preparePostgres());
  for (const [table, { columns }] of Object.entries(ALL_TABLES)) {
    const names = Object.keys(columns);
    const numbered = table === 'frames' ? [', id', ", nextval('frames_ids')"] : ['', ''];
    const sql = `INSERT INTO ${table} (${names.join()}${numbered[0]})
      VALUES (${names.map((name) => `@${name}`).join()}${numbered[1]})`;
    for (const row of rows[table]!) await session.ask(sql, row);
  }
  await session.ask('ANALYZE');
}

type Question = (views: Views, few: Views['threads']) => Promise<unknown>;

async function collect<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const page of pages) found.push(page);
  return found;
}

/** One of each question, with arguments of its own. */
function randomQuestions(random: Random, rows: Rows): Question[] {
  const idOf = (table: string, column: string): string =>
    random.chance(0.1) ? 'nothing' : (random.pick(rows[table]!)[column] as string);
  const [threadId, runId, assistantId] = [
    random.chance(0.2) ? idOf('runs', 'thread_id') : idOf('threads', 'thread_id'),
    idOf('runs', 'run_id'),
    idOf('assistants', 'assistant_id'),
  ];
  const now = random.int(0, 13) * 10;
  const page = { limit: random.int(0, 15), offset: random.pick([0, 0, 3, 30]) };
  const sortOrder = random.pick(['asc', 'desc'] as const);
  const metadata = random.chance(0.5) ? randomMetadata(random) : undefined;
  const filter = random.pick<Filter | undefined>([
    undefined,
    [],
    [{ op: 'equal', key: 'owner', value: random.pick(WORDS) }],
    [{ op: 'exists', key: 'tags', value: true }],
    [{ op: 'in', key: 'owner', values: ['ann', 1, ['ann']] }],
    [{ op: 'contains', key: 'tags', values: ['ann'] }],
    [{ op: 'not', of: [{ op: 'equal', key: 'owner', value: 'ann' }] }],
    [{ op: 'any', of: [[{ op: 'equal', key: 'x', value: 1 }], [{ op: 'gt', key: 'x', value: 0 }]] }],
  ]);
  const some = <T extends object>(members: T): Partial<T> =>
    Object.fromEntries(
      Object.entries(members).filter(([, value]) => value !== undefined && random.chance(0.4)),
    ) as Partial<T>;
  const prefix = random.pick([[], ['u'], ['v', 'u'], ['Ä'], ['%']]);
  const access = filter?.length === 0 ? undefined : filter;
  const threads = {
    ...some({ ids: [threadId, 't1', 't2'], status: random.pick(THREAD_STATUSES) }),
    ...(metadata && { metadata }),
  };
  const search = { ...threads, ...page, sortBy: random.pick(THREAD_SORTS), sortOrder };
  const crons = {
    ...some({ assistantId, threadId, enabled: random.chance(0.5), threadFilter: access }),
    ...(metadata && { metadata }),
  };
  const matches = [
    { at: random.pick(['prefix', 'suffix'] as const), path: random.pick([['u'], ['*', 'v'], ['v', 'u']]) },
  ];

  return [
    ({ threads: of }) => of.get(threadId, filter),
    ({ threads: of }) => of.search(search, filter),
    (_, of) => of.search(search, filter),
    ({ threads: of }) => of.count(threads, filter),
    (_, of) => of.count(threads, filter),
    ({ threads: of }) => of.search({ ...search, values: { x: 1 } }, filter),
    ({ threads: of }) => of.ttl(threadId),
    ({ threads: of }) =>
      of.leftBy({
        ...{ threadId, runId, attempt: 0, head: null, remaining: 0 },
        outcome: { kind: 'rolled-back', reason: 'asked' },
      }),
    ({ threads: of }) => of.outlived(now, page.limit),
    ({ threads: of }) => of.expired({ before: now, failedBefore: now - 20 }, page.limit),

    ({ runs }) => runs.get(runId, some({ threadId, filter })),
    ({ runs }) =>
      runs.list(
        { threadId, ...page, ...some({ status: 'success' as const }), ...(metadata && { metadata }) },
        filter,
      ),
    ({ runs }) =>
      runs.toCancel(some({ threadId, runIds: [runId, 'r1', 'r2'], status: 'pending' as const }), filter),
    ({ runs }) =>
      runs.everywhere(
        {
          ...some({ statuses: random.pick<RunStatus[]>([['pending', 'running'], ['success']]) }),
          ...some({ older: runId, newer: 'r1' }),
          ...{ limit: page.limit, ...(metadata && { threadMetadata: metadata }) },
        },
        filter,
      ),
    ({ runs }) => runs.ofAssistant(assistantId),
    ({ runs }) => runs.taken([runId, 'r1', 'none']),
    ({ runs }) => runs.openOrders([runId, 'r1', 'none']),
    ({ runs }) => runs.lastStarted(threadId),
    ({ runs }) => runs.lastEnded(threadId, runId),
    ({ runs }) => runs.latest(threadId),
    ({ runs }) => runs.next(threadId, random.int(0, 100)),
    ({ runs }) => runs.bound(threadId),
    ({ runs }) => runs.isOpen(runId),
    ({ runs }) => runs.end(runId),
    ({ runs }) => runs.owesWebhook(runId),
    ({ due }) => due.next(now),
    ({ runs }) => runs.dueThreads(now, page.limit),
    ({ runs }) => runs.busyThreads(),
    ({ runs }) => runs.firstDue([runId, 'r1', 'r2'], now, now + 10),
    ({ runs }) => runs.lead(now),

    ({ assistants }) => assistants.get(assistantId, filter, { systemToo: random.chance(0.5) }),
    ({ assistants }) =>
      assistants.search(
        {
          ...{ ...page, sortBy: random.pick(ASSISTANT_SORTS), sortOrder, ...(metadata && { metadata }) },
          ...some({ graphId: 'agent', name: random.pick(['B', 'an', '%', '', 'Ä', '00']) }),
        },
        filter,
      ),
    ({ assistants }) =>
      assistants.search({
        ...{ limit: 5, offset: 0, sortBy: 'name', sortOrder, name: random.pick(['Ä', '00']) },
      }),
    ({ assistants }) => assistants.versions({ assistantId, ...page, ...(metadata && { metadata }) }, filter),
    ({ assistants }) => assistants.version(assistantId, random.int(1, 3), filter),

    ({ crons: of }) => of.get(idOf('crons', 'cron_id'), filter),
    ({ crons: of }) => of.search({ ...crons, ...page, sortBy: random.pick(CRON_SORTS), sortOrder }, filter),
    ({ crons: of }) => of.count(crons, filter),
    ({ crons: of }) => of.of(random.chance(0.5) ? { threadId } : { assistantId }),
    async ({ crons: of }) => (await of.due(now, 1_000, ['c1', 'c2'])).sort(),
    ({ crons: of }) => of.hasPlanned(now),

    ({ deliveries }) => deliveries.get(idOf('deliveries', 'delivery_id'), filter),
    ({ deliveries }) =>
      deliveries.search(
        some({ runId, threadId, host: 'b', status: 'owed' as const, since: 30, until: 90, hasBody: true }),
        page,
        filter,
      ),
    ({ deliveries }) => deliveries.of(threadId, random.chance(0.5) ? runId : undefined),
    ({ deliveries }) => deliveries.dueHosts(now),
    ({ deliveries }) => deliveries.due(random.pick(['a', 'B']), now, page.limit, now + 10),
    ({ deliveries }) => deliveries.lead(now),
    ({ deliveries }) => deliveries.keptSince(now, page.limit),

    async ({ items }) =>
      (await items.get(['i1', 'i2', 'i3'], now, access)).sort((a, b) => (a.itemId < b.itemId ? -1 : 1)),
    ({ items }) =>
      collect(items.scan({ prefix, now, ...(access && { access }), ...(metadata && { match: metadata }) })),
    ({ items }) =>
      collect(items.namespaces({ matches, now, ...(access && { access }), ...some({ maxDepth: 1 }) })),
    ({ items }) => items.vectors(rows['items']!.map(({ item_id }) => item_id as string)),
    ({ items }) => items.expired(now, page.limit),
    ({ items }) => items.lastUpdate(),

    ({ retention }) =>
      retention.runsWithFrames({
        ...{ before: now, looked: 20, after: random.chance(0.5) ? undefined : { endedAt: 20, runId } },
      }),
    ({ retention }) => retention.hasOldCommands(now),
    ({ retention }) => retention.imports(),
    ({ inventory }) => inventory.threads(),
    async ({ inventory }) => (await inventory.assistants()).sort(),
    ({ inventory }) => inventory.crons(),
    ({ inventory }) => inventory.items(),
    ({ inventory }) => inventory.counts(now),
  ];
}

/** Notes the name of each question that is asked. */
const noted = (views: Views, asked: Set<string>): Views =>
  Object.fromEntries(
    Object.entries(views).map(([aggregate, questions]) => [
      aggregate,
      Object.fromEntries(
        Object.entries(questions as Record<string, (...args: unknown[]) => unknown>).map(([name, ask]) => [
          name,
          (...args: unknown[]) => (asked.add(`${aggregate}.${name}`), ask(...args)),
        ]),
      ),
    ]),
  ) as unknown as Views;

const isEmpty = (found: unknown): boolean =>
  found instanceof Map ? found.size === 0 : !found || JSON.stringify(found) === '[]';

const containing = async (heads: readonly { threadId: string }[]): Promise<string[]> =>
  heads.flatMap(({ threadId }) => (threadId.endsWith('1') ? [threadId] : []));

test(
  'each question, asked with the same arguments, finds the same on SQLite and on PostgreSQL',
  () =>
    withPostgres(async (url) => {
      const pool = createPool(() => connect(readAddress(url)), 2);
      const db = openConnection(':memory:');
      const prepare = createStatements(db);
      prepareSchema(db);
      prepareRows(db, prepare, projection);
      const random = createRandom(seedFromEnv());
      const rows = randomRows(random);
      await pool.lend((session) => fillPostgres(session, rows));
      toSqlite(db, rows);
      const asked = new Set<string>();
      const engine = (ask: Ask): Parameters<Question> => [
        noted(createViews(ask, containing), asked),
        // No thread is one of few: all are walked in the order of an index.
        threadViews(ask, containing, 0),
      ];
      const sqlite = engine(withOwnScans(createAsk(prepare)));
      const postgres = engine(askPostgres(pool, pool));
      const filled = new Set<number>();
      for (let round = 0; round < ROUNDS; round++) {
        const seed = random.int(0, 2 ** 31);
        const [ours, theirs] = [sqlite, postgres].map((views) =>
          randomQuestions(createRandom(seed), rows).map((question) => [question, views] as const),
        );
        for (const [at, [question, views]] of ours!.entries()) {
          const found = await question(...views);
          const [again, others] = theirs![at]!;
          assert.deepEqual(await again(...others), found, `round ${round}: ${question.toString()}`);
          if (!isEmpty(found)) filled.add(at);
        }
      }
      // Some arguments rarely find anything.
      const others = (): Question[] => randomQuestions(random, rows).filter((_, at) => !filled.has(at));
      for (let round = 0; round < MAX_MORE_ROUNDS && others().length > 0; round++)
        for (const [at, question] of randomQuestions(random, rows).entries())
          if (!filled.has(at) && !isEmpty(await question(...sqlite))) filled.add(at);
      const all = Object.entries(sqlite[0]).flatMap(([aggregate, questions]) =>
        Object.keys(questions as object).map((name) => `${aggregate}.${name}`),
      );
      assert.deepEqual(
        all.filter((name) => !asked.has(name) && !APART.has(name)),
        [],
      );
      assert.deepEqual(others().map(String), [], 'always found nothing');
      await pool.close();
      db.close();
    }),
  120_000,
);

test.run();

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { matchesFilter, type Condition, type Filter } from '../../../src/kernel/filter.ts';
import { contains } from '../../../src/kernel/containment.ts';
import type { Json, JsonObject } from '../../../src/kernel/json.ts';
import type { EventLog } from '../../../src/store/port/log.ts';
import { selectThreads } from '../../../src/store/sql/views/any-thread.ts';
import { withCarrier } from '../../../src/thread/carrier.ts';
import { earliestStart, evolve, initial, type ThreadState } from '../../../src/thread/state.ts';
import type { Outcome, ThreadEvent } from '../../../src/thread/events.ts';
import { threadViews } from '../../../src/store/sql/views/thread-queries.ts';
import { withOwnScans } from '../../../src/store/sql/ask.ts';
import { createAsk } from '../../../src/store/sqlite/ask.ts';
import { openConnection } from '../../../src/store/sqlite/connection.ts';
import { LOG_FILE } from '../../../src/store/sqlite/log.ts';
import { createStatements } from '../../../src/store/sqlite/statements.ts';
import { fact } from '../../support/given.ts';
import { batch } from '../../support/batches.ts';
import fc from '../../support/properties.ts';
import { suite } from '../../support/suite.ts';
import { withLog } from '../../support/with-log.ts';
import { THREAD_SORTS, THREAD_STATUSES, type ThreadSearch } from '../../../src/store/port/views/threads.ts';

const test = suite('projections: properties of thread searches');

const LONG = 'long '.repeat(60);
const keys = fc.constantFrom(
  'owner',
  'tags',
  '__proto__',
  'toString',
  '',
  'a\0b',
  '\ud800',
  '*',
  '["owner"',
  LONG,
);
const scalars = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Json>('ann', 'bob') },
  fc.constantFrom<Json>(
    1,
    '1',
    true,
    'true',
    false,
    null,
    0,
    -0,
    1.5,
    1e21,
    '1e+21',
    '',
    'a\0b',
    'a',
    '\ud800',
    '*',
    LONG,
  ),
);
const lists = fc.array(scalars, { maxLength: 4 });
const values: fc.Arbitrary<Json> = fc.oneof(
  { weight: 5, arbitrary: scalars },
  { weight: 2, arbitrary: lists },
  fc.constantFrom<Json>(
    {},
    [],
    [[]],
    [['ann']],
    [{ owner: 'ann' }],
    { owner: 'ann' },
    { owner: 1, deep: [1, '1'] },
  ),
);
const objects = (maxLength: number): fc.Arbitrary<JsonObject> =>
  fc
    .array(fc.tuple(fc.oneof({ weight: 3, arbitrary: fc.constantFrom('owner', 'tags') }, keys), values), {
      maxLength,
    })
    .map((entries) => Object.fromEntries(entries) as JsonObject);
/** More than an index takes of one thread. */
const crowded: fc.Arbitrary<JsonObject> = objects(3).map((few) => ({
  ...Object.fromEntries(Array.from({ length: 110 }, (_, i) => [`k${i}`, i])),
  ...few,
}));

const leaf: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ op: fc.constant('equal' as const), key: keys, value: scalars as fc.Arbitrary<never> }),
  fc.record({
    op: fc.constant('contains' as const),
    key: keys,
    values: fc.array(scalars as fc.Arbitrary<never>, { minLength: 1, maxLength: 2 }),
  }),
);
const LEAVES = fc.oneof(
  leaf,
  fc.record({ op: fc.constant('equal' as const), key: keys, value: values }),
  fc.record({ op: fc.constant('in' as const), key: keys, values: fc.array(values, { maxLength: 3 }) }),
  fc.record({ op: fc.constant('exists' as const), key: keys, value: fc.boolean() }),
  fc.record({ op: fc.constantFrom('gt' as const, 'lte' as const), key: keys, value: scalars }),
);
const branch = (of: fc.Arbitrary<Condition>): fc.Arbitrary<Condition> =>
  fc.oneof(
    fc.record({ op: fc.constant('not' as const), of: fc.array(of, { minLength: 1, maxLength: 2 }) }),
    fc.record({ op: fc.constant('inside' as const), key: keys, of: fc.array(of, { maxLength: 2 }) }),
    fc.record({
      op: fc.constantFrom('any' as const, 'every' as const),
      of: fc.array(fc.array(of, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 2 }),
    }),
  );
const conditions = fc.oneof({ weight: 4, arbitrary: leaf }, branch(fc.oneof(LEAVES, branch(LEAVES))), LEAVES);

const searches = fc.record({
  part: fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, objects(2), objects(7)),
  filter: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(conditions, { maxLength: 3 })),
  /** Taken from a thread that is there, so that many searches find something. */
  from: fc.tuple(fc.nat(), fc.nat(), fc.boolean()),
  status: fc.option(fc.constantFrom(...THREAD_STATUSES), { nil: undefined, freq: 2 }),
  sortBy: fc.constantFrom(...THREAD_SORTS),
  sortOrder: fc.constantFrom('asc' as const, 'desc' as const),
  limit: fc.integer({ min: 0, max: 12 }),
  offset: fc.oneof(fc.constant(0), fc.nat(30)),
  /** Threads that are few enough to be sorted. */
  few: fc.constantFrom(0, 5, undefined),
});

const PAUSED: Outcome = { kind: 'success', next: ['ask'], interrupts: {} };
const FAILED: Outcome = { kind: 'error', error: 'Error', message: 'no' };

interface Known {
  readonly id: string;
  readonly metadata: JsonObject;
  readonly status: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly state_updated_at: number;
}

/** Writes threads of every status, moved and changed after they were made, one of them deleted. */
async function fill(log: EventLog, docs: readonly JsonObject[], tick: () => Promise<void>): Promise<void> {
  const states = new Map<string, ThreadState>();
  const write = async (id: string, ...facts: ThreadEvent[]): Promise<void> => {
    const own = facts.map((event) => ({ ...event, data: { ...event.data, threadId: id } }) as ThreadEvent);
    const before = states.get(id) ?? initial;
    const events = withCarrier(before, own);
    const after = events.reduce(evolve, before);
    states.set(id, after);
    const expected = versions.get(id) ?? 0;
    versions.set(id, expected + events.length);
    const queue = { kind: 'queue', threadId: id, next: earliestStart(after) } as const;
    const { kind } = await log.commit(
      batch([{ stream: `thread-${id}`, expected, events }], { payloads: [queue] }),
    );
    assert.equal(kind, 'committed');
  };
  const versions = new Map<string, number>();
  const isTemporary = (i: number): boolean => i % 9 === 8 || i % 5 === 4;
  const idOf = (i: number): string => `t${(i * 7) % docs.length}`;
  for (const [i, metadata] of docs.entries()) {
    if (i % 3 === 0) await tick();
    // First somebody else's: what it said then must not be found later.
    await write(
      idOf(i),
      fact.created(i % 2 === 0 ? metadata : { owner: 'ann', tags: ['old'] }, isTemporary(i)),
    );
  }
  for (const [i, metadata] of [...docs.entries()].reverse()) {
    if (i % 4 === 0) await tick();
    if (i % 2 === 1) await write(idOf(i), fact.updated(metadata));
    if (i % 5 === 0) continue;
    const run = `r${i}`;
    const began = [
      fact.runCreated(run, { threadMetadata: metadata }),
      fact.started(run),
      fact.saved(run, `c${i}`),
    ];
    const outcome = i % 5 === 2 ? PAUSED : i % 5 === 3 ? FAILED : undefined;
    await write(idOf(i), ...began, ...(outcome === undefined ? [] : [fact.completed(run, { outcome })]));
    // A row of its own from here on.
    if (isTemporary(i) && i % 3 === 0) await write(idOf(i), fact.updated(metadata));
  }
  await write('gone', fact.created({ owner: 'ann' }), fact.deleted());
}

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0);

function expected(
  all: readonly Known[],
  wanted: Omit<ThreadSearch, 'limit' | 'offset'>,
  filter: Filter,
): string[] {
  const sign = wanted.sortOrder === 'asc' ? 1 : -1;
  return all
    .filter(({ status }) => wanted.status === undefined || status === wanted.status)
    .filter(({ metadata }) => contains(metadata, wanted.metadata ?? {}) && matchesFilter(metadata, filter))
    .sort(
      (a, b) =>
        sign *
        (compare(
          a[wanted.sortBy === 'thread_id' ? 'id' : wanted.sortBy],
          b[wanted.sortBy === 'thread_id' ? 'id' : wanted.sortBy],
        ) ||
          (wanted.sortBy === 'status' ? compare(a.updated_at, b.updated_at) : 0) ||
          compare(a.id, b.id)),
    )
    .map(({ id }) => id);
}

const CASES = 5_000;
const GROUPS = 10;

test('A2 5,000 indexed searches with odd metadata agree with the filter functions', async () => {
  let found = 0;
  for (let group = 0; group < GROUPS; group++)
    await withLog(async ({ log, clock, behind, dir }) => {
      const db = openConnection(join(dir, LOG_FILE), { readonly: true });
      const ask = withOwnScans(createAsk(createStatements(db)));
      const kinds = [objects(5), ...(group % 3 === 2 ? [crowded] : [])];
      const docs = fc.sample(fc.oneof(...kinds), { numRuns: 40, seed: group });
      await fill(log, docs, () => clock.advance(10));
      const all = behind((db) =>
        db
          .prepare(selectThreads("temporary = 0 OR status = 'busy'", '*, thread_id AS id'))
          .all()
          .map((row) => ({
            ...(row as Known),
            metadata: JSON.parse((row as { metadata: string }).metadata) as JsonObject,
          })),
      );
      assert.ok(all.length > 30 && new Set(all.map(({ status }) => status)).size === 4);
      await fc.assert(
        fc.asyncProperty(
          searches,
          async ({ part, filter, from: [which, member, mixed], status, limit, offset, few, ...order }) => {
            const entries = Object.entries(all[which % all.length]!.metadata);
            const known = entries[member % Math.max(1, entries.length)];
            const metadata = mixed && known !== undefined ? { ...part, [known[0]]: known[1] } : part;
            const wanted = { ...order, ...(metadata && { metadata }), ...(status && { status }) };
            const ids = expected(all, wanted, filter);
            const { threads, total } = await threadViews(ask, log.payloads.containing, few).search(
              { ...wanted, limit, offset },
              filter,
            );
            assert.deepEqual(
              { ids: threads.map(({ threadId }) => threadId), total },
              { ids: ids.slice(offset, offset + limit), total: ids.length },
            );
            if (limit < 3) assert.equal(await log.views.threads.count(wanted, filter), ids.length);
            if (ids.length > 0) found += 1;
          },
        ),
        { numRuns: CASES / GROUPS, seed: group },
      );
      db.close();
    });
  assert.ok(found > CASES / 4, `only ${found} searches found anything`);
});

test("P1 P2 pairs equal the threads' after creations, moves, changes and deletions", () =>
  withLog(async ({ log, clock, behind, past }) => {
    const docs = fc.sample(objects(5), { numRuns: 40, seed: 99 });
    await fill(log, docs, () => clock.advance(10));
    const [kept, expectedPairs] = behind((db) =>
      [
        'SELECT pair, thread_id FROM thread_pairs ORDER BY pair, thread_id',
        `SELECT value AS pair, thread_id FROM threads, json_each(threads.pairs)
         WHERE temporary = 0 OR status = 'busy' ORDER BY pair, thread_id`,
      ].map((sql) => db.prepare(sql).all()),
    );
    assert.deepEqual(kept, expectedPairs);
    assert.equal(await past((history) => history.firstDifference()), undefined);
  }));

test.run();

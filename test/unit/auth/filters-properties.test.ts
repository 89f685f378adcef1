import * as assert from 'node:assert/strict';
import { parseAuthFilter as parseFilter } from '../../../src/auth/filters.ts';
import { ToldFault } from '../../../src/auth/refusal.ts';
import { matchesFilter, type Filter } from '../../../src/kernel/filter.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import fc from '../../support/properties.ts';
import { suite } from '../../support/suite.ts';

const test = suite('auth: properties of filters');

const matches = (metadata: JsonObject, raw: unknown) => matchesFilter(metadata, parseFilter(raw));

/** The oracle reads the handler's own syntax and knows nothing of the normal form. */
function oracle(metadata: JsonObject, raw: Record<string, unknown>): boolean {
  const entries = new Map(Object.entries(metadata));
  for (const [key, wanted] of Object.entries(raw)) {
    if (key === '$or' || key === '$and') {
      const passed = (wanted as Record<string, unknown>[]).filter((branch) =>
        oracle(metadata, branch),
      ).length;
      if (passed < (key === '$or' ? 1 : (wanted as unknown[]).length)) return false;
      continue;
    }
    if (key === '$not') {
      if (oracle(metadata, wanted as Record<string, unknown>)) return false;
      continue;
    }
    const clause = wanted as {
      $eq?: unknown;
      $contains?: unknown;
      $in?: unknown[];
      $exists?: boolean;
      $not?: Record<string, unknown>;
    } | null;
    if (typeof clause === 'object' && clause !== null && '$exists' in clause) {
      if (clause.$exists !== entries.has(key)) return false;
      continue;
    }
    if (typeof clause === 'object' && clause !== null && '$not' in clause) {
      if (oracle(metadata, { [key]: clause.$not })) return false;
      continue;
    }
    if (!entries.has(key)) return false;
    const text = JSON.stringify(entries.get(key));
    if (typeof clause === 'object' && clause !== null && '$in' in clause) {
      if (!clause.$in!.some((value) => JSON.stringify(value) === text)) return false;
    } else if (typeof clause === 'object' && clause !== null && '$contains' in clause) {
      const list = entries.get(key);
      if (!(list instanceof Array)) return false;
      const held = new Set(list.map((item) => JSON.stringify(item)));
      if (![clause.$contains].flat().every((item) => held.has(JSON.stringify(item)))) return false;
    } else {
      const value = typeof clause === 'object' && clause !== null && '$eq' in clause ? clause.$eq : clause;
      if (text !== JSON.stringify(value)) return false;
    }
  }
  return true;
}

// Few keys and values, and the usual kind under each key, so that hits are not rare.
const keys = fc.constantFrom('owner', 'tags', 'toString');
const scalars = fc.oneof(
  { weight: 2, arbitrary: fc.constant('alice') },
  fc.constantFrom('', 1, '1', false, null),
);
const lists = fc.array(scalars, { minLength: 1, maxLength: 6 });
const metadataFields = {
  owner: fc.oneof({ weight: 6, arbitrary: scalars }, lists, fc.dictionary(keys, scalars, { maxKeys: 2 })),
  tags: fc.oneof({ weight: 6, arbitrary: lists }, scalars),
  toString: scalars,
};
const metadatas = fc.oneof(
  { weight: 3, arbitrary: fc.record(metadataFields) },
  fc.record(metadataFields, { requiredKeys: [] }),
);
const operands = fc.oneof({ weight: 4, arbitrary: scalars }, fc.array(scalars, { maxLength: 2 }));
const equals = fc.oneof(
  operands,
  fc.record({ $eq: operands }),
  fc.record({ $in: fc.array(operands, { maxLength: 3 }) }),
  fc.record({ $exists: fc.boolean() }),
  fc.record({ $not: fc.record({ $eq: operands }) }),
);
const contains = fc.record({
  $contains: fc.oneof(scalars, fc.array(scalars, { maxLength: 2 })),
});
const mostly = (usual: fc.Arbitrary<unknown>, rare: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 6, arbitrary: usual }, rare);
const clauses = {
  owner: mostly(equals, contains),
  tags: mostly(contains, equals),
  toString: mostly(equals, contains),
};
const flat: fc.Arbitrary<Record<string, unknown>> = fc
  .tuple(
    fc.record(clauses),
    fc.subarray(['owner', 'tags', 'toString'] as const, { minLength: 1, maxLength: 2 }),
  )
  .map(([all, chosen]) => Object.fromEntries(chosen.map((key) => [key, all[key]])));
const combined = (branch: fc.Arbitrary<Record<string, unknown>>) =>
  fc
    .tuple(
      fc.constantFrom('$or', '$and', '$not'),
      fc.array(branch, { minLength: 1, maxLength: 3 }),
      flat,
      fc.boolean(),
    )
    .map(([op, of, beside, mixed]) => ({ ...(mixed ? beside : {}), [op]: op === '$not' ? of[0] : of }));
const filters: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  flat,
  combined(flat),
  combined(fc.oneof(flat, combined(flat))),
);

test('given any metadata and filter, when matched, then the answer is that of an independent oracle (A2)', () => {
  let hits = 0;
  fc.assert(
    fc.property(metadatas, filters, (metadata, raw) => {
      const expected = oracle(metadata as JsonObject, raw);
      hits += expected ? 1 : 0;
      assert.equal(matches(metadata as JsonObject, raw), expected);
    }),
    { numRuns: 2_000 },
  );
  assert.ok(hits > 200 && hits < 1_800, `the samples are lopsided: ${hits} hits of 2000`);
});

test('given any filter, when it crosses into the database as JSON text, then it matches the same', () => {
  fc.assert(
    fc.property(metadatas, filters, (metadata, raw) => {
      const filter = parseFilter(raw);
      const copy = JSON.parse(JSON.stringify(filter)) as Filter;
      assert.deepEqual(copy, filter);
      const stored = JSON.parse(JSON.stringify(metadata)) as JsonObject;
      assert.equal(matchesFilter(stored, copy), matchesFilter(metadata as JsonObject, filter));
    }),
  );
});

test('given any filter with one place spoilt, when parsed, then it never parses (A2)', () => {
  const spoils = fc.constantFrom<unknown[]>(
    undefined,
    NaN,
    {},
    [[]],
    { $near: ['x'] },
    { $not: 'x' },
    { $in: 'x' },
    { $exists: null },
    { $eq: undefined },
    new Date(0),
  );
  fc.assert(
    fc.property(filters, spoils, fc.nat(), (raw, spoilt, at) => {
      const places = placesOf(raw);
      places[at % places.length]!(spoilt);
      assert.throws(() => parseFilter(raw), ToldFault);
    }),
    { numRuns: 500 },
  );
});

test('any parsed value is a filter of plain JSON or a ToldFault (A2)', () => {
  fc.assert(
    fc.property(
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
      (raw) => {
        try {
          const filter = parseFilter(raw);
          // JSON has no negative zero.
          fc.pre(!hasNegativeZero(filter));
          assert.deepEqual(JSON.parse(JSON.stringify(filter)), filter);
          assert.equal(filter.length === 0, raw === undefined || Reflect.ownKeys(raw as object).length === 0);
        } catch (error) {
          if (!(error instanceof ToldFault)) throw error;
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

const hasNegativeZero = (value: unknown): boolean =>
  Object.is(value, -0) ||
  (typeof value === 'object' && value !== null && Object.values(value).some(hasNegativeZero));

/** A setter for every value in the filter: keys and branches, at all levels. */
function placesOf(raw: Record<string, unknown>): ((value: unknown) => void)[] {
  return Object.keys(raw).flatMap((key) => {
    const branches = key.startsWith('$') ? ([raw[key]].flat() as Record<string, unknown>[]) : [];
    const inner = branches.flatMap((branch, i) => [
      ...(key === '$not' ? [] : [(value: unknown) => void ((raw[key] as unknown[])[i] = value)]),
      ...placesOf(branch),
    ]);
    return [(value: unknown) => void (raw[key] = value), ...inner];
  });
}

test.run();

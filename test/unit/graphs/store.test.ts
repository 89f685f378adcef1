/** The library brings no suite for stores, so its own store is the oracle. */
import * as assert from 'node:assert/strict';
import { BaseStore, InMemoryStore } from '@langchain/langgraph';
import { createItems } from '../../../src/actors/items.ts';
import { createStore } from '../../../src/actors/store.ts';
import { openRunStore } from '../../../src/effects/run-store.ts';
import { createGraphStore, type GraphStore, type Operation } from '../../../src/graphs/store.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { grant } from '../../support/batches.ts';
import { createRandom, type Random } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import { withLog, type TestLog } from '../../support/with-log.ts';

const test = suite('graphs/store');

const LEASE = { runId: 'r', attempt: 1, leaseId: 'l' };

async function openStore({ log, clock }: TestLog): Promise<GraphStore> {
  const items = createItems({ log, clock, ids: randomIds(clock) });
  const ttl = { refreshOnRead: true, defaultTtl: null };
  const store = createStore({ log, items, clock, ttl, onFault: assert.ifError });
  await grant(log, LEASE);
  const port = openRunStore({
    store,
    lease: LEASE,
    fenced: () => new Error('fenced'),
    patiently: (ask) => ask(),
  });
  const base = Object.create(BaseStore.prototype) as BaseStore;
  return createGraphStore(port, base);
}

/** Labels of one letter: longer ones the library's store takes for prefixes of each other. */
const LABELS = ['x', 'y', 'z'];
const KEYS = ['k', 'l', 'm'];

function anyOperation(random: Random, n: number): Operation {
  const { pick } = random;
  const path = (least: number): string[] =>
    Array.from({ length: least + random.int(0, 2) }, () => pick(LABELS));
  const place = { namespace: path(1), key: pick(KEYS) };
  switch (random.int(0, 7)) {
    case 0:
      return place;
    case 1:
      return { ...place, value: null };
    case 2: {
      const filter = pick([
        undefined,
        { n: { $gt: n / 2 } },
        { odd: true },
        { odd: { $ne: true } },
        { n: { $in: [1, 2] } },
      ]);
      return { namespacePrefix: path(0), ...(filter && { filter }), limit: 1000 };
    }
    case 3: {
      const matchType = pick(['prefix', 'suffix'] as const);
      const conditions = [{ matchType, path: path(1).map((label) => pick([label, label, '*'])) }];
      const maxDepth = pick([undefined, 1, 2]);
      return {
        matchConditions: pick([undefined, conditions]),
        ...(maxDepth !== undefined && { maxDepth }),
        limit: 1000,
        offset: 0,
      };
    }
    default:
      return { ...place, value: { n, odd: n % 2 === 1, deep: { list: [n, null, 'ü'] } } };
  }
}

/** Without times, and without order, which the library's store does not have. */
function toPlain(result: unknown): unknown {
  if (Array.isArray(result))
    return result
      .map(toPlain)
      .map((each) => JSON.stringify(each))
      .sort();
  if (typeof result !== 'object' || result === null) return result ?? null;
  const { namespace, key, value } = result as { namespace: string[]; key: string; value: object };
  return { namespace, key, value };
}

for (const seed of [1, 2, 3])
  test(`random batches of seed ${seed} have the results of the library's own store`, () =>
    withLog(async (given) => {
      const random = createRandom(seed);
      const [ours, theirs] = [await openStore(given), new InMemoryStore()];
      assert.equal((ours as object) instanceof BaseStore, true);
      for (let n = 0; n < 150; n++) {
        const operations = Array.from({ length: 1 + random.int(0, 3) }, () => anyOperation(random, n));
        const a = await ours.batch(operations);
        const b: unknown[] = await theirs.batch(operations as never);
        // A namespace without items stays in the library's lists; here it is gone.
        const holding = new Set(
          (await theirs.search([], { limit: 10_000 })).map((item) => item.namespace.join()),
        );
        operations.forEach((operation, index) => {
          if ('namespacePrefix' in operation || 'key' in operation)
            assert.deepEqual(toPlain(a[index]), toPlain(b[index]), JSON.stringify(operation));
          else {
            const lists = [a[index], b[index]] as unknown as string[][][];
            for (const namespace of lists[0]!)
              assert.ok(
                lists[1]!.some((each) => each.join() === namespace.join()),
                JSON.stringify(operation),
              );
            if ('maxDepth' in operation) return;
            // Writes of this very batch come after its reads.
            if (operations.length === 1)
              assert.deepEqual(
                lists[1]!.filter((each) => holding.has(each.join())).map((each) => each.join()),
                lists[0]!.map((each) => each.join()),
                JSON.stringify(operation),
              );
          }
        });
      }
    }));

test.run();

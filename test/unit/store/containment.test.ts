/** Containment, in code and through a query, against a definition made the other way round: list all parts. */
import assert from 'node:assert/strict';
import { contains } from '../../../src/kernel/containment.ts';
import { canonical, isObject, type Json, type JsonObject } from '../../../src/kernel/json.ts';
import { fact } from '../../support/given.ts';
import { batch } from '../../support/batches.ts';
import { createRandom, seedFromEnv, type Random } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import { withLog } from '../../support/with-log.ts';

const test = suite('store, containment');

const SCALARS: Json[] = [1, 0, '1', '', null, true, false, 'a'];
const KEYS = ['a', 'b', '1', '__proto__', 'constructor'];

function randomJson(random: Random, depth: number): Json {
  if (depth === 0 || random.chance(0.4)) return random.pick(SCALARS);
  if (random.chance(0.5))
    return Array.from({ length: random.int(0, 3) }, () => randomJson(random, depth - 1));
  return randomObject(random, depth);
}

function randomObject(random: Random, depth: number): JsonObject {
  const keys = random.shuffle(KEYS).slice(0, random.int(0, 3));
  // Through text, so that `__proto__` becomes a key like any other.
  const text = keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(randomJson(random, depth - 1))}`);
  return JSON.parse(`{${text.join(',')}}`) as JsonObject;
}

/** Equal for arrays that hold the same things, in whatever order and however often. */
function setText(value: Json): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(setText))].sort().join()}]`;
  if (!isObject(value)) return canonical(value);
  const entries = Object.keys(value).sort();
  return `{${entries.map((key) => `${JSON.stringify(key)}:${setText(Object.getOwnPropertyDescriptor(value, key)!.value as Json)}`).join()}}`;
}

const combine = (choices: readonly (readonly string[])[]): string[][] =>
  choices.reduce<string[][]>((all, some) => all.flatMap((one) => some.map((next) => [...one, next])), [[]]);

/** The set texts of everything that is part of `doc`: what is left when keys and elements are taken away. */
function partsOf(doc: Json): Set<string> {
  if (Array.isArray(doc)) {
    const elements = [...new Set(doc.flatMap((item) => [...partsOf(item)]))];
    const subsets = combine(elements.map((text) => ['', text]));
    return new Set(
      subsets.map(
        (some) =>
          `[${some
            .filter((text) => text !== '')
            .sort()
            .join()}]`,
      ),
    );
  }
  if (!isObject(doc)) return new Set([canonical(doc)]);
  const keys = Object.keys(doc).sort();
  const choices = keys.map((key) => [
    '',
    ...[...partsOf(Object.getOwnPropertyDescriptor(doc, key)!.value as Json)].map(
      (text) => `${JSON.stringify(key)}:${text}`,
    ),
  ]);
  return new Set(combine(choices).map((some) => `{${some.filter((text) => text !== '').join()}}`));
}

const countOf = (value: Json): number =>
  typeof value === 'object' && value !== null
    ? 1 + Object.values(value).reduce<number>((sum, one) => sum + countOf(one as Json), 0)
    : 1;

test('containment of random documents agrees with a list of all their parts', () => {
  const random = createRandom(seedFromEnv());
  const answers = { true: 0, false: 0 };
  for (let i = 0; i < 3_000; i++) {
    const doc = randomJson(random, 2);
    if (countOf(doc) > 8) continue;
    const parts = partsOf(doc);
    for (let j = 0; j < 6; j++) {
      const part = j < 3 ? shrink(random, doc) : randomJson(random, 2);
      const expected = parts.has(setText(part));
      const label = `${JSON.stringify(doc)} @> ${JSON.stringify(part)}`;
      assert.equal(contains(doc, part), expected, label);
      answers[`${expected}`] += 1;
    }
  }
  assert.ok(answers.true > 1_000 && answers.false > 1_000, JSON.stringify(answers));
});

/** Takes keys and elements away, repeats and reorders elements, and now and then changes a scalar. */
function shrink(random: Random, doc: Json): Json {
  if (Array.isArray(doc)) {
    const kept = random.shuffle(doc).filter(() => random.chance(0.8));
    return (random.chance(0.3) ? [...kept, ...kept] : kept).map((item) => shrink(random, item));
  }
  if (!isObject(doc)) return random.chance(0.1) ? random.pick(SCALARS) : doc;
  const kept = Object.entries(doc).filter(() => random.chance(0.7));
  return JSON.parse(
    `{${kept.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(shrink(random, value))}`).join()}}`,
  ) as Json;
}

test('given missing documents, when anything is looked for, then nothing is contained', () => {
  assert.equal(contains(undefined, {}), false);
});

const INJECTIONS = [
  `a' OR '1'='1`,
  `a') OR 1=1 --`,
  `$.a`,
  `a"]') UNION SELECT data FROM secrets --`,
  `'; DROP TABLE threads; --`,
  `@access`,
  `:id`,
  `?1`,
  `%`,
  `a.b[0]`,
  `\\`,
  `"`,
  `😀`,
  ``,
  `toString`,
  `hasOwnProperty`,
];

test('A2 metadata searches with hostile keys and values agree with the oracle', () =>
  withLog(async ({ log }) => {
    const random = createRandom(seedFromEnv());
    const docs = new Map<string, JsonObject>();
    for (let i = 0; i < 40; i++) {
      const key = random.pick(INJECTIONS);
      const doc = {
        ...randomObject(random, 1),
        [key]: random.pick([...SCALARS, ...INJECTIONS]),
      } as JsonObject;
      docs.set(`t${i}`, doc);
      const events = [fact.created(doc, false, `t${i}`)];
      await log.commit(batch([{ stream: `thread-t${i}`, expected: 0, events }]));
    }
    let hits = 0;
    for (let i = 0; i < 400; i++) {
      const [key, value] = [random.pick(INJECTIONS), random.pick([...SCALARS, ...INJECTIONS])];
      const part = (
        random.chance(0.5) ? shrink(random, random.pick([...docs.values()])) : { [key]: value }
      ) as JsonObject;
      const expected = [...docs].filter(([, doc]) => partsOf(doc).has(setText(part))).map(([id]) => id);
      const { threads, total } = await log.views.threads.search({
        ...{ metadata: part, sortBy: 'thread_id', sortOrder: 'asc', limit: 100, offset: 0 },
      });
      assert.deepEqual(
        threads.map(({ threadId }) => threadId),
        expected.sort(),
        JSON.stringify(part),
      );
      assert.equal(total, expected.length);
      hits += Math.min(expected.length, 1);
    }
    assert.ok(hits > 50, `only ${hits} searches found anything`);
    assert.equal((await log.readAll(0, 100)).length, 40);
  }));

test.run();

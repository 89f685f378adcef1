import * as assert from 'node:assert/strict';
import { createEmbedder, recogniseEmbedTexts } from '../../../src/actors/embedder.ts';
import { checkVectors, similarity, textsOf, toVectorText } from '../../../src/item/embedding.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';

const test = suite('item/embedding');

test('given a value, when fields point into it, then each part that is there gives its text once', () => {
  const value = {
    title: 'T',
    n: 7,
    no: null,
    deep: { a: { b: 'B' } },
    list: [{ c: 'one' }, { c: 'two' }, { d: 'three' }, 'T'],
    'odd.name': 'never',
  };
  const cases: [string[], string[]][] = [
    [['$'], [JSON.stringify(value)]],
    [['title', 'title', '$.title'], ['T']],
    [['n', 'no', 'none', 'toString', '__proto__'], ['7']],
    [['deep.a.b', 'deep.a.x', 'deep.a.b.c'], ['B']],
    [['deep.a'], ['{"b":"B"}']],
    [['list[*].c'], ['one', 'two']],
    [
      ['list[0].c', 'list[-1]', 'list[9].c', 'title[0]'],
      ['one', 'T'],
    ],
    [['deep.*.b'], ['B']],
    [['odd.name'], []],
  ];
  for (const [fields, texts] of cases) assert.deepEqual(textsOf(value, fields), texts, fields.join());
});

test('given vectors, when they are stored and compared, then the cosine is what it should be', () => {
  const stored = toVectorText([3, 0, 4]);
  assert.equal(similarity([3, 0, 4], stored), 1);
  assert.equal(similarity([-6, 0, -8], stored), -1);
  assert.equal(similarity([0, 1, 0], stored), 0);
  assert.equal(similarity([0, 0, 0], stored), 0);
  assert.equal(similarity([1, 0], stored), 0, 'of another length');
  assert.ok(Math.abs(similarity([1, 0, 0], stored) - 0.6) < 1e-6);
});

test('given answers of an embedding function, when they are no vectors of the right number and length, then it says what they are', () => {
  for (const [answer, problem] of [
    [undefined, /no list for 2 texts/],
    [[[1, 2]], /1 vectors for 2 texts/],
    [[[1, 2], 'x'], /no list of numbers/],
    [
      [
        [1, 2],
        [1, Number.NaN],
      ],
      /no list of numbers/,
    ],
    [
      [
        [1, 2],
        [1, 2, 3],
      ],
      /a vector of 3 numbers; store\.index\.dims says 2/,
    ],
  ] as const)
    assert.throws(() => checkVectors(answer, 2, 2), problem);
  assert.deepEqual(checkVectors([[1, 2], Float32Array.of(3, 4)], 2, 2), [
    [1, 2],
    [3, 4],
  ]);
});

test('given a function, a model or something else, when it is to embed, then the first two do and it is not waited for without end', async () => {
  const clock = createManualClock();
  const model = {
    size: 1,
    embedDocuments(texts: string[]) {
      return Promise.resolve(texts.map(() => [this.size]));
    },
  };
  for (const exported of [model, (texts: string[]) => texts.map(() => [1])]) {
    const embedTexts = recogniseEmbedTexts(exported)!;
    assert.deepEqual(await createEmbedder({ embedTexts, dims: 1, fields: ['$'], clock }).embed(['a', 'b']), [
      [1],
      [1],
    ]);
  }
  for (const exported of [undefined, null, 'embed', {}, { embedDocuments: 1 }])
    assert.equal(recogniseEmbedTexts(exported), undefined);
  const hangs = () => new Promise(() => undefined);
  const late = createEmbedder({ embedTexts: hangs, dims: 1, fields: ['$'], clock }).embed(['a']);
  const refused = assert.rejects(late, /took longer than 30 s/);
  await clock.advance(30_000);
  await refused;
  assert.deepEqual(clock.pending(), []);
});

test.run();

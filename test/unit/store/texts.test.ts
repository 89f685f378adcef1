/** The coder of texts that repeat others: what is read is what was written, and what is stored is what is new. */
import assert from 'node:assert/strict';
import { createAssembler, type TextRow } from '../../../src/store/sql/text-assembly.ts';
import { difference } from '../../../src/store/sql/texts.ts';
import fc from '../../support/properties.ts';
import { createRandom } from '../../support/random.ts';
import { scaled } from '../../support/scaled.ts';
import { suite } from '../../support/suite.ts';

const test = suite('store, texts');

/** Texts of which each is the difference from the one before it and some others, where that is worth it. */
function store(texts: readonly string[], others: readonly string[] = []) {
  const rows = texts.map((text, index): TextRow => {
    const bases = index === 0 ? [] : [texts[index - 1]!, ...others];
    const found = difference(bases, text);
    if (found === undefined) return { data: text, size: text.length };
    assert.equal(found.steps.toWellFormed(), found.steps, 'UTF-8 cannot carry it');
    return { data: found.steps, size: text.length, bases: [index - 1, ...others] };
  });
  const { read } = createAssembler((id) => rows[id]!);
  return { rows, read, bytes: rows.reduce((sum, { data }) => sum + data.length, 0) };
}

const WORDS = [
  'a"b',
  '"id":"',
  '😀',
  '😁',
  '"',
  ',',
  'x'.repeat(60),
  'lorem ipsum dolor sit amet '.repeat(4),
];
const part = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.string({ unit: 'binary', maxLength: 100 }).map((text) => text.toWellFormed()),
  fc.string({ minLength: 100, maxLength: 300 }),
);
const parts = fc.array(part, { maxLength: 40 });

test('P3 each of several edited texts and each stretch of it reads as it was written', () => {
  const edits = fc.array(fc.tuple(fc.nat(40), fc.nat(40), parts), { maxLength: 8 });
  fc.assert(
    fc.property(
      parts,
      edits,
      fc.array(part, { maxLength: 2 }),
      fc.double({ noNaN: true, min: 0, max: 1 }),
      (first, made, others, share) => {
        const texts = [first.join('')];
        let current = first;
        for (const [at, gone, added] of made) {
          current = [...current.slice(0, at), ...added, ...current.slice(at + gone)];
          texts.push(current.join(''));
        }
        const { read } = store(texts, others);
        texts.forEach((text, id) => {
          const from = Math.floor(share * text.length);
          assert.equal(read(id), text);
          assert.equal(read(id, from, from + 50), text.slice(from, from + 50));
        });
      },
    ),
    { numRuns: 400 },
  );
});

const wordsOf = (turn: number, bytes = 60): string =>
  Buffer.from(createRandom(turn + 1).bytes(bytes)).toString('base64');
const SAID = Array.from({ length: 1000 }, (_, turn) => wordsOf(turn));
const list = (from: number, to: number): string[] => SAID.slice(from, to);
const message = (content: string): string => JSON.stringify({ $: 'message', v: { content, type: 'ai' } });

/** By name: the states of a conversation after each of its turns. */
const CONVERSATIONS: Record<string, (turn: number) => string> = {
  'a plain list': (turn) => JSON.stringify({ list: list(0, turn) }),
  messages: (turn) => `[${list(0, turn).map(message).join()}]`,
  'messages of which the third last goes': (turn) =>
    `[${list(0, turn)
      .filter((_, index) => index % 3 !== 0 || index > turn - 3)
      .map(message)
      .join()}]`,
  'an encoding whose first byte changes': (turn) =>
    String.fromCharCode(0x21 + (turn % 90)) + list(0, turn).join(''),
  'an encoding whose head grows': (turn) => `${'#'.repeat(1 + Math.log2(turn + 1))}${list(0, turn).join('')}`,
  'a list that grows at its front': (turn) => JSON.stringify(list(0, turn).reverse()),
};

for (const [name, stateOf] of Object.entries(CONVERSATIONS))
  test(`P3 1000 turns of ${name} take at most 1.5 times the text of all that was said`, () => {
    const texts = Array.from({ length: 1000 }, (_, turn) => stateOf(turn));
    const { read, bytes } = store(texts);
    const said = list(0, 1000).map(message).join().length;
    assert.ok(bytes < 1.5 * said, `${bytes} for ${said}`);
    for (const turn of [0, 1, 500, 999]) assert.equal(read(turn), texts[turn]);
  });

test('P3 a window of messages that moves on costs the messages that come in', () => {
  const texts = Array.from(
    { length: 500 },
    (_, turn) =>
      `[${list(turn, turn + 30)
        .map(message)
        .join()}]`,
  );
  const { read, bytes } = store(texts);
  assert.ok(bytes < 1.5 * list(0, 530).map(message).join().length, `${bytes}`);
  assert.equal(read(499), texts[499]);
});

test('P3 what is new in a text is copied from other bases', () => {
  const [before, added] = [`[${message(wordsOf(1, 400))}]`, wordsOf(2, 4000)];
  const text = `${before.slice(0, -1)},${message(added)}]`;
  const found = difference([before, `["${added}"]`], text);
  assert.ok(found !== undefined && found.steps.length < 100, `${found?.steps.length}`);
});

test('P3 texts of one make differ in little more than their ids and times', () => {
  const textOf = (step: number, added = ''): string =>
    JSON.stringify({
      ...{ run_id: `run-${step}`, step, source: 'loop', parents: {} },
      versions: { messages: `00${step}.y`, ...(added && { [added]: `00${step}.z` }) },
      seen: { reply: { messages: `00${step - 1}.y` } },
    });
  const sizes = [textOf(118), textOf(118, 'more')].map(
    (each) => difference([textOf(117), '"run-118"'], each)?.steps.length ?? Infinity,
  );
  assert.ok(sizes[0]! < 50 && sizes[1]! < 75, `${sizes.join(' and ')} characters`);
});

test('P3 the end of a chain of 15,000 texts is read', () => {
  const texts = Array.from({ length: 15_000 }, (_, turn) => `${'x'.repeat(9_000)}${turn}`);
  assert.equal(store(texts).read(14_999), texts[14_999]);
});

test('P3 X4 texts of very many pieces or without any are compared in bounded time', () => {
  const quotes = JSON.stringify({ id: '"'.repeat(60_000) });
  const alike = 'ab'.repeat(500_000);
  for (const [before, after] of [
    [quotes, `[${quotes.slice(0, -9)}]`],
    [alike, `${alike.slice(1)}c`],
    [wordsOf(1, 300_000), wordsOf(2, 300_000)],
  ] as const) {
    const began = process.cpuUsage();
    difference([before], after);
    const { user } = process.cpuUsage(began);
    assert.ok(user < scaled(1_000_000), `${user} µs`);
    const { read } = store([before, after]);
    assert.ok(read(1) === after);
  }
});

test.run();

/** How frames of parallel tasks are brought into one order before two runs are compared. */
import * as assert from 'uvu/assert';
import { differencesOf } from '../../projects/compare.ts';
import { mask } from '../../projects/mask.ts';
import { inOneOrder } from '../../projects/parallel.ts';
import { suite } from '../../support/suite.ts';

const test = suite('frames of parallel tasks');

type Frames = readonly (readonly [event: string, data: any])[];
const MASKED = { configured: [], withoutUsage: false };
const settle = (shown: unknown): unknown => mask(inOneOrder(shown, MASKED), MASKED);
const differ = (a: unknown, b: unknown): boolean => differencesOf('it', settle(a), settle(b)).length > 0;

const [ONE, TWO] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const;
const inner = (id: string, ...texts: string[]): Frames =>
  texts.map((text) => [`updates|work:${id}`, { say: { text, of: id } }] as const);
const question = (id: string, text: string): Frames => [
  ['tasks', { id, name: 'work', interrupts: [{ value: text }] }],
  ['values', { __interrupt__: [{ value: text }] }],
];
const start: Frames = [['values', { items: ['a', 'b'] }]];

test('given two tasks, when the second is ahead in the other run, then they are equal', () => {
  const [a, b] = [inner(ONE, 'a1', 'a2'), inner(TWO, 'b1', 'b2')];
  const usual = [...start, a[0]!, b[0]!, a[1]!, b[1]!, ...question(ONE, 'a?'), ...question(TWO, 'b?')];
  const other = [...start, ...b, ...question(TWO, 'b?'), ...a, ...question(ONE, 'a?')];
  assert.not(differ(usual, other));
});

test('given two tasks, when ids that belong together do not in the other run, then they differ', () => {
  const usual = [...start, ...inner(ONE, 'a'), ...inner(TWO, 'b'), ...question(ONE, 'a?')];
  const other = [...start, ...inner(ONE, 'a'), ...inner(TWO, 'b'), ...question(TWO, 'a?')];
  assert.ok(differ(usual, other));
});

test('given a task, when its own frames change places, are missing or are twice, then they differ', () => {
  const rest = inner(TWO, 'b1', 'b2');
  const usual = [...start, ...inner(ONE, 'a1', 'a2'), ...rest];
  for (const texts of [['a2', 'a1'], ['a1'], ['a1', 'a2', 'a2'], ['a1', 'b2']])
    assert.ok(differ(usual, [...start, ...inner(ONE, ...texts), ...rest]), texts.join());
});

test('given messages of two tasks, when their pieces mix, then only the order within a task counts', () => {
  const said = (task: string, ...texts: string[]): Frames =>
    texts.map((content) => ['messages', [{ content }, { langgraph_checkpoint_ns: task }]] as const);
  const [a, b] = [said(`work:${ONE}`, 'good ', 'day'), said(`work:${TWO}`, 'well ', 'done')];
  assert.not(differ([...a, ...b], [b[0]!, a[0]!, b[1]!, a[1]!]));
  assert.ok(differ([...a, ...b], [a[1]!, a[0]!, ...b]));
});

test('given steps one after the other, when what they show changes places, then they differ', () => {
  const updates: Frames = [
    ['updates', { first: { n: 1 } }],
    ['updates', { second: { n: 2 } }],
  ];
  const between: Frames = [['values', { n: 1 }]];
  assert.ok(differ([updates[0]!, ...between, updates[1]!], [updates[1]!, ...between, updates[0]!]));
  assert.ok(differ([updates[0]!, ...between], [...between, updates[0]!]));
});

test('final values are equal if only the order of their interrupts differs', () => {
  const values = (questions: string[], items: string[]) => ({
    __interrupt__: questions.map((value) => ({ value })),
    items,
  });
  assert.not(differ(values(['a', 'b'], ['x', 'y']), values(['b', 'a'], ['x', 'y'])));
  assert.ok(differ(values(['a', 'b'], ['x', 'y']), values(['a', 'b'], ['y', 'x'])));
  assert.ok(differ(values(['a', 'b'], []), values(['a', 'a'], [])));
});

test("the id of a tool message that comes after its task's frame is compared in whole steps", () => {
  const message = (id?: string) => ({ tool_call_id: 'call', ...(id !== undefined && { id }) });
  const frames = (ofTask: object, ofStep: object): Frames => [
    ['updates', { tools: { messages: [ofTask] } }],
    ['values', { messages: [ofStep] }],
  ];
  const usual = frames(message(), message(ONE));
  assert.not(differ(usual, frames(message(ONE), message(ONE))));
  assert.ok(differ(usual, frames(message(), message())));
  assert.ok(differ(usual, frames({ ...message(), content: 'other' }, message(ONE))));
});

test.run();

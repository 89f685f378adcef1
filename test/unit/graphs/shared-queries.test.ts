import assert from 'node:assert/strict';
import { JsonText } from '../../../src/kernel/json-text.ts';
import type { CheckpointReader, GraphState } from '../../../src/graphs/port.ts';
import { shareQueries } from '../../../src/graphs/shared-queries.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';

const test = suite('graphs/shared-queries');

const order = {
  graphId: 'g',
  threadId: 't',
  ns: '',
  subgraphs: false,
  config: { configurable: {}, metadata: {} },
};
const nothing: CheckpointReader = { load: async () => undefined, list: async () => [] };

/** A graph that answers when it is told to; each answer says by its values which query it was. */
function open() {
  const queries: Settle[] = [];
  const ask = (): Promise<GraphState> => {
    let settle!: Settle;
    const answer = new Promise<GraphState>((resolve, reject) => (settle = { resolve, reject }));
    queries.push(settle);
    return answer;
  };
  const clock = createManualClock();
  const shared = shareQueries({ state: ask, history: async () => [await ask()] }, clock);
  return {
    clock,
    queries,
    state: (more: object = {}) => shared.state({ ...order, ...more }, nothing),
    history: () => shared.history({ ...order, limit: 1 }, nothing),
    answer: (which: number): void => queries[which]!.resolve(stateOf(which)),
  };
}

interface Settle {
  resolve(state: GraphState): void;
  reject(error: Error): void;
}

const stateOf = (which: number): GraphState =>
  ({ values: new JsonText(String(which)), tasks: [] }) as unknown as GraphState;
const numbersOf = async (states: readonly Promise<GraphState>[]): Promise<unknown[]> =>
  (await Promise.all(states)).map(({ values }) => values.parse());

test('S3 callers during a running query share one further query after it', async () => {
  const given = open();
  const first = given.state();
  const others = Array.from({ length: 5 }, () => given.state());
  assert.equal(given.queries.length, 1);
  given.answer(0);
  assert.deepEqual(await numbersOf([first]), [0]);
  await given.clock.advance(0);
  assert.equal(given.queries.length, 2);
  // These come too late for the second.
  const late = [given.state(), given.state()];
  given.answer(1);
  assert.deepEqual(await numbersOf(others), [1, 1, 1, 1, 1]);
  await given.clock.advance(0);
  given.answer(2);
  assert.deepEqual(await numbersOf(late), [2, 2]);
  assert.equal(given.queries.length, 3);
  void given.state();
  assert.equal(given.queries.length, 4, 'nobody waits any more');
});

test('given queries about other states, when they are asked together, then none waits for another', () => {
  const given = open();
  for (const more of [{}, { threadId: 'u' }, { ns: 'n' }, { checkpointId: 'c' }, { subgraphs: true }])
    void given.state(more);
  void given.state({ config: { configurable: { a: 1 }, metadata: {} } });
  void given.history();
  assert.equal(given.queries.length, 7);
});

test('callers wait for a query that never ends for a second and no longer', async () => {
  const given = open();
  void given.state();
  const second = given.state();
  await given.clock.advance(999);
  assert.equal(given.queries.length, 1);
  await given.clock.advance(1);
  given.answer(1);
  assert.deepEqual(await numbersOf([second]), [1]);
  given.answer(0);
});

test('a failed query rejects only its own callers; later callers get a new query', async () => {
  const given = open();
  const first = given.state();
  const second = given.state();
  given.queries[0]!.reject(new Error('no'));
  await assert.rejects(first, /^Error: no$/);
  await given.clock.advance(0);
  given.answer(1);
  assert.deepEqual(await numbersOf([second]), [1]);
});

test('S3 equal large values that are still held are reused, in a history too', async () => {
  const values = (): JsonText => new JsonText(JSON.stringify('x'.repeat(100_000)));
  const stateWith = (text: JsonText, id = 'c') =>
    ({ ...stateOf(0), values: text, checkpoint: { ns: '', id } }) as GraphState;
  let answer = stateWith(values());
  const host = { state: async () => answer, history: async () => [answer] };
  const shared = shareQueries(host, createManualClock());
  const first = await shared.state(order, nothing);
  answer = stateWith(values());
  assert.equal((await shared.state(order, nothing)).values, first.values);
  const [past] = (await shared.history({ ...order, limit: 1 }, nothing)) as GraphState[];
  assert.equal(past!.values, first.values);
  for (const other of [stateWith(values(), 'd'), stateWith(new JsonText('1'))]) {
    answer = other;
    assert.equal((await shared.state(order, nothing)).values, other.values);
  }
});

test.run();

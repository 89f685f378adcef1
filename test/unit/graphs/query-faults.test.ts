import assert from 'node:assert/strict';
import { attributeFaults } from '../../../src/graphs/query-faults.ts';
import { GraphFailed, GraphsUnavailable, type CheckpointReader } from '../../../src/graphs/port.ts';
import type { GraphDescriber } from '../../../src/graphs/schema-port.ts';
import type { HistoryOrder, StateHost } from '../../../src/graphs/state-port.ts';
import { suite } from '../../support/suite.ts';

const test = suite('graphs/attribute');

const unasked = () => Promise.reject(new Error('not asked for here'));
const hostOf = (history: StateHost['history']): StateHost => ({ state: unasked, history, update: unasked });
const describer: GraphDescriber = { drawing: unasked, schemas: unasked, subgraphs: unasked };
const order = {} as HistoryOrder;
const reader: CheckpointReader = { load: async () => undefined, list: async () => [] };

test("a reader's error that lost its class on the way back is replaced by the original", async () => {
  const refused = new RangeError('too many searches');
  const host = hostOf((_, { list }) =>
    list({}).then(unasked, (error: Error) => Promise.reject(new Error(error.message))),
  );
  const asked = attributeFaults(host, describer).history(order, {
    ...reader,
    list: () => Promise.reject(refused),
  });
  await assert.rejects(asked, (error) => error === refused);
  const forgiving = hostOf((_, { list }) =>
    list({}).then(
      () => [],
      () => [],
    ),
  );
  const made = attributeFaults(forgiving, describer).history(order, {
    ...reader,
    list: () => Promise.reject(refused),
  });
  await assert.rejects(made, (error) => error === refused);
  assert.deepEqual(await attributeFaults(forgiving, describer).history(order, reader), []);
});

test('given a graph that throws or is away, when it is asked, then only what it throws is its fault', async () => {
  const answerOf = (error: unknown) =>
    attributeFaults(
      hostOf(() => Promise.reject(error)),
      describer,
    ).history(order, reader);
  await assert.rejects(
    answerOf('odd'),
    (error) => error instanceof GraphFailed && error.message === 'Error: odd',
  );
  await assert.rejects(
    answerOf(new TypeError('no model')),
    (error) => error instanceof GraphFailed && error.message === 'TypeError: no model',
  );
  await assert.rejects(answerOf(new GraphsUnavailable('lost')), GraphsUnavailable);
});

test.run();

import assert from 'node:assert/strict';
import type { EventLog } from '../../../src/store/port/log.ts';
import type { Filter } from '../../../src/kernel/filter.ts';
import { batch } from '../../support/batches.ts';
import { suite } from '../../support/suite.ts';
import { withLog } from '../../support/with-log.ts';
import { ASSISTANT_SORTS, type AssistantSearch } from '../../../src/store/port/views/assistants.ts';

const test = suite('store, assistants');

const ANN: Filter = [{ op: 'equal', key: 'owner', value: 'ann' }];

const created = (log: EventLog, assistantId: string, graphId: string, owner: string | undefined) =>
  log.commit(
    batch([
      {
        stream: `assistant-${assistantId}`,
        expected: 0,
        events: [
          {
            type: 'AssistantCreated',
            data: {
              ...{ assistantId, graphId, name: `The ${assistantId.toUpperCase()}`, description: null },
              ...{ config: { tags: ['x'] }, context: null, system: owner === undefined },
              metadata: owner === undefined ? { created_by: 'system' } : { owner },
            },
          },
        ],
      },
    ]),
  );

const find = async (
  log: EventLog,
  search: Partial<AssistantSearch> = {},
  filter?: Filter,
): Promise<string> => {
  const page = { sortBy: 'assistant_id', sortOrder: 'asc', limit: 10, offset: 0, ...search } as const;
  const { assistants, total } = await log.views.assistants.search(page, filter);
  return `${assistants.map(({ assistantId }) => assistantId).join(' ')} of ${total}`;
};

test('given an assistant, when it is read, then it is all that was created', () =>
  withLog(async ({ log, clock }) => {
    await created(log, 'a', 'graph', 'ann');
    assert.deepEqual(await log.views.assistants.get('a'), {
      ...{ assistantId: 'a', graphId: 'graph', name: 'The A', description: null, config: { tags: ['x'] } },
      ...{ context: null, metadata: { owner: 'ann' }, version: 1, system: false },
      ...{ createdAt: clock.now(), updatedAt: clock.now() },
    });
    assert.equal(await log.views.assistants.get('b'), undefined);
  }));

test('given assistants, when they are searched, then graph, name, metadata and page narrow', () =>
  withLog(async ({ log }) => {
    for (const [id, graph, owner] of [
      ['a', 'g', 'ann'],
      ['b', 'g', 'bob'],
      ['c', 'h', 'ann'],
    ] as const)
      await created(log, id, graph, owner);
    assert.equal(await find(log), 'a b c of 3');
    assert.equal(await find(log, { graphId: 'g' }), 'a b of 2');
    assert.equal(await find(log, { name: 'the B' }), 'b of 1');
    assert.equal(await find(log, { name: '%' }), ' of 0');
    assert.equal(await find(log, { metadata: { owner: 'ann' } }), 'a c of 2');
    assert.equal(await find(log, { limit: 1, offset: 1 }), 'b of 3');
    for (const sortBy of ASSISTANT_SORTS)
      assert.match(await find(log, { sortBy, sortOrder: 'desc' }), /^c .* of 3$/);
  }));

test('A2 A3 given a filter, when assistants are read, then one sees its own and those of the system', () =>
  withLog(async ({ log }) => {
    for (const [id, owner] of [
      ['a', 'ann'],
      ['b', 'bob'],
      ['s', undefined],
    ] as const)
      await created(log, id, 'g', owner);
    assert.equal(await find(log, {}, ANN), 'a s of 2');
    assert.equal(await find(log, { metadata: { owner: 'bob' } }, ANN), ' of 0');
    assert.equal(await log.views.assistants.get('b', ANN), undefined);
    assert.equal((await log.views.assistants.get('s', ANN))?.system, true);
  }));

test.run();

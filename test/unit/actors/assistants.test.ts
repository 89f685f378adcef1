import assert from 'node:assert/strict';
import { ensureSystemAssistants, systemAssistantId } from '../../../src/actors/assistants.ts';
import { LogUnavailable } from '../../../src/actors/threads.ts';
import { searchAssistants } from '../../../src/projections/assistant-queries.ts';
import { createRandom } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import { seededIds, withLog } from '../../support/with-log.ts';

const test = suite('actors/assistants');

test('given graphs, when their assistants are ensured again and again, then each has exactly one with the known id', () =>
  withLog(async ({ log, clock, reopen }) => {
    const ids = seededIds(clock, createRandom(1));
    await ensureSystemAssistants(log, ids, ['agent', 'other'], {
      agent: { config: { tags: ['x'] }, context: { a: 1 } },
    });
    await ensureSystemAssistants(log, ids, ['agent']);
    const again = await reopen();
    await ensureSystemAssistants(again, ids, ['agent', 'other', 'third']);
    const page = { sortBy: 'graph_id', sortOrder: 'asc', limit: 10, offset: 0 } as const;
    const { assistants } = await searchAssistants(again.rows, page);
    assert.deepEqual(
      assistants.map((one) => [one.graphId, one.assistantId, one.config, one.context, one.system]),
      [
        ['agent', 'fe096781-5601-53d2-b2f6-0d3403f7e9ca', { tags: ['x'] }, { a: 1 }, true],
        ['other', systemAssistantId('other'), {}, {}, true],
        ['third', systemAssistantId('third'), {}, {}, true],
      ],
    );
    assert.equal((await again.readAll(0, 100)).length, 3);
  }));

test('L4 given a log that takes nothing, when assistants are ensured, then it throws', () =>
  withLog(async ({ log, clock, behind }) => {
    behind((db) => db.exec('ALTER TABLE events RENAME TO lost'));
    await assert.rejects(
      ensureSystemAssistants(log, seededIds(clock, createRandom(1)), ['agent']),
      LogUnavailable,
    );
  }));

test.run();

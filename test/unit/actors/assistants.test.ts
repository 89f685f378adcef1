import assert from 'node:assert/strict';
import {
  createAssistants,
  ensureSystemAssistants,
  systemAssistantId,
} from '../../../src/actors/assistants.ts';
import { LogUnavailable } from '../../../src/store/port/log-failures.ts';
import { createRandom } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import { seededIds, withLog } from '../../support/with-log.ts';

const test = suite('actors/assistants');

test('ensuring system assistants again leaves each graph exactly one, with the known id', () =>
  withLog(async ({ log, clock, reopen }) => {
    const ids = seededIds(clock, createRandom(1));
    const assistants = createAssistants({ log, ids });
    await ensureSystemAssistants(assistants, [{ id: 'agent' }, { id: 'other' }], {
      agent: { config: { tags: ['x'] }, context: { a: 1 } },
    });
    await ensureSystemAssistants(assistants, [{ id: 'agent' }]);
    const again = await reopen();
    await ensureSystemAssistants(createAssistants({ log: again, ids }), [
      { id: 'agent', description: 'later' },
      { id: 'other' },
      { id: 'third', description: 'The third' },
    ]);
    const page = { sortBy: 'graph_id', sortOrder: 'asc', limit: 10, offset: 0 } as const;
    const { assistants: found } = await again.views.assistants.search(page);
    assert.deepEqual(
      found.map((one) => [one.graphId, one.assistantId, one.config, one.context, one.description]),
      [
        ['agent', 'fe096781-5601-53d2-b2f6-0d3403f7e9ca', { tags: ['x'] }, { a: 1 }, null],
        ['other', systemAssistantId('other'), {}, {}, null],
        ['third', systemAssistantId('third'), {}, {}, 'The third'],
      ],
    );
    assert.ok(found.every(({ system }) => system));
    assert.equal((await again.readAll(0, 100)).length, 3);
  }));

test('L4 given a log that takes nothing, when assistants are ensured, then it throws', () =>
  withLog(async ({ log, clock, behind }) => {
    behind((db) => db.exec('ALTER TABLE assistant_versions RENAME TO lost'));
    const assistants = createAssistants({ log, ids: seededIds(clock, createRandom(1)) });
    await assert.rejects(ensureSystemAssistants(assistants, [{ id: 'agent' }]), LogUnavailable);
  }));

test.run();

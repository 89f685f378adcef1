/** What graph factories with two parameters are called with. */
import * as assert from 'node:assert/strict';
import { Client } from '@langchain/langgraph-sdk';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { config } from './scene.ts';

const test = suite('conformance: graph factories');

test('a factory is told what it makes a graph for: a run, an update, a read, an assistant', () =>
  withServer({ config: config('platform.auth.json') }, async (s) => {
    // given
    const headers = { authorization: 'Bearer alice-token' };
    const { threads, runs, assistants } = new Client({
      ...{ apiUrl: s.url, apiKey: null, defaultHeaders: headers },
    });
    const { thread_id: threadId } = await threads.create();
    // when
    await runs.wait(threadId, 'told', { input: { log: ['in'] }, context: { tone: 'kind' } });
    await threads.updateState(threadId, { values: { log: ['set'] }, asNode: 'work' });
    // then
    const run = 'threads.create_run of alice with {"tone":"kind"}';
    const update = 'threads.update of alice';
    const read = 'threads.read of alice';
    const log = ['in', run, 'worked', run, 'set', update];
    assert.deepEqual((await threads.getState(threadId)).values, { log, read });
    const history = await threads.getHistory<{ read: string }>(threadId);
    assert.deepEqual(new Set(history.map(({ values }) => values.read)), new Set([read]));
    assert.deepEqual((await threads.get(threadId)).values, { log });
    const { nodes } = await assistants.getGraph('told');
    assert.ok(nodes.some(({ id }) => id === 'assistants.read'));
    assert.ok((await assistants.getSchemas('told')).state_schema?.properties?.['log']);
  }));

test.run();

import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { MISSING, TIMESTAMP } from './scene.ts';

const test = suite('conformance: assistants');

const GRAPHS = [
  ...['agent', 'approve', 'asks', 'breaks', 'chain', 'echo', 'fails', 'gate', 'sees', 'steps', 'stubborn'],
];
/** The id that every server of this interface gives to the graph "agent". */
const AGENT = 'fe096781-5601-53d2-b2f6-0d3403f7e9ca';

test('given a graph, when its assistant is read by name and by id, then both are the same full record', () =>
  withServer({}, async (s) => {
    const byName = await s.client.assistants.get('agent');
    assert.equal(byName.assistant_id, AGENT);
    for (const id of [AGENT, AGENT.toUpperCase()])
      assert.deepEqual(await s.client.assistants.get(id), byName);
    const { created_at: created, updated_at: updated, ...rest } = byName;
    assert.match(created, TIMESTAMP);
    assert.equal(updated, created);
    assert.deepEqual(rest, {
      assistant_id: AGENT,
      graph_id: 'agent',
      name: 'agent',
      description: null,
      config: {},
      context: {},
      metadata: { created_by: 'system' },
      version: 1,
    });
    await s.restart();
    assert.deepEqual(await s.client.assistants.get('agent'), byName);
  }));

test('given no such assistant, when it is read, then the answer is 404', () =>
  withServer({}, async (s) => {
    for (const id of ['nobody', MISSING, '__proto__', 'agent%20', '%00', '%F0%9F%A6%89', 'x'.repeat(2000)]) {
      const { status, json } = await s.request('GET', `/assistants/${id}`);
      assert.deepEqual([status, json], [404, { detail: 'Assistant not found' }], id);
    }
  }));

test('given the assistants, when they are searched by graph, name and metadata, then exactly the matches come', () =>
  withServer({}, async (s) => {
    const names = async (wanted: object): Promise<string[]> => {
      const { status, json } = await s.request('POST', '/assistants/search', { limit: 100, ...wanted });
      assert.equal(status, 200);
      return (json as { name: string }[]).map(({ name }) => name).sort();
    };
    assert.deepEqual(await names({}), GRAPHS);
    assert.deepEqual(await names({ graph_id: 'echo' }), ['echo']);
    assert.deepEqual(await names({ graph_id: 'ech' }), []);
    assert.deepEqual(
      await names({ name: 'E' }),
      GRAPHS.filter((name) => name.includes('e')),
    );
    assert.deepEqual(await names({ name: 'GEN' }), ['agent']);
    assert.deepEqual(await names({ name: '%' }), []);
    assert.deepEqual(await names({ metadata: { created_by: 'system' } }), GRAPHS);
    assert.deepEqual(await names({ metadata: { created_by: 'nobody' } }), []);
    assert.deepEqual(await names({ metadata: {}, name: null, graph_id: null }), GRAPHS);
  }));

test('given the assistants, when they are searched page by page, then order, headers and select are exact', () =>
  withServer({}, async (s) => {
    const ask = (body: object) => s.request('POST', '/assistants/search', body);
    const sorted = { sort_by: 'name', sort_order: 'asc', select: ['name'] };
    const page = await ask({ ...sorted, limit: 4, offset: 4 });
    assert.deepEqual(
      page.json,
      GRAPHS.slice(4, 8).map((name) => ({ name })),
    );
    assert.equal(page.headers.get('x-pagination-total'), '11');
    assert.equal(page.headers.get('x-pagination-next'), '8');
    const last = await ask({ ...sorted, sort_order: 'desc', limit: 4, offset: 8 });
    assert.deepEqual(
      last.json,
      [...GRAPHS]
        .reverse()
        .slice(8)
        .map((name) => ({ name })),
    );
    assert.equal(last.headers.get('x-pagination-next'), null);
    assert.equal((await ask({})).json.length, 10);
    for (const field of ['assistant_id', 'graph_id', 'created_at', 'updated_at']) {
      const { json } = await ask({ sort_by: field, sort_order: 'asc', limit: 100 });
      const values = (json as Record<string, string>[]).map((record) => record[field]!);
      assert.deepEqual(values, [...values].sort(), field);
    }
    const found = await s.client.assistants.search({ limit: 3, offset: 9, includePagination: true });
    assert.deepEqual([found.assistants.length, found.next], [2, null]);
  }));

test.run();

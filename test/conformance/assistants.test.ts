import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { MISSING, say, textsOf, TIMESTAMP } from './scene.ts';

const test = suite('conformance: assistants');

const GRAPHS = [
  ...['agent', 'approve', 'asks', 'breaks', 'chain', 'echo', 'fails', 'gate', 'sees', 'steps', 'stubborn'],
];
/** The id that every server of this interface gives to the graph "agent". */
const AGENT = 'fe096781-5601-53d2-b2f6-0d3403f7e9ca';

test('client.assistants.get: given a graph, when its assistant is read by name and by id, then both are the same full record', () =>
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

test('client.assistants.search: given the assistants, when they are searched page by page, then order, headers and select are exact', () =>
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
    const first = await s.client.assistants.search({
      ...{ limit: 3, sortBy: 'name', sortOrder: 'asc', select: ['name'], includePagination: true },
    });
    assert.deepEqual(first, { assistants: GRAPHS.slice(0, 3).map((name) => ({ name })), next: '3' });
  }));

test('assistants are sorted by name and graph without regard to case', () =>
  withServer({}, async (s) => {
    for (const name of ['b', 'A', 'C', 'a2'])
      await s.client.assistants.create({ graphId: 'echo', name, metadata: { own: 1 } });
    for (const [sortOrder, names] of [
      ['asc', ['A', 'a2', 'b', 'C']],
      ['desc', ['C', 'b', 'a2', 'A']],
    ] as const) {
      const found = await s.client.assistants.search({ metadata: { own: 1 }, sortBy: 'name', sortOrder });
      assert.deepEqual(
        found.map(({ name }) => name),
        names,
      );
    }
  }));

test('client.assistants.count: given assistants of users and of the server, when they are counted, then the number is that of the matches', () =>
  withServer({}, async (s) => {
    const { assistants } = s.client;
    for (const name of ['simple_runtime', 'Other'])
      await assistants.create({ graphId: 'echo', name, metadata: { created_by: 'system', team: name } });
    assert.equal(await assistants.count(), GRAPHS.length + 2);
    assert.equal(await assistants.count({ graphId: 'echo' }), 3);
    assert.equal(await assistants.count({ metadata: { team: 'Other' } }), 1);
    assert.equal(await assistants.count({ metadata: { created_by: 'system' } }), GRAPHS.length);
    for (const name of ['SIMPLE_runtime', 'SIMPLE_', '_runtime', 'PLE_run']) {
      assert.equal(await assistants.count({ name }), 1, name);
      const [found] = await assistants.search({ name });
      assert.equal(found?.name, 'simple_runtime');
    }
  }));

test('client.assistants.delete: given an assistant with runs and threads, when it is deleted, then it is gone with what was asked for', () =>
  withServer({}, async (s) => {
    const { assistants, threads, runs } = s.client;
    const make = () => assistants.create({ graphId: 'echo' });
    const { assistant_id: kept } = await make();
    const { assistant_id: id } = await make();
    const [ran, marked, other] = [
      await threads.create(),
      await threads.create({ metadata: { assistant_id: id } }),
      await threads.create(),
    ];
    await runs.wait(ran.thread_id, id, { input: {} });
    await runs.wait(other.thread_id, kept, { input: {} });
    const { status, json } = await s.request('DELETE', `/assistants/${kept}`);
    assert.deepEqual([status, json], [204, undefined]);
    assert.equal((await threads.get(other.thread_id)).thread_id, other.thread_id);
    await assistants.delete(id, { deleteThreads: true });
    await assert.rejects(threads.get(ran.thread_id), /HTTP 404/);
    // A client cannot mark a thread as an assistant's.
    assert.equal((await threads.get(marked.thread_id)).thread_id, marked.thread_id);
    for (const gone of [id, kept]) {
      await assert.rejects(assistants.get(gone), /HTTP 404/);
      await assert.rejects(assistants.getVersions(gone), /HTTP 404/);
      await assert.rejects(assistants.delete(gone), /HTTP 404: .*Assistant not found/);
      await assert.rejects(runs.create(other.thread_id, gone), /HTTP 404/);
    }
    assert.equal(await assistants.count(), GRAPHS.length);
  }));

test('given threads that stay, when the assistant of their runs is deleted, then the runs are gone and what was said goes on', () =>
  withServer({}, async (s) => {
    const { assistants, threads, runs } = s.client;
    const ids = await Promise.all(
      ['approve', 'breaks', 'echo'].map(
        async (graphId) => (await assistants.create({ graphId })).assistant_id,
      ),
    );
    const [asking, broken] = [await threads.create(), await threads.create()];
    // An earlier run of another graph stays: the state is not taken for that graph's.
    await runs.wait(asking.thread_id, 'echo', { input: say('first') });
    await runs.wait(asking.thread_id, ids[2]!, { input: say('second') });
    await runs.wait(asking.thread_id, ids[0]!, { input: say('may I?') });
    await runs.wait(broken.thread_id, ids[1]!, { input: say('x') }).catch(() => undefined);
    const look = async () => {
      const shown = [
        await s.client.threads.get(asking.thread_id),
        await s.client.threads.get(broken.thread_id),
      ];
      const states = [
        await s.client.threads.getState(asking.thread_id),
        await s.client.threads.getState(broken.thread_id),
      ];
      return JSON.parse(JSON.stringify([shown.map((thread) => ({ ...thread, updated_at: null })), states]));
    };
    const before = await look();
    assert.deepEqual(
      (await threads.get(asking.thread_id)).status + (await threads.get(broken.thread_id)).status,
      'interruptederror',
    );
    for (const id of ids) await assistants.delete(id);
    // Its config and title are those of a run: it has none any more.
    before[0][1].config = {};
    delete before[0][1].title;
    assert.deepEqual(await look(), before);
    const left = await runs.list(asking.thread_id);
    assert.deepEqual(left.length, 1);
    assert.deepEqual(await runs.list(broken.thread_id), []);
    await s.restart();
    assert.deepEqual(await look(), before);
    const values = await s.client.runs.wait(asking.thread_id, 'approve', { command: { resume: 'yes' } });
    assert.deepEqual(textsOf(values).at(-1), 'The answer was "yes"');
  }));

test("given the server's own assistant, when it is deleted, then its id is nobody else's and it is back after a restart", () =>
  withServer({}, async (s) => {
    const first = await s.client.assistants.update('echo', { name: 'edited' });
    await s.client.assistants.delete('echo');
    for (const ifExists of ['raise', 'do_nothing'] as const)
      await assert.rejects(
        s.client.assistants.create({ graphId: 'agent', assistantId: first.assistant_id, ifExists }),
        /HTTP 409/,
      );
    await s.restart();
    const again = await s.client.assistants.get('echo');
    assert.deepEqual([again.assistant_id, again.name, again.version], [first.assistant_id, 'echo', 1]);
  }));

test.run();

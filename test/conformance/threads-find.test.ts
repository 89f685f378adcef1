import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { config, growingClock, MISSING, newThread, say } from './scene.ts';

const test = suite('conformance: threads by what they hold');

test('client.threads.search: given threads with values, when they are searched by values, then containment decides and those without have none', () =>
  withServer({ config: config('platform.states.json'), clock: growingClock() }, async (s) => {
    const made: string[] = [];
    for (const name of ['Ann', 'Bob', 'Cleo']) {
      const id = await newThread(s, { metadata: { name } });
      await s.client.runs.wait(id, 'echo', { input: { ...say(name), tags: ['x', { name }] } });
      made.unshift(id);
    }
    const [c, b, a] = made;
    await newThread(s);
    const find = async (values: Record<string, unknown>, more: object = {}) => {
      const answer = await s.request('POST', '/threads/search', { values, ...more });
      const got = await s.request(
        'GET',
        `/threads?${new URLSearchParams({ values: JSON.stringify(values), ...more } as Record<string, string>)}`,
      );
      assert.deepEqual(got.json, answer.json);
      const pages = ['x-pagination-total', 'x-pagination-next'].map((name) => answer.headers.get(name));
      return [answer.json.map((thread: { thread_id: string }) => thread.thread_id), ...pages];
    };
    assert.deepEqual(await find({ tags: ['x'] }), [[c, b, a], '3', null]);
    assert.deepEqual(await find({ tags: ['x'] }, { limit: 2 }), [[c, b], '3', '2']);
    assert.deepEqual(await find({ tags: ['x'] }, { limit: 2, offset: 2 }), [[a], '3', null]);
    assert.deepEqual(await find({ tags: [{ name: 'Bob' }] }), [[b], '1', null]);
    assert.deepEqual(await find({ messages: [{ content: 'echo: Ann' }] }, { sort_by: 'created_at' }), [
      [a],
      '1',
      null,
    ]);
    assert.deepEqual(await find({ tags: ['y'] }), [[], '0', null]);
    assert.equal((await find({}))[1], '4');
    const { client } = s;
    assert.equal(
      (await client.threads.search({ values: { tags: ['x'] }, metadata: { name: 'Cleo' } })).length,
      1,
    );
  }));

test('client.threads.count: given threads, when they are counted, then metadata, values and status restrict', () =>
  withServer({}, async (s) => {
    const { threads, runs } = s.client;
    assert.equal(await threads.count(), 0);
    const id = await newThread(s, { metadata: { k: 1 } });
    await newThread(s, { metadata: { k: 1 } });
    await runs.wait(id, 'asks', { input: say('hi') });
    assert.equal(await threads.count(), 2);
    assert.equal(await threads.count({ metadata: { k: 1 } }), 2);
    assert.equal(await threads.count({ status: 'interrupted' }), 1);
    assert.equal(await threads.count({ values: { messages: [{ content: 'hi' }] } }), 1);
    assert.equal(await threads.count({ values: { messages: [] }, status: 'idle' }), 0);
  }));

test('client.threads.search: given paths, when threads are searched with extract, then each alias holds what lies there or null', () =>
  withServer({}, async (s) => {
    const id = await newThread(s, { metadata: { user: { name: 'Ann', 'a-b': 1 } } });
    await s.client.runs.wait(id, 'asks', { input: say('first') });
    await newThread(s);
    const extract = {
      last: 'values.messages[-1].content',
      first: 'values.messages[0].content',
      beyond: 'values.messages[7].content',
      all: 'values.messages',
      name: 'metadata.user.name',
      dashed: 'metadata.user.a-b',
      graph: 'metadata.graph_id',
      missing: 'metadata.no.such',
      inherited: 'metadata.constructor',
      config: 'config',
    };
    const [empty, full] = await s.client.threads.search({
      ...{ extract, select: ['thread_id'], sortBy: 'created_at', sortOrder: 'desc' },
    });
    assert.deepEqual(Object.keys(full!), ['thread_id', 'extracted']);
    const { all, ...found } = full!.extracted!;
    assert.equal((all as unknown[]).length, 1);
    assert.deepEqual(found, {
      ...{ last: 'first', first: 'first', beyond: null, name: 'Ann', dashed: 1, graph: 'asks' },
      ...{ missing: null, inherited: null, config: { configurable: {} } },
    });
    assert.deepEqual(empty!.extracted!['all'], null);
    const task = Object.keys((await s.client.threads.get(id)).interrupts)[0]!;
    const [asked] = await s.client.threads.search({
      ...{ extract: { question: `interrupts.${task}[0].value.question` }, ids: [id] },
    });
    assert.deepEqual(asked!.extracted, { question: 'go on?' });
    assert.ok(asked!.values);
  }));

test('client.threads.get: given a thread with values and a time to live, when it is read, then both come, the latter only when asked for', () =>
  withServer({}, async (s) => {
    const { threads, runs } = s.client;
    const { thread_id: id } = await threads.create({ metadata: { a: 1 }, ttl: 60 });
    await runs.wait(id, 'echo', { input: say('hi') });
    const thread = await threads.get(id);
    assert.deepEqual([thread.status, thread.metadata?.['a' as never], 'ttl' in thread], ['idle', 1, false]);
    const asked = (await threads.get(id, { include: ['ttl'] })) as { ttl?: { ttl_minutes: number } };
    assert.equal(asked.ttl?.ttl_minutes, 60);
    await assert.rejects(threads.get(MISSING), /HTTP 404/);
  }));

test('extracts have names of letters, digits and underscores; none are shown when none were asked (official 6)', () =>
  withServer({}, async (s) => {
    await newThread(s, { metadata: { a: 1 } });
    const find = (extract: Record<string, string>) => s.request('POST', '/threads/search', { extract });
    for (const name of ['a b', '1a', 'é', ''])
      assert.equal((await find({ [name]: 'metadata.a' })).status, 422, name);
    assert.deepEqual((await find({ _a1: 'metadata.a' })).json[0].extracted, { _a1: 1 });
    assert.equal('extracted' in (await find({})).json[0], false);
  }));

test.run();

import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import {
  ended,
  growingClock,
  MISSING,
  MORE,
  newThread,
  say,
  startGated,
  TIMESTAMP,
  untilMark,
  config,
} from './scene.ts';

const test = suite('conformance: threads');

test('given an empty object or no body at all, when a thread is created, then it has every key of a new thread', () =>
  withServer({}, async (s) => {
    for (const body of [{}, undefined, { metadata: null, thread_id: null, if_exists: null }]) {
      const { status, headers, json } = await s.request('POST', '/threads', body);
      assert.equal(status, 200);
      assert.match(headers.get('content-type') ?? '', /^application\/json/);
      const { thread_id: id, created_at: created, updated_at: updated, ...rest } = json;
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      assert.match(created, TIMESTAMP);
      assert.equal(updated, created);
      assert.deepEqual(rest, {
        ...{ metadata: {}, status: 'idle', config: {}, values: null, interrupts: {} },
        state_updated_at: created,
      });
      assert.deepEqual((await s.request('GET', `/threads/${id}`)).json, json);
    }
  }));

test('given an id and metadata, when the client creates a thread with them, then both are kept exactly', () =>
  withServer({}, async (s) => {
    const threadId = 'AAAAAAAA-bbbb-4ccc-8ddd-eeeeeeeeeeee';
    const metadata = { lang: 'Ünïcødé 🦉', deep: { list: [1, { two: null }] } };
    const thread = await s.client.threads.create({ threadId, metadata });
    assert.equal(thread.thread_id, threadId.toLowerCase());
    assert.deepEqual(thread.metadata, metadata);
    assert.deepEqual(await s.client.threads.get(threadId.toLowerCase()), thread);
    assert.deepEqual(await s.client.threads.get(threadId), thread);
  }));

test('given a thread, when its id is created again, then raise answers 409 and do_nothing leaves it unchanged (D3)', () =>
  withServer({ clock: growingClock() }, async (s) => {
    const first = await s.client.threads.create({ metadata: { kept: true } });
    const again = { thread_id: first.thread_id, metadata: { kept: false, more: 1 } };
    const before = (await s.events()).length;
    for (const policy of [{}, { if_exists: 'raise' }] as const) {
      const refused = await s.request('POST', '/threads', { ...again, ...policy });
      assert.equal(refused.status, 409);
      assert.deepEqual(refused.json, { detail: 'Thread already exists' });
    }
    const same = await s.request('POST', '/threads', { ...again, if_exists: 'do_nothing' });
    assert.equal(same.status, 200);
    assert.deepEqual(same.json, first);
    assert.deepEqual(await s.client.threads.get(first.thread_id), first);
    assert.equal((await s.events()).length, before);
  }));

test('given 20 creations of one thread at once, when all have answered, then one made it and 19 found it', () =>
  withServer({}, async (s) => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => s.request('POST', '/threads', { thread_id: MISSING })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array<number>(19).fill(409)]);
    assert.equal((await s.events()).filter(({ type }) => type === 'ThreadCreated').length, 1);
  }));

test('given a thread, when its metadata is patched, then keys merge at the top level only and updated_at grows', () =>
  withServer({ clock: growingClock() }, async (s) => {
    const thread = await s.client.threads.create({ metadata: { a: 1, b: { c: 1 } } });
    const patched = await s.client.threads.update(thread.thread_id, { metadata: { b: { d: 2 }, e: null } });
    assert.deepEqual(patched.metadata, { a: 1, b: { d: 2 }, e: null });
    assert.ok(patched.updated_at > thread.updated_at);
    assert.equal(patched.created_at, thread.created_at);
    assert.deepEqual(await s.client.threads.get(thread.thread_id), patched);

    const minimal = await s.request(
      'PATCH',
      `/threads/${thread.thread_id}`,
      { metadata: { f: 1 } },
      { prefer: 'return=minimal' },
    );
    assert.equal(minimal.status, 204);
    assert.equal(minimal.text, '');
    const { metadata } = await s.client.threads.get(thread.thread_id);
    assert.deepEqual(metadata, { a: 1, b: { d: 2 }, e: null, f: 1 });
  }));

test('given no such thread, when it is read, changed or deleted, then the answer is 404 and nothing is written', () =>
  withServer({}, async (s) => {
    const before = (await s.events()).length;
    const detail = `Thread with ID ${MISSING} not found`;
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { metadata: {} }],
      ['DELETE', '', undefined],
      ['GET', '/state', undefined],
      ['GET', '/runs', undefined],
      ['POST', '/runs', { assistant_id: 'echo' }],
      ['POST', '/runs/stream', { assistant_id: 'echo' }],
      ['POST', '/runs/wait', { assistant_id: 'echo' }],
    ] as const) {
      const answer = await s.request(method, `/threads/${MISSING}${path}`, body);
      assert.deepEqual([answer.status, answer.json], [404, { detail }], `${method} ${path}`);
    }
    assert.equal((await s.events()).length, before);
  }));

test('client.threads.delete: given a thread with values, when it is deleted, then it is gone from every route, and its id can begin anew (L3)', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const values = await s.client.runs.wait(threadId, 'echo', { input: say('secret words') });
    assert.equal((await s.client.threads.get(threadId)).status, 'idle');
    assert.deepEqual((await s.client.threads.get(threadId)).values, values);

    await s.client.threads.delete(threadId);
    for (const path of ['', '/state', '/runs'])
      assert.equal((await s.request('GET', `/threads/${threadId}${path}`)).status, 404, path);
    assert.equal((await s.request('DELETE', `/threads/${threadId}`)).status, 404);
    assert.deepEqual((await s.request('GET', '/threads')).json, []);
    assert.ok(!JSON.stringify(await s.events()).includes('secret words'));

    const again = await s.request('POST', '/threads', { thread_id: threadId, metadata: { life: 'second' } });
    assert.deepEqual([again.status, again.json.values, again.json.metadata], [200, null, { life: 'second' }]);
    assert.deepEqual((await s.request('GET', `/threads/${threadId}/history`)).json, []);
    assert.deepEqual(await s.client.runs.list(threadId), []);
    const anew = await s.client.runs.wait(threadId, 'echo', { input: say('other words') });
    assert.deepEqual((await s.client.threads.get(threadId)).values, anew);
    assert.ok(!JSON.stringify(anew).includes('secret words'));
    await s.restart();
    const gone = await s.request('DELETE', `/threads/${threadId}`);
    assert.deepEqual([gone.status, gone.text], [204, '']);
    const implied = await s.request('POST', `/threads/${threadId}/runs/wait`, {
      assistant_id: 'echo',
      input: say('third words'),
      if_not_exists: 'create',
    });
    assert.equal(implied.status, 200);
    assert.equal((await s.client.threads.getHistory(threadId)).length > 0, true);
  }));

test('given a running and a queued run, when the thread is deleted, then both end cancelled and the graph is stopped (X2, X3)', () =>
  withServer({ config: MORE }, async (s) => {
    const threadId = await newThread(s);
    const marks = join(s.dir, 'marks');
    const { runId } = await startGated(s, threadId, {
      graph: 'signals',
      config: { configurable: { marks } },
    });
    const queued = await s.client.runs.create(threadId, 'echo', { input: say('never') });
    const join_ = s.request('GET', `/threads/${threadId}/runs/${runId}/join`);
    const outcomes = [runId, queued.run_id].map((id) => s.until(ended(id)));

    assert.equal((await s.request('DELETE', `/threads/${threadId}`)).status, 204);

    for (const fact of await Promise.all(outcomes))
      assert.equal((fact.data as { outcome: { kind: string } }).outcome.kind, 'cancelled');
    await untilMark(marks, 'stopped');
    const { status, json } = await join_;
    assert.deepEqual([status, Object.keys(json)], [200, ['__error__']]);
    assert.equal((await s.request('GET', `/threads/${threadId}/runs/${queued.run_id}`)).status, 404);
    const left = (await s.events()).filter(({ meta }) => meta.stream.includes(threadId));
    assert.deepEqual(
      left.map(({ type }) => type),
      ['ThreadDeleted'],
    );
  }));

test('a thread shows the title that its first run with a text gave it, until that run is deleted', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const titleOf = async (): Promise<unknown> => (await s.request('GET', `/threads/${threadId}`)).json.title;
    const run = async (text: string): Promise<string> => {
      const body = { assistant_id: 'echo', input: say(text) };
      const { run_id: runId } = (await s.request('POST', `/threads/${threadId}/runs`, body)).json;
      await s.request('GET', `/threads/${threadId}/runs/${runId}/join`);
      return runId as string;
    };
    assert.equal(await titleOf(), undefined);
    const first = await run('where is Ulm?');
    await run('and Bonn?');
    assert.equal(await titleOf(), 'where is Ulm?');
    const found = await s.request('POST', '/threads/search', { select: ['title'] });
    assert.deepEqual(found.json, [{ title: 'where is Ulm?' }]);
    await s.request('DELETE', `/threads/${threadId}/runs/${first}`);
    assert.equal(await titleOf(), undefined);
    await run('and Kiel?');
    assert.equal(await titleOf(), 'and Kiel?');
    // when the thread is copied or pruned, then the title stays, and a later run gives no other
    const copy = (await s.request('POST', `/threads/${threadId}/copy`)).json;
    assert.equal(copy.title, 'and Kiel?');
    await run('and Jena?');
    await s.request('POST', '/threads/prune', { thread_ids: [threadId], strategy: 'keep_latest' });
    await run('and Hof?');
    assert.equal(await titleOf(), 'and Kiel?');
    const named = await newThread(s, { metadata: { title: 'Cities' } });
    await s.request('POST', `/threads/${named}/runs/wait`, { assistant_id: 'echo', input: say('hi') });
    assert.equal((await s.request('GET', `/threads/${named}`)).json.title, 'Cities');
  }));

test('clients do not write the metadata keys of the server (official 1.6)', () =>
  withServer({ config: config('platform.json') }, async (s) => {
    const forged = { assistant_id: 'f', run_id: 'f', thread_id: 'f', cron_id: 'f' };
    const kept = { graph_id: 'g', user_id: 'u', created_by: 'c', owner: 'o', langgraph_x: 'l' };
    const post = async (path: string, body: object) => (await s.request('POST', path, body)).json;
    const metadata = { ...forged, ...kept };
    const thread = await post('/threads', { metadata });
    assert.deepEqual(thread.metadata, kept);
    const { json } = await s.request('PATCH', `/threads/${thread.thread_id}`, {
      metadata: { ...forged, more: 1 },
    });
    assert.deepEqual(json.metadata, { ...kept, more: 1 });
    assert.deepEqual((await post('/assistants', { graph_id: 'echo', metadata })).metadata, kept);
    const plan = { assistant_id: 'echo', schedule: '0 0 1 1 *', metadata };
    assert.deepEqual((await post('/runs/crons', plan)).metadata, kept);
  }));

test.run();

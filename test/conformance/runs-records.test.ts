import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { growingClock, MISSING, newThread, say, textsOf, TIMESTAMP } from './scene.ts';

const test = suite('conformance: run records');

test('given everything a run can be told, when it is created, then its record tells it back', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s, { metadata: { of: 'thread', thread_only: 1 } });
    const { assistant_id: assistantId } = await s.client.assistants.get('echo');
    const unknown = { an_unknown_member: { ignored: true } };
    const answer = await s.request('POST', `/threads/${threadId}/runs`, {
      assistant_id: 'echo',
      input: say('hi'),
      metadata: { of: 'run', run_only: 2 },
      config: { tags: ['t'], recursion_limit: 7, configurable: { mine: 1, __pregel_x: 1 } },
      context: { model: 'm' },
      webhook: 'https://example.com/hook?token=1',
      interrupt_before: ['a'],
      interrupt_after: '*',
      stream_mode: ['updates', 'values', 'updates'],
      stream_subgraphs: true,
      stream_resumable: true,
      multitask_strategy: 'reject',
      durability: 'sync',
      after_seconds: 3600,
      feedback_keys: ['k'],
      checkpoint_during: true,
      langsmith_tracer: { project_name: 'x' },
      ...unknown,
    });
    assert.equal(answer.status, 200);
    const { run_id: runId, created_at: created, updated_at: updated, ...rest } = answer.json;
    assert.match(created, TIMESTAMP);
    assert.match(updated, TIMESTAMP);
    const delay = new Date(created).getTime() - new Date(updated).getTime();
    assert.ok(delay > 3_590_000 && delay <= 3_600_000, `${delay}`);
    const own = { graph_id: 'echo', assistant_id: assistantId };
    assert.deepEqual(rest, {
      thread_id: threadId,
      assistant_id: assistantId,
      status: 'pending',
      metadata: { created_by: 'system', of: 'run', thread_only: 1, run_only: 2, ...own },
      kwargs: {
        input: say('hi'),
        command: null,
        config: {
          tags: ['t'],
          recursion_limit: 7,
          metadata: { created_by: 'system', of: 'run', thread_only: 1, run_only: 2, ...own },
          configurable: {
            mine: 1,
            langsmith_project: 'x',
            langgraph_request_id: answer.json.kwargs.config.configurable.langgraph_request_id,
            run_id: runId,
            thread_id: threadId,
            graph_id: 'echo',
            assistant_id: assistantId,
          },
        },
        context: { model: 'm' },
        stream_mode: ['updates', 'values'],
        interrupt_before: ['a'],
        interrupt_after: '*',
        feedback_keys: ['k'],
        webhook: 'https://example.com/hook?token=***',
        subgraphs: true,
        resumable: true,
        temporary: false,
        checkpoint_during: true,
        durability: 'sync',
      },
      multitask_strategy: 'reject',
      cancel_reason: null,
    });
    assert.deepEqual(await s.client.runs.get(threadId, runId), answer.json);
    const thread = await s.client.threads.get(threadId);
    assert.equal(thread.status, 'busy');
    assert.deepEqual(thread.metadata, {
      of: 'thread',
      thread_only: 1,
      graph_id: 'echo',
      assistant_id: assistantId,
    });
  }));

test('given only an assistant and nulls elsewhere, when a run is created, then defaults fill the record', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const nulls = Object.fromEntries(
      ['input', 'command', 'metadata', 'config', 'context', 'checkpoint', 'checkpoint_id', 'webhook']
        .concat(['interrupt_before', 'interrupt_after', 'stream_mode', 'stream_subgraphs', 'on_disconnect'])
        .concat(['on_completion', 'multitask_strategy', 'if_not_exists', 'after_seconds', 'durability'])
        .map((field) => [field, null]),
    );
    const { json } = await s.request('POST', `/threads/${threadId}/runs`, { assistant_id: 'echo', ...nulls });
    const { config: _, interrupt_before: __, interrupt_after: ___, ...kwargs } = json.kwargs;
    assert.deepEqual(kwargs, {
      ...{ input: null, command: null, context: {}, webhook: null, feedback_keys: null },
      ...{ stream_mode: ['values'], subgraphs: false, resumable: false, temporary: false },
      ...{ durability: 'async', checkpoint_during: true },
    });
    assert.equal(json.multitask_strategy, 'enqueue');
    await s.client.runs.join(threadId, json.run_id);
  }));

test('client.runs.get, client.runs.list: given runs of all sorts, when they are listed, then newest come first, filtered, paged and cut down', () =>
  withServer({ clock: growingClock() }, async (s) => {
    const threadId = await newThread(s);
    const list = async (query = ''): Promise<Record<string, unknown>[]> => {
      const { status, json } = await s.request('GET', `/threads/${threadId}/runs${query}`);
      assert.equal(status, 200);
      return json;
    };
    assert.deepEqual(await list(), []);
    const ids: string[] = [];
    for (let i = 0; i < 12; i++) {
      const graph = i === 3 ? 'fails' : 'echo';
      const metadata = { i, parity: i % 2 };
      const run = await s.client.runs.create(threadId, graph, { input: {}, metadata });
      await s.client.runs.join(threadId, run.run_id);
      ids.unshift(run.run_id);
    }
    const idsOf = (runs: Record<string, unknown>[]) => runs.map(({ run_id: id }) => id);
    assert.deepEqual(idsOf(await list()), ids.slice(0, 10));
    assert.deepEqual(idsOf(await list('?limit=3&offset=10')), ids.slice(10));
    assert.deepEqual(idsOf(await list('?limit=100000')), ids);
    assert.deepEqual(idsOf(await list('?status=error')), [ids[8]]);
    assert.deepEqual(idsOf(await list('?status=success&limit=100')).length, 11);
    assert.deepEqual(await list('?status=running'), []);
    assert.deepEqual(idsOf(await list('?limit=100&metadata={"parity":1}')).length, 6);
    assert.deepEqual(await list('?limit=1&select=["run_id","status"]'), [
      { run_id: ids[0], status: 'success' },
    ]);
    assert.deepEqual(
      await s.client.runs.list(threadId, { limit: 2, status: 'success', select: ['run_id'] }),
      ids.slice(0, 2).map((id) => ({ run_id: id })),
    );
    const other = await newThread(s);
    assert.deepEqual(await s.client.runs.list(other), []);
    await assert.rejects(s.client.runs.get(other, ids[0]!), /404.*Run not found/);
    assert.equal((await s.request('GET', `/threads/${MISSING}/runs/${ids[0]}`)).status, 404);
    assert.deepEqual((await s.request('GET', `/threads/${threadId}/runs/${MISSING}`)).json, {
      detail: 'Run not found',
    });
  }));

test('given every route that creates runs, when it answers, then Content-Location names the run and Location its rest', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    for (const [base, rest] of [
      [`/threads/${threadId}/runs`, null],
      [`/threads/${threadId}/runs/stream`, 'stream'],
      [`/threads/${threadId}/runs/wait`, 'join'],
      ['/runs', null],
      ['/runs/stream', 'stream'],
      ['/runs/wait', 'join'],
    ] as const) {
      const { status, headers } = await s.request('POST', base, { assistant_id: 'echo', input: {} });
      assert.equal(status, 200);
      const named = headers.get('content-location') ?? '';
      const prefix = base.startsWith('/threads') ? `/threads/${threadId}` : '';
      const thread = base === '/runs/wait' ? '/threads/[0-9a-f-]{36}' : prefix;
      assert.match(named, new RegExp(`^${thread}/runs/[0-9a-f-]{36}$`));
      const at = `${prefix}${named.slice(named.indexOf('/runs/'))}`;
      assert.equal(headers.get('location'), rest === null ? null : `${at}/${rest}`);
      if (rest !== null) assert.equal((await s.request('GET', `${at}/${rest}`)).status, 200);
    }
    // Requests about a run name it as well.
    const path = `/threads/${threadId}/runs/${(await newest(s, threadId)).run_id}`;
    for (const [method, to] of [
      ['GET', 'join'],
      ['GET', 'stream'],
      ['POST', 'cancel?wait=1'],
    ] as const) {
      const { headers } = await s.request(method, `${path}/${to}`);
      assert.equal(headers.get('content-location'), path, to);
      assert.equal(headers.get('location'), `${path}/${to === 'stream' ? 'stream' : 'join'}`, to);
    }
    const seen: unknown[] = [];
    await s.client.runs.wait(threadId, 'echo', { input: {}, onRunCreated: (run) => seen.push(run) });
    assert.deepEqual(seen, [{ thread_id: threadId, run_id: (await newest(s, threadId)).run_id }]);
  }));

const newest = async (s: TestServer, threadId: string) => (await s.client.runs.list(threadId))[0]!;

test('given after_seconds, when the time has not come, then the run is pending, and it starts no sooner', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const run = await s.client.runs.create(threadId, 'echo', { input: say('later'), afterSeconds: 0.25 });
    assert.equal(run.status, 'pending');
    assert.equal((await s.client.threads.get(threadId)).status, 'busy');
    const started = s.until(({ type, data }) => type === 'RunStarted' && data.runId === run.run_id);
    assert.deepEqual(textsOf(await s.client.runs.join(threadId, run.run_id)), ['later', 'echo: later']);
    assert.ok((await started).meta.at >= new Date(run.created_at).getTime());
    // Nobody promised whole milliseconds.
    for (const seconds of [0.00015, 1e-300, 0.0005, 0])
      await s.client.runs.wait(threadId, 'echo', { input: {}, afterSeconds: seconds });
  }));

test('given an unknown assistant, when any route that creates runs names it, then the status itself is 404', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const before = (await s.events()).length;
    for (const prefix of [`/threads/${threadId}`, ''])
      for (const route of ['runs', 'runs/stream', 'runs/wait'])
        for (const id of ['nobody', MISSING, '__proto__']) {
          const { status, headers, json } = await s.request('POST', `${prefix}/${route}`, {
            assistant_id: id,
          });
          assert.equal(status, 404);
          assert.match(headers.get('content-type') ?? '', /json/);
          assert.match(json.detail, new RegExp(`^No assistant found for "${id}"\\. Make sure`));
        }
    assert.equal((await s.events()).length, before);
  }));

test.run();

import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, newThread, say } from './scene.ts';

const test = suite('conformance: what a run is told');
const MODES = { config: config('platform.modes.json') };

/** Untyped, because its shape is what tests assert. */
async function told(s: TestServer, body: object, threadId?: string): Promise<any> {
  const values = await s.request('POST', `/threads/${threadId ?? (await newThread(s))}/runs/wait`, {
    assistant_id: 'tells',
    input: {},
    ...body,
  });
  return values.json.told;
}

test('a run for which no context is given has none (official 2.1)', () =>
  withServer(MODES, async (s) => assert.equal((await told(s, {})).context, null)));

test('given an assistant and a request with configuration, when a run starts, then the request wins key by key', () =>
  withServer(
    {
      ...MODES,
      overrides: {
        assistantDefaults: {
          tells: {
            config: {
              tags: ['assistant'],
              recursion_limit: 9,
              metadata: { from: 'assistant', kept: 1 },
              configurable: { model: 'a', size: 'small', user_id: 'of-assistant', run_id: 'forged' },
            },
            context: { tone: 'dry', lang: 'en' },
          },
        },
      },
    },
    async (s) => {
      const plain = await told(s, {});
      assert.deepEqual([plain.tags, plain.context], [['assistant'], { tone: 'dry', lang: 'en' }]);
      const threadId = await newThread(s, { metadata: { of: 'thread' } });
      const seen = await told(
        s,
        {
          metadata: { of: 'run', asked: true },
          config: {
            configurable: { model: 'b', user_id: null, graph_id: 'forged', platform_auth_user_id: 'forged' },
            metadata: { from: 'config', of: 'config' },
          },
          context: { lang: 'de' },
          langsmith_tracer: { project_name: 'p', example_id: 'e' },
        },
        threadId,
      );
      const [run] = (await s.request('GET', `/threads/${threadId}/runs`)).json;
      const { langgraph_request_id: requestId, ...configurable } = seen.configurable;
      assert.match(requestId, /^[0-9a-f-]{36}$/);
      assert.equal(requestId, run.kwargs.config.configurable.langgraph_request_id);
      const { model, size, user_id: user, checkpoint_ns: _, checkpoint_map: __, ...rest } = configurable;
      assert.deepEqual([model, size, user], ['b', 'small', 'of-assistant']);
      assert.deepEqual(rest, {
        langsmith_project: 'p',
        langsmith_example_id: 'e',
        run_id: run.run_id,
        thread_id: threadId,
        graph_id: 'tells',
        assistant_id: run.assistant_id,
      });
      assert.deepEqual(seen.context, { tone: 'dry', lang: 'de' });
      assert.deepEqual(seen.tags, ['assistant']);
      const { from, kept, of, asked, run_id: runId, run_attempt: attempt } = seen.metadata;
      assert.deepEqual([from, kept, of, asked, runId, attempt], ['config', 1, 'run', true, run.run_id, 1]);
      assert.equal(run.kwargs.config.recursion_limit, 9);
      assert.deepEqual(run.kwargs.config.metadata, {
        graph_id: 'tells',
        assistant_id: run.assistant_id,
        created_by: 'system',
        from: 'config',
        kept: 1,
        of: 'run',
        asked: true,
      });
      const thread = (await s.request('GET', `/threads/${threadId}`)).json;
      assert.deepEqual(thread.metadata, {
        of: 'thread',
        graph_id: 'tells',
        assistant_id: run.assistant_id,
      });
      assert.deepEqual(thread.config, {
        configurable: {},
        metadata: { from: 'config', kept: 1, of: 'config' },
        recursion_limit: 9,
        tags: ['assistant'],
      });
    },
  ));

test('given the older name of durability, when it is used, then only the last checkpoint or every one is kept', () =>
  withServer(MODES, async (s) => {
    const saved = async (body: object): Promise<[unknown, number]> => {
      const threadId = await newThread(s);
      const run = { assistant_id: 'chain', input: {}, ...body };
      await s.request('POST', `/threads/${threadId}/runs/wait`, run);
      const [{ kwargs }] = (await s.request('GET', `/threads/${threadId}/runs`)).json;
      return [kwargs.durability, (await s.server.log.payloads.checkpoints(threadId, { ns: '' })).length];
    };
    assert.deepEqual(await saved({ checkpoint_during: false }), ['exit', 1]);
    assert.deepEqual(await saved({ checkpoint_during: true }), ['async', 7]);
    assert.deepEqual(await saved({ checkpoint_during: false, durability: 'sync' }), ['sync', 7]);
    assert.deepEqual(await saved({ checkpoint_during: null }), ['async', 7]);
  }));

test('given fields of other servers, when a run has them, then it runs, and what is malformed is named', () =>
  withServer(MODES, async (s) => {
    const body = { assistant_id: 'echo', input: say('hi') };
    for (const more of [
      { on_completion: 'complete' as const },
      { on_completion: 'continue' as const },
      { feedback_keys: ['a'], stream_resumable: false },
      { langsmith_tracer: {}, feedback_keys: null, stream_resumable: null, checkpoint_during: null },
    ]) {
      const answer = await s.request('POST', '/runs/wait', { ...body, ...more });
      assert.equal(answer.status, 200);
      assert.deepEqual(Object.keys(answer.json), ['messages']);
    }
    for (const [field, value] of Object.entries({
      checkpoint_during: 'yes',
      stream_resumable: 1,
      feedback_keys: 'all',
      langsmith_tracer: 'on',
      stream_mode: 'loud',
      on_completion: 'x',
      'command.goto': { command: { goto: 7 } },
      'command.goto.1': { command: { goto: ['work', { input: 1 }] } },
      'command.update': { command: { update: 'x' } },
    })) {
      const more = field.startsWith('command') ? (value as object) : { [field]: value };
      const answer = await s.request('POST', '/runs', { ...body, ...more });
      assert.equal(answer.status, 422, field);
      assert.ok(answer.json.detail.startsWith(field.split('.').slice(0, 2).join('.')), answer.json.detail);
    }
  }));

test('given a stateless run, when it names a checkpoint, then it starts from nothing all the same', () =>
  withServer(MODES, async (s) => {
    const place = { checkpoint_id: '11111111-1111-1111-8111-111111111111', checkpoint_ns: '' };
    for (const more of [{ checkpoint: place }, { checkpoint_id: place.checkpoint_id }]) {
      const answer = await s.request('POST', '/runs/wait', { assistant_id: 'chain', input: {}, ...more });
      assert.deepEqual(answer.json, { visited: ['one', 'two', 'three', 'four', 'five'] });
    }
  }));

test('given a graph with a limit of its own, when a run names none, then that holds, and a named one wins', () =>
  withServer(MODES, async (s) => {
    const run = async (config?: Record<string, unknown>): Promise<any> =>
      (await s.request('POST', '/runs/wait', { assistant_id: 'bound', input: {}, ...(config && { config }) }))
        .json;
    assert.equal((await run()).seen.length, 30);
    assert.equal((await run({ tags: [] })).seen.length, 30);
    assert.equal((await run({ recursion_limit: 5 })).__error__.error, 'GraphRecursionError');
  }));

test('given a command, when it goes to nodes with inputs of their own, then those run and nothing else', () =>
  withServer(MODES, async (s) => {
    const commands: [object, string[]][] = [
      [{ goto: 'work' }, ['work nothing']],
      [{ goto: ['work', 'first'] }, ['first', 'work nothing']],
      [{ goto: { node: 'work', input: { item: 'x' } } }, ['work x']],
      [
        {
          goto: [
            { node: 'work', input: { item: 'x' } },
            { node: 'work', input: null },
          ],
        },
        ['work x', 'work nothing'],
      ],
      [{ goto: 'fan' }, ['fan', 'work a', 'work b']],
      [{ update: { seen: ['told'] }, goto: 'work' }, ['told', 'work nothing']],
      [{ update: [['seen', ['pairs']]], goto: 'work' }, ['pairs', 'work nothing']],
      [{ update: null, goto: 'work', resume: null }, ['work nothing']],
    ];
    for (const [command, expected] of commands) {
      const threadId = await newThread(s);
      const answer = await s.request('POST', `/threads/${threadId}/runs/wait`, {
        assistant_id: 'errands',
        command,
        input: { seen: ['ignored'] },
      });
      assert.deepEqual(answer.json.seen, expected, JSON.stringify(command));
    }
  }));

test("a run's metadata is that of request, config, thread and assistant, in this order, under the server's names (official 1.6, 2.2)", () =>
  withServer(MODES, async (s) => {
    // given: a thread on which another assistant has run, and the same keys on all four
    const post = async (path: string, body: object) => (await s.request('POST', path, body)).json;
    const own = { metadata: { all: 'assistant', four: 'assistant', a: 1 } };
    const { assistant_id } = await post('/assistants', { graph_id: 'tells', ...own });
    const thread = await newThread(s, { metadata: { all: 'thread', three: 'thread', t: 1 } });
    await post(`/threads/${thread}/runs/wait`, { assistant_id: 'echo', input: {} });
    const forged = { run_id: 'forged', thread_id: 'forged', cron_id: 'forged', assistant_id: 'forged' };
    const config = { metadata: { all: 'config', three: 'config', two: 'config', ...forged } };
    const metadata = { all: 'request', two: 'request', ...forged };
    // when
    const run = await post(`/threads/${thread}/runs`, { assistant_id, input: {}, metadata, config });
    // then
    assert.deepEqual(run.metadata, {
      ...{ all: 'request', two: 'request', three: 'config', four: 'assistant', a: 1, t: 1 },
      ...{ graph_id: 'tells', assistant_id },
    });
    assert.equal('run_id' in run.kwargs.config.metadata, false);
    assert.equal((await s.request('GET', `/threads/${thread}`)).json.metadata.three, 'thread');
    const named = await post('/runs', { assistant_id: 'echo', metadata: { graph_id: 'mine' } });
    assert.deepEqual(named.metadata, {
      ...{ created_by: 'system', graph_id: 'mine', assistant_id: named.assistant_id },
    });
  }));

test.run();

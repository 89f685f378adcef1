/** What requests may say and what records show; the numbers name sections of the official server's behaviour. */
import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { PROJECT, withServer } from '../support/with-server.ts';
import { config, MORE, newThread, startGated } from './scene.ts';

const test = suite('conformance: requests and records');

const MODES = { config: config('platform.modes.json') };
const STATES = { config: config('platform.states.json') };

test('a context that is no object is refused by name, on assistants, runs and crons (official 2.1)', () =>
  withServer({}, async (s) => {
    const { json: assistant } = await s.request('POST', '/assistants', { graph_id: 'echo' });
    for (const context of [5, 'text', [1]])
      for (const [method, path, body] of [
        ['POST', '/assistants', { graph_id: 'echo' }],
        ['PATCH', `/assistants/${assistant.assistant_id}`, {}],
        ['POST', '/runs', { assistant_id: 'echo', input: {} }],
        ['POST', '/runs/crons', { assistant_id: 'echo', schedule: '0 0 1 1 *' }],
      ] as const) {
        const { status, json } = await s.request(method, path, { ...body, context });
        assert.deepEqual([status, json.detail], [422, 'context: expected an object'], `${method} ${path}`);
      }
  }));

test('a change of an assistant mirrors its context beside other settings; an empty config keeps it (official 2.1)', () =>
  withServer({}, async (s) => {
    const { json: made } = await s.request('POST', '/assistants', { graph_id: 'echo', context: { a: 1 } });
    const change = async (body: object) => {
      const { json } = await s.request('PATCH', `/assistants/${made.assistant_id}`, body);
      return [json.config, json.context];
    };
    const both = [{ tags: ['t'], configurable: { b: 2 } }, { b: 2 }];
    assert.deepEqual(await change({ context: { b: 2 }, config: { tags: ['t'] } }), both);
    assert.deepEqual(await change({ config: {} }), both);
    assert.deepEqual(await change({ config: { tags: ['u'] } }), [{ tags: ['u'] }, { b: 2 }]);
  }));

test('a version that never was is missing, a drawing of no levels is refused (official 6)', () =>
  withServer({}, async (s) => {
    const { json: made } = await s.request('POST', '/assistants', { graph_id: 'chain' });
    for (const version of [0, -1, 99]) {
      const { status } = await s.request('POST', `/assistants/${made.assistant_id}/latest`, { version });
      assert.equal(status, 404, String(version));
    }
    const draw = async (xray: string) =>
      (await s.request('GET', `/assistants/${made.assistant_id}/graph?xray=${xray}`)).status;
    assert.deepEqual(
      await Promise.all(['0', '-1', '1', '2', 'true', 'false'].map(draw)),
      [422, 422, 200, 200, 200, 200],
    );
  }));

test("a run's metadata has its config's, over the thread's and below the request's (official 2.2)", () =>
  withServer(MODES, async (s) => {
    // given: a thread whose metadata, the config and the request share a key
    const thread = await newThread(s, { metadata: { both: 'thread', of: 'thread' } });
    const config = { metadata: { own: 1, of: 'config', run_id: 'forged', assistant_id: 'forged' } };
    // when
    const create = async (more: object) =>
      (
        await s.request('POST', `/threads/${thread}/runs`, {
          assistant_id: 'tells',
          input: {},
          config,
          ...more,
        })
      ).json;
    const [plain, told] = [await create({}), await create({ metadata: { of: 'request' } })];
    // then: the names of the run stay the server's, and the thread keeps its own metadata
    const { graph_id, assistant_id, created_by, ...metadata } = plain.metadata;
    assert.deepEqual([graph_id, assistant_id, created_by], ['tells', plain.assistant_id, 'system']);
    assert.deepEqual(metadata, { both: 'thread', of: 'config', own: 1 });
    assert.equal(told.metadata.of, 'request');
    assert.equal('run_id' in plain.kwargs.config.metadata, false);
    const { json } = await s.request('GET', `/threads/${thread}`);
    assert.equal(json.metadata.of, 'thread');
  }));

test('a run shows how it is saved and streamed when nothing was asked (official 2.3)', () =>
  withServer(MODES, async (s) => {
    const shown = async (body: object) => {
      const { json } = await s.request('POST', '/runs', { assistant_id: 'tells', input: {}, ...body });
      const { context, durability, checkpoint_during: during, stream_mode: modes } = json.kwargs;
      return [context, durability, during, modes];
    };
    assert.deepEqual(await shown({}), [{}, 'async', true, ['values']]);
    assert.deepEqual(await shown({ stream_mode: [] }), [{}, 'async', true, ['values']]);
    assert.deepEqual(await shown({ checkpoint_during: false }), [{}, 'exit', false, ['values']]);
    assert.deepEqual(await shown({ durability: 'sync' }), [{}, 'sync', true, ['values']]);
  }));

test('graph code knows the id of the request, which is no metadata of checkpoints (official 2.3)', () =>
  withServer(MODES, async (s) => {
    const thread = await newThread(s);
    const run = async (headers: Record<string, string>) => {
      const body = { assistant_id: 'tells', input: {} };
      await s.request('POST', `/threads/${thread}/runs/wait`, body, headers);
      const [{ kwargs }] = (await s.request('GET', `/threads/${thread}/runs?limit=1`)).json;
      const { values, metadata } = (await s.request('GET', `/threads/${thread}/state`)).json;
      assert.equal('langgraph_request_id' in metadata, false);
      const id = kwargs.config.configurable.langgraph_request_id;
      assert.equal(values.told.configurable.langgraph_request_id, id);
      return id;
    };
    assert.equal(await run({ 'x-request-id': 'req-7' }), 'req-7');
    assert.match(await run({}), /^[\da-f]{8}-[\da-f-]{27}$/);
  }));

test('the reply of a stateless wait names thread and run (official 2.5)', () =>
  withServer({}, async (s) => {
    const { headers } = await s.request('POST', '/runs/wait', { assistant_id: 'echo', input: {} });
    const place = headers.get('content-location') ?? '';
    assert.match(place, /^\/threads\/[\da-f-]{36}\/runs\/[\da-f-]{36}$/);
    assert.equal(headers.get('location'), `${place.slice(place.indexOf('/runs/'))}/join`);
  }));

test('a run that was cancelled among many says so (official 1.2)', () =>
  withServer({}, async (s) => {
    const thread = await newThread(s);
    const { runId } = await startGated(s, thread);
    await s.request('POST', '/runs/cancel', { thread_id: thread, run_ids: [runId] });
    await s.until(({ type, data }) => type === 'RunCompleted' && data.runId === runId);
    const { json } = await s.request('GET', `/threads/${thread}`);
    assert.deepEqual(json.error, {
      error: 'UserInterrupt',
      message: 'interrupt requested via POST /runs/cancel',
    });
  }));

test('an update that the graph refuses is a 400, also among supersteps (official 6)', () =>
  withServer(STATES, async (s) => {
    const thread = await newThread(s);
    await s.request('POST', `/threads/${thread}/runs/wait`, { assistant_id: 'agent', input: {} });
    const update = { values: {}, as_node: 'nobody' };
    for (const [path, body] of [
      [`/threads/${thread}/state`, update],
      ['/threads', { metadata: { graph_id: 'agent' }, supersteps: [{ updates: [update] }] }],
    ] as const) {
      const { status, json } = await s.request('POST', path, body);
      assert.equal(status, 400, path);
      assert.match(json.detail, /Node "nobody" does not exist/);
    }
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

test('the payload of a cron names its assistant by id (official 5.2)', () =>
  withServer({ config: MORE }, async (s) => {
    const plan = { assistant_id: 'echo', schedule: '0 0 1 1 *' };
    const { json: made } = await s.request('POST', '/runs/crons', plan);
    assert.equal(made.payload.assistant_id, made.assistant_id);
    const { json: changed } = await s.request('PATCH', `/runs/crons/${made.cron_id}`, {
      assistant_id: 'gate',
    });
    assert.notEqual(changed.assistant_id, made.assistant_id);
    assert.equal(changed.payload.assistant_id, changed.assistant_id);
  }));

test('crons on threads are found with their threads (official 4, A2)', () =>
  withServer(
    {
      config: config('platform.auth.json'),
      overrides: { auth: { file: `${PROJECT}auth-variants.ts`, exportName: 'steered' } },
    },
    async (s) => {
      // given: crons on threads of two owners, and one without a thread
      const cronOn = async (owner: string) => {
        const thread = await newThread(s, { metadata: { owner } });
        const body = { assistant_id: 'sees', schedule: '0 0 1 1 *' };
        const { json } = await s.request('POST', `/threads/${thread}/runs/crons`, body);
        return [thread, json.cron_id];
      };
      const [[, mine], [theirs, foreign]] = [await cronOn('alice'), await cronOn('bob')];
      const free = { assistant_id: 'sees', schedule: '0 0 1 1 *' };
      const { cron_id: own } = (await s.request('POST', '/runs/crons', free)).json;
      // when: the handler restricts threads and says nothing about crons
      const scoped = async (path: string, body: object = {}) =>
        (await s.request('POST', path, body, { 'x-verdict': 'scopes threads' })).json;
      // then
      const found = (await scoped('/runs/crons/search')).map((cron: { cron_id: string }) => cron.cron_id);
      assert.deepEqual(found.sort(), [mine, own].sort());
      assert.equal(await scoped('/runs/crons/count'), 2);
      assert.deepEqual(await scoped('/runs/crons/search', { thread_id: theirs }), []);
      assert.equal((await s.request('POST', '/runs/crons/count', {})).json, 3, foreign);
    },
  ));

test.run();

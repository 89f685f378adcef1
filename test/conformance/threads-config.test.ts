/** `config` of threads; the numbers name sections of the official server's behaviour. */
import * as assert from 'node:assert/strict';
import { sharedServer } from '../support/shared-server.ts';
import { suite } from '../support/suite.ts';
import { PROJECT, withServer } from '../support/with-server.ts';
import { config, newThread, startGated } from './scene.ts';

const test = suite('conformance: config of threads');
const server = sharedServer(test, { config: config('platform.modes.json') });

const configOf = async (threadId: string) =>
  (await server().request('GET', `/threads/${threadId}`)).json.config;
const run = async (threadId: string, body: object) => {
  const path = `/threads/${threadId}/runs/wait`;
  const { status } = await server().request('POST', path, { assistant_id: 'tells', input: {}, ...body });
  assert.equal(status, 200);
};

test('a thread shows the config of its last run without its settings (official 1.5, P2)', async () => {
  // given: a thread without runs
  const s = server();
  const thread = await newThread(s);
  assert.deepEqual(await configOf(thread), {});
  // when
  const config = { tags: ['t'], recursion_limit: 9, configurable: { k: 1 }, metadata: { m: 1 } };
  await run(thread, { config });
  // then: wherever threads are shown
  const shown = { tags: ['t'], recursion_limit: 9, metadata: { m: 1 }, configurable: {} };
  assert.deepEqual(await configOf(thread), shown);
  const [found] = (await s.request('POST', '/threads/search', { ids: [thread], select: ['config'] })).json;
  assert.deepEqual(found, { config: shown });
  const again = await s.request('POST', '/threads', { thread_id: thread, if_exists: 'do_nothing' });
  assert.deepEqual(again.json.config, shown);
  const patched = await s.request('PATCH', `/threads/${thread}`, { metadata: { a: 1 } });
  assert.deepEqual(patched.json.config, shown);
  assert.deepEqual((await s.request('POST', `/threads/${thread}/copy`)).json.config, {});
  // when: a run without a config comes last
  await run(thread, {});
  assert.deepEqual(await configOf(thread), { configurable: {} });
});

test('a waiting run does not replace the config of the one that is under way (official 1.5)', async () => {
  const s = server();
  const thread = await newThread(s);
  const settings = { assistant_id: 'gate', input: {}, config: { configurable: { gate: s.dir } } };
  const later = { ...settings, after_seconds: 3600, config: { ...settings.config, tags: ['waits'] } };
  // given: a run that is not due for an hour is the thread's only one
  await s.request('POST', `/threads/${thread}/runs`, later);
  assert.deepEqual((await configOf(thread)).tags, ['waits']);
  // when
  const { open, gate, runId } = await startGated(s, thread, { multitask_strategy: 'enqueue' });
  // then
  assert.deepEqual(await configOf(thread), { configurable: {} }, gate);
  open();
  await s.until(({ type, data }) => type === 'RunCompleted' && data.runId === runId);
});

test('a deleted run takes its config along (official 1.5)', async () => {
  const s = server();
  const thread = await newThread(s);
  await run(thread, { config: { tags: ['first'] } });
  await run(thread, { config: { tags: ['second'] } });
  for (const left of [{ tags: ['first'], configurable: {} }, {}]) {
    const [{ run_id: last }] = (await s.request('GET', `/threads/${thread}/runs?limit=1`)).json;
    assert.equal((await s.request('DELETE', `/threads/${thread}/runs/${last}`)).status, 204);
    assert.deepEqual(await configOf(thread), left);
  }
});

test('config of an assistant reaches no run of another one on the thread (official 1.5, 7)', async () => {
  // given: an assistant with settings and tags has run on the thread
  const s = server();
  const thread = await newThread(s);
  const own = { tags: ['own'], recursion_limit: 7, configurable: { secret: 'own' } };
  const { json: made } = await s.request('POST', '/assistants', { graph_id: 'tells', config: own });
  await run(thread, { assistant_id: made.assistant_id, config: { configurable: { asked: 'first' } } });
  assert.deepEqual(await configOf(thread), { tags: ['own'], recursion_limit: 7, configurable: {} });
  // when: a run of the graph's own assistant follows
  await run(thread, {});
  // then: neither its record nor its graph code knows them
  const [{ kwargs }] = (await s.request('GET', `/threads/${thread}/runs?limit=1`)).json;
  assert.equal('tags' in kwargs.config, false);
  assert.equal('recursion_limit' in kwargs.config, false);
  const { told } = (await s.request('GET', `/threads/${thread}/state`)).json.values;
  for (const { configurable, context } of [{ ...kwargs.config, ...kwargs }, told])
    for (const key of ['secret', 'asked'])
      for (const holder of [configurable ?? {}, context ?? {}]) assert.equal(key in holder, false, key);
  assert.deepEqual(await configOf(thread), { configurable: {} });
});

test('a run that is refused leaves the graph, metadata and config of its thread as they were (D3)', async () => {
  // given: a thread of one graph, whose run is open
  const s = server();
  const thread = await newThread(s);
  await run(thread, { config: { tags: ['own'] } });
  const { runId, open } = await startGated(s, thread, { multitask_strategy: 'enqueue' });
  const before = (await s.request('GET', `/threads/${thread}`)).json;
  const other = { assistant_id: 'echo', input: {}, config: { tags: ['other'] } };
  // when: runs of another graph are refused
  for (const [body, status] of [
    [{ ...other, multitask_strategy: 'reject' }, 409],
    [{ ...other, config: { recursion_limit: 0 } }, 422],
    [{ ...other, webhook: 'http://169.254.169.254/' }, 422],
    [{ ...other, checkpoint_id: thread }, 422],
  ] as const)
    assert.equal((await s.request('POST', `/threads/${thread}/runs`, body)).status, status);
  // then
  assert.deepEqual((await s.request('GET', `/threads/${thread}`)).json, before);
  assert.equal(before.metadata.graph_id, 'gate');
  open();
  await s.until(({ type, data }) => type === 'RunCompleted' && data.runId === runId);
});

test('a run that the handler refuses leaves the metadata of its thread as it was (A2, D3)', () =>
  withServer(
    {
      config: config('platform.auth.json'),
      overrides: { auth: { file: `${PROJECT}auth-variants.ts`, exportName: 'steered' } },
    },
    async (s) => {
      // given
      const thread = await newThread(s);
      await s.request('POST', `/threads/${thread}/runs/wait`, { assistant_id: 'sees', input: {} });
      const before = (await s.request('GET', `/threads/${thread}`)).json;
      // when
      const body = { assistant_id: 'echo', input: {}, metadata: { graph_id: 'forged' } };
      const { status } = await s.request('POST', `/threads/${thread}/runs`, body, { 'x-verdict': 'false' });
      // then
      assert.equal(status, 403);
      assert.deepEqual((await s.request('GET', `/threads/${thread}`)).json, before);
      assert.equal(before.metadata.graph_id, 'sees');
    },
  ));

test.run();

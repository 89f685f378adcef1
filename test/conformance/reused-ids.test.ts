/** L3 Everything that refers to a deleted thing forgets it, so that its id, or a key that was sent for it, is new again. */
import * as assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';
import { config, newThread, say, startGated, textsOf } from './scene.ts';
import { openStream } from './stream-reader.ts';

const test = suite('conformance: ids and keys that are used again');

const MISSED = 404;
const LARGE = 'x'.repeat(100_000);

interface Scene {
  readonly s: TestServer;
  readonly threadId: string;
  readonly hook: string;
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<any>;
  status(method: string, path: string, body?: unknown): Promise<number>;
}

interface Reference {
  readonly name: string;
  /** Makes something that refers to the thread, and returns what the check needs. */
  refer(scene: Scene): Promise<any>;
  /** The thread was deleted and made anew under its id. */
  check(scene: Scene, before: any): Promise<void>;
}

const ECHO = { assistant_id: 'echo', input: say('before') };

const REFERENCES: readonly Reference[] = [
  {
    name: 'its state, history and runs',
    refer: async ({ s, threadId, ask }) => {
      await ask('POST', `/threads/${threadId}/runs/wait`, ECHO);
      await s.client.threads.updateState(threadId, { values: { note: LARGE } });
      assert.equal(((await s.client.threads.get(threadId)).values as any).note, LARGE);
      return (await s.client.runs.list(threadId))[0]!.run_id;
    },
    async check({ s, threadId, ask, status }, runId) {
      const path = `/threads/${threadId}`;
      assert.deepEqual([await ask('GET', `${path}/history`), await ask('GET', `${path}/runs`)], [[], []]);
      assert.equal(await status('GET', `${path}/runs/${runId}`), MISSED);
      const { values, metadata, interrupts, status: is } = await s.client.threads.get(threadId);
      assert.deepEqual([values, metadata, interrupts, is], [null, { again: true }, {}, 'idle']);
      const ended = await ask('POST', `${path}/runs/wait`, { assistant_id: 'echo', input: say('after') });
      assert.deepEqual([textsOf(ended), ended.note], [['after', 'echo: after'], undefined]);
    },
  },
  {
    name: 'an idempotency key',
    refer: async ({ threadId, ask }) => {
      const path = `/threads/${threadId}/runs`;
      return (await ask('POST', path, ECHO, { 'idempotency-key': threadId })).run_id;
    },
    async check({ threadId, ask }, before) {
      const path = `/threads/${threadId}/runs`;
      const key = { 'idempotency-key': threadId };
      const [first, second] = [await ask('POST', path, ECHO, key), await ask('POST', path, ECHO, key)];
      assert.equal(first.run_id, second.run_id);
      assert.notEqual(first.run_id, before);
    },
  },
  {
    name: 'an idempotency key that another request now has',
    refer: ({ threadId, ask }) =>
      ask('POST', `/threads/${threadId}/runs`, ECHO, { 'idempotency-key': threadId }),
    async check({ threadId, ask }) {
      const other = { ...ECHO, input: say('other') };
      const key = { 'idempotency-key': threadId };
      assert.deepEqual(textsOf(await ask('POST', `/threads/${threadId}/runs/wait`, other, key))[0], 'other');
    },
  },
  {
    name: 'a cron',
    refer: ({ threadId, ask }) =>
      ask('POST', `/threads/${threadId}/runs/crons`, { ...ECHO, schedule: '* * * * *' }),
    async check({ threadId, ask, status }, { cron_id: cronId }) {
      assert.deepEqual(await ask('POST', '/runs/crons/search', { thread_id: threadId }), []);
      assert.equal(await status('GET', `/runs/crons/${cronId}`), MISSED);
      const { cron_id: made } = await ask('POST', `/threads/${threadId}/runs/crons`, {
        ...ECHO,
        schedule: '0 0 1 1 *',
      });
      assert.equal((await ask('POST', '/runs/crons/search', { thread_id: threadId }))[0].cron_id, made);
    },
  },
  {
    name: 'a webhook that was delivered',
    refer: async ({ s, threadId, hook, ask }) => {
      await ask('POST', `/threads/${threadId}/runs/wait`, { ...ECHO, webhook: hook });
      await s.until(({ type }) => type === 'WebhookDelivered');
      return (await ask('GET', `/webhooks?thread_id=${threadId}`))[0].webhook_id;
    },
    async check({ threadId, ask, status }, webhookId) {
      assert.deepEqual(await ask('GET', `/webhooks?thread_id=${threadId}`), []);
      assert.equal(await status('GET', `/webhooks/${webhookId}`), MISSED);
      assert.equal(await status('POST', `/webhooks/${webhookId}/redeliver`), MISSED);
    },
  },
  {
    name: 'a webhook that is owed with the deletion',
    refer: ({ s, threadId, hook }) => startGated(s, threadId, { webhook: hook }),
    async check({ threadId, ask }) {
      assert.deepEqual(await ask('GET', `/webhooks?thread_id=${threadId}`), []);
    },
  },
  {
    name: 'a run that executes, and one behind it',
    refer: async ({ s, threadId, ask }) => {
      const gated = await startGated(s, threadId);
      await ask('POST', `/threads/${threadId}/runs`, ECHO);
      return gated.gate;
    },
    async check({ s, threadId, ask }, gate) {
      assert.ok(!existsSync(gate));
      writeFileSync(gate, '');
      const ended = await ask('POST', `/threads/${threadId}/runs/wait`, { ...ECHO, input: say('after') });
      assert.deepEqual(textsOf(ended), ['after', 'echo: after']);
      assert.equal((await s.client.runs.list(threadId)).length, 1);
    },
  },
  {
    name: 'a question',
    refer: ({ threadId, ask }) =>
      ask('POST', `/threads/${threadId}/runs/wait`, { ...ECHO, assistant_id: 'asks' }),
    async check({ s, threadId, ask }) {
      const { next, tasks } = await s.client.threads.getState(threadId);
      assert.deepEqual([next, tasks], [[], []]);
      const found = await ask('POST', '/threads/search', { ids: [threadId], status: 'interrupted' });
      assert.deepEqual(found, []);
    },
  },
  {
    name: 'a place in its stream',
    refer: async ({ s, threadId, ask }) => {
      await ask('POST', `/threads/${threadId}/runs/wait`, ECHO);
      const stream = await openStream(`${s.url}/threads/${threadId}/stream`, {
        headers: { 'last-event-id': '-' },
      });
      const last = (await stream.next())!.id;
      return { last, rest: stream.rest() };
    },
    async check({ s, threadId, ask }, { last, rest }) {
      // The reader of the deleted thread has come to the end of its stream.
      for (const { id } of await rest) assert.equal(id.split('-')[0], last.split('-')[0]);
      await ask('POST', `/threads/${threadId}/runs/wait`, { ...ECHO, input: say('after') });
      const [{ run_id: runId }] = await ask('GET', `/threads/${threadId}/runs`);
      const again = await openStream(`${s.url}/threads/${threadId}/stream`, {
        headers: { 'last-event-id': last },
      });
      assert.equal(((await again.next())!.data as any).run_id, runId);
      again.leave();
    },
  },
];

const sceneOf = (s: TestServer, threadId: string, hook: string): Scene => ({
  ...{ s, threadId, hook },
  async ask(method, path, body, headers) {
    const answer = await s.request(method, path, body, headers ?? {});
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
    return answer.json;
  },
  status: async (method, path, body) => (await s.request(method, path, body)).status,
});

const download = async (s: TestServer, threadId: string): Promise<Uint8Array> =>
  new Uint8Array(await (await fetch(`${s.url}/threads/${threadId}/export`)).arrayBuffer());
const upload = (s: TestServer, file: Uint8Array) =>
  s.request('POST', '/threads/import', file, { 'content-type': 'application/octet-stream' });

for (const restarts of [false, true])
  test(`a thread made under the id of a deleted one has nothing of it${restarts ? ', also after a restart' : ''} (L3)`, () =>
    withWebhookSink((sink) =>
      withServer({}, async (s) => {
        const scenes: { scene: Scene; before: unknown; reference: Reference }[] = [];
        for (const reference of REFERENCES) {
          const threadId = await newThread(s, { metadata: { old: true }, ttl: 60 });
          const scene = sceneOf(s, threadId, sink.url());
          scenes.push({ scene, reference, before: await reference.refer(scene) });
        }
        for (const { scene } of scenes) await s.client.threads.delete(scene.threadId);
        // A server that stops cuts readers off.
        for (const { before } of scenes) await (before as { rest?: Promise<unknown> } | undefined)?.rest;
        if (restarts) await s.restart();
        for (const { scene, before, reference } of scenes) {
          const { threadId } = scene;
          await scene.ask('POST', '/threads', { thread_id: threadId, metadata: { again: true } });
          try {
            await reference.check(scene, before);
          } catch (error) {
            throw new Error(reference.name, { cause: error });
          }
          // It is exported and imported like any other.
          const file = await download(s, threadId);
          await s.client.threads.delete(threadId);
          const { status, text } = await upload(s, file);
          assert.equal(status, 200, `${reference.name}: ${text}`);
        }
      }),
    ));

test('a thread imported under the id of a deleted one has the values of its file (L3)', () =>
  withServer({}, async (s) => {
    // given: a thread with long values, of which a client holds the text
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'echo', { input: { note: LARGE } });
    const file = await download(s, threadId);
    const before = await s.client.threads.get(threadId);
    await s.client.threads.updateState(threadId, { values: { note: 'later' } });
    // when
    await s.client.threads.delete(threadId);
    assert.equal((await upload(s, file)).status, 200);
    // then
    const { values, status } = await s.client.threads.get(threadId);
    assert.deepEqual([values, status], [before.values, 'idle']);
    const ended = await s.client.runs.wait(threadId, 'echo', { input: say('after') });
    assert.deepEqual(textsOf(ended).slice(-2), ['after', 'echo: after']);
    assert.equal((await upload(s, file)).status, 409);
  }));

test('a key of a deleted run is new again, and those of the runs beside it are not (L3, L4)', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const create = async (key: string) => {
      const { json } = await s.request('POST', `/threads/${threadId}/runs`, ECHO, { 'idempotency-key': key });
      await s.client.runs.join(threadId, json.run_id);
      return json.run_id as string;
    };
    const [one, two] = [await create('one'), await create('two')];
    await s.client.runs.delete(threadId, one);
    for (const restarts of [false, true]) {
      if (restarts) await s.restart();
      assert.equal(await create('two'), two);
    }
    const again = await create('one');
    assert.notEqual(again, one);
    assert.equal(await create('one'), again);
    // The runs that pruning deletes are forgotten as well.
    await s.client.threads.prune([threadId], { strategy: 'keep_latest' });
    assert.notEqual(await create('two'), two);
  }));

test('an assistant made under the id of a deleted one has nothing of it (L3)', () =>
  withServer({}, async (s) => {
    const scene = sceneOf(s, '', '');
    const { assistant_id: id } = await scene.ask('POST', '/assistants', { graph_id: 'echo', name: 'old' });
    await s.client.assistants.update(id, { metadata: { old: true }, config: { tags: ['old'] } });
    const threadId = await newThread(s);
    const key = { 'idempotency-key': 'of-the-assistant' };
    const run = await scene.ask('POST', `/threads/${threadId}/runs`, { ...ECHO, assistant_id: id }, key);
    await s.client.runs.join(threadId, run.run_id);
    const cron = await scene.ask('POST', '/runs/crons', { ...ECHO, assistant_id: id, schedule: '0 0 1 1 *' });
    await s.client.assistants.delete(id);
    for (const restarts of [false, true]) {
      if (restarts) {
        await s.client.assistants.delete(id);
        await s.restart();
      }
      const made = await scene.ask('POST', '/assistants', { assistant_id: id, graph_id: 'steps' });
      assert.deepEqual(
        [made.version, made.name, made.metadata, made.config.tags],
        [1, 'Untitled', {}, undefined],
      );
      assert.equal((await s.client.assistants.getVersions(id)).length, 1);
      assert.deepEqual(await scene.ask('POST', '/runs/crons/search', { assistant_id: id }), []);
      assert.equal(await scene.status('GET', `/runs/crons/${cron.cron_id}`), MISSED);
      assert.deepEqual(await scene.ask('GET', `/threads/${threadId}/runs`), []);
      // The thread stays with its graph, and can be read and used.
      assert.deepEqual(textsOf((await s.client.threads.getState(threadId)).values)[0], 'before');
    }
    const again = await scene.ask('POST', `/threads/${threadId}/runs`, { ...ECHO, assistant_id: id }, key);
    assert.notEqual(again.run_id, run.run_id);
  }));

test('an item put in the place of a deleted one is new: its times, its expiry and what it is found by (L3)', () =>
  withServer({ config: config('platform.store.json') }, async (s) => {
    await s.client.store.putItem(['a'], 'key', { old: true, text: 'apples' }, { ttl: 60 });
    const before = await s.client.store.getItem(['a'], 'key');
    await s.client.store.deleteItem(['a'], 'key');
    await s.restart();
    await s.client.store.putItem(['a'], 'key', { text: 'pears' }, { index: false });
    const after = await s.client.store.getItem(['a'], 'key');
    assert.deepEqual(after?.value, { text: 'pears' });
    assert.ok(after!.createdAt > before!.createdAt);
    assert.equal(after!.createdAt, after!.updatedAt);
    const { items } = await s.client.store.searchItems(['a'], { filter: { old: true } });
    assert.deepEqual(items, []);
  }));

test.run();

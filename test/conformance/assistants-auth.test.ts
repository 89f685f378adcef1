import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { PROJECT, withServer, type TestServer } from '../support/with-server.ts';
import { config, say, startGated, textsOf } from './scene.ts';

const test = suite('conformance: owners of assistants');

const AUTH = { config: config('platform.auth.json') };
/** Its handlers do what the header `x-verdict` says. */
const STEERED = {
  ...AUTH,
  overrides: { auth: { file: `${PROJECT}auth-variants.ts`, exportName: 'steered' } },
};
const as = (name: string) => ({ authorization: `Bearer ${name}-token` });
const ID = '22222222-2222-4222-8222-222222222222';

const made = (s: TestServer, body: object = {}, name = 'alice') =>
  s.request('POST', '/assistants', { graph_id: 'echo', assistant_id: ID, ...body }, as(name));

test("given another user's assistant, when others make, find and count assistants, then it is not among them (A3)", () =>
  withServer(AUTH, async (s) => {
    const { json } = await made(s, { name: 'private', metadata: { owner: 'bob', note: 'private' } });
    assert.deepEqual(json.metadata, { owner: 'alice', note: 'private' });
    await s.request('PATCH', `/assistants/${ID}`, { description: 'private' }, as('alice'));
    const before = await s.events();
    for (const if_exists of ['raise', 'do_nothing'])
      assert.deepEqual((await made(s, { if_exists }, 'bob')).json, { detail: 'Assistant already exists' });
    for (const search of [{}, { metadata: { owner: 'alice' } }, { name: 'private' }, { graph_id: 'echo' }]) {
      const found = await s.request('POST', '/assistants/search', { limit: 100, ...search }, as('bob'));
      assert.doesNotMatch(found.text, /private|alice/);
      const { json: count } = await s.request('POST', '/assistants/count', search, as('bob'));
      assert.equal(count, found.json.length);
      const mine = await s.request('POST', '/assistants/count', search, as('alice'));
      assert.equal(mine.json, count + 1);
    }
    assert.deepEqual(await s.events(), before);
    assert.equal((await made(s, { if_exists: 'do_nothing' })).json.version, 2);
    const run = await s.request('POST', '/runs/wait', { assistant_id: ID, input: say('x') }, as('alice'));
    assert.deepEqual(textsOf(run.json), ['x', 'echo: x']);
  }));

test("given the server's own assistants and a filter by owner, when users change or delete them, then 403, and they read on", () =>
  withServer(AUTH, async (s) => {
    const before = await s.events();
    for (const [method, path, body] of [
      ['PATCH', '', { config: {} }],
      ['DELETE', ''],
      ['POST', '/latest', { version: 1 }],
    ] as const) {
      const { status, json } = await s.request(method, `/assistants/echo${path}`, body, as('bob'));
      assert.deepEqual([status, json], [403, { detail: 'Not authorized' }], `${method} ${path}`);
    }
    assert.deepEqual(await s.events(), before);
    assert.equal((await s.request('GET', '/assistants/echo', undefined, as('bob'))).status, 200);
    assert.equal((await s.request('POST', '/assistants/echo/versions', {}, as('bob'))).json.length, 1);
  }));

test('A2 given a handler that only filters, when the metadata of an assistant would leave its filter, then 403 and no event', () =>
  withServer(STEERED, async (s) => {
    const verdict = { 'x-verdict': '{"owner":"alice"}' };
    const create = (metadata: Record<string, unknown>) =>
      s.request('POST', '/assistants', { graph_id: 'echo', assistant_id: ID, metadata }, verdict);
    assert.equal((await create({ owner: 'bob' })).status, 403);
    assert.equal((await create({ owner: 'alice' })).status, 200);
    const before = await s.events();
    const patch = (metadata: Record<string, unknown>) =>
      s.request('PATCH', `/assistants/${ID}`, { metadata }, verdict);
    assert.equal((await patch({ owner: 'bob' })).status, 403);
    assert.deepEqual(await s.events(), before);
    assert.deepEqual((await patch({ topic: 'x' })).json.metadata, { owner: 'alice', topic: 'x' });
    // A version of before the owner changed is not for whom it was hidden from.
    await s.request('PATCH', `/assistants/${ID}`, { metadata: { owner: 'bob' } });
    const bob = { 'x-verdict': '{"owner":"bob"}' };
    const versions = await s.request('POST', `/assistants/${ID}/versions`, {}, bob);
    assert.deepEqual(
      versions.json.map(({ version }: { version: number }) => version),
      [3],
    );
    const back = await s.request('POST', `/assistants/${ID}/latest`, { version: 1 }, bob);
    assert.deepEqual([back.status, back.json], [404, { detail: 'Assistant version not found' }]);
  }));

test('given handlers that change the payload of an assistant, when it is made or changed, then what they wrote is what is kept', () =>
  withServer(STEERED, async (s) => {
    const ask = (method: string, path: string, body: object, verdict: string) =>
      s.request(method, path, body, { 'x-verdict': verdict });
    const body = { graph_id: 'echo', assistant_id: ID, metadata: { mine: 1 }, name: 'n' };
    const { json: stamped } = await ask('POST', '/assistants', body, 'stamps');
    assert.deepEqual([stamped.metadata, stamped.name], [{ stamped: 'alice' }, 'n']);
    const { json: patched } = await ask('PATCH', `/assistants/${ID}`, { name: 'm' }, 'configures');
    assert.deepEqual(
      [patched.config, patched.context, patched.metadata, patched.name],
      [{ configurable: { tenant: 'alice' } }, { tenant: 'alice' }, { stamped: 'alice' }, 'm'],
    );
    const { status } = await ask('PATCH', `/assistants/${ID}`, { metadata: { a: 1 } }, 'false');
    assert.equal(status, 403);
  }));

test("given an assistant that several users run, when its owner deletes it, then others' threads and runs are theirs to keep", () =>
  withServer(AUTH, async (s) => {
    const threadOf = async (name: string): Promise<string> => {
      const { json } = await s.request('POST', '/threads', {}, as(name));
      // As a run of the assistant leaves it.
      const ran = { type: 'UpdateThread', metadata: { assistant_id: ID } } as const;
      await s.server.threads.dispatch(json.thread_id, [ran]);
      return json.thread_id;
    };
    await made(s);
    const [hers, his] = [await threadOf('alice'), await threadOf('bob')];
    const { status } = await s.request(
      'DELETE',
      `/assistants/${ID}?delete_threads=true`,
      undefined,
      as('alice'),
    );
    assert.equal(status, 204);
    assert.equal((await s.request('GET', `/threads/${hers}`, undefined, as('alice'))).status, 404);
    assert.equal((await s.request('GET', `/threads/${his}`, undefined, as('bob'))).status, 200);
  }));

test('given runs of an assistant that wait or execute, when it is deleted, then 409 and nothing happens until they have ended', () =>
  withServer({}, async (s) => {
    await s.request('POST', '/assistants', { graph_id: 'gate', assistant_id: ID });
    const { thread_id: thread } = await s.client.threads.create();
    const { open, runId } = await startGated(s, thread, { graph: ID });
    const refused = await s.request('DELETE', `/assistants/${ID}`);
    assert.equal(refused.status, 409);
    assert.match(refused.json.detail, /runs that have not ended/);
    assert.equal((await s.request('GET', `/assistants/${ID}`)).status, 200);
    open();
    await s.client.runs.join(thread, runId);
    const late = await s.client.runs.create(thread, ID, { afterSeconds: 3600 });
    assert.equal((await s.request('DELETE', `/assistants/${ID}`)).status, 409);
    await s.client.runs.cancel(thread, late.run_id);
    assert.deepEqual((await s.request('DELETE', `/assistants/${ID}`)).json, undefined);
  }));

test.run();

import * as assert from 'uvu/assert';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { config, say } from './scene.ts';

const test = suite('conformance: what a filter lets be written');
const alice = { 'x-user': 'alice' };
const bob = { 'x-user': 'bob' };

test('A2 given a handler that only filters, when metadata would leave its filter, then 403 and no event', () =>
  withServer({ config: config('platform.naive.json') }, async (s) => {
    const owned = await s.request('POST', '/threads', { metadata: { owner: 'alice' } }, alice);
    assert.is(owned.status, 200);
    const path = `/threads/${owned.json.thread_id}`;
    const before = (await s.events()).length;
    const answers = await Promise.all([
      s.request('PATCH', path, { metadata: { owner: 'bob' } }, alice),
      s.request('POST', '/threads', { metadata: { owner: 'bob' } }, alice),
      s.request(
        'POST',
        '/runs',
        { assistant_id: 'echo', input: say('x'), metadata: { owner: 'bob' }, on_completion: 'keep' },
        alice,
      ),
    ]);
    assert.equal(
      answers.map(({ status }) => status),
      [403, 403, 403],
    );
    assert.is((await s.events()).length, before);
    assert.is((await s.request('GET', path, undefined, alice)).json.metadata.owner, 'alice');
    assert.equal((await s.request('POST', '/threads/search', {}, bob)).json, []);
  }));

test('A2 given a handler that only filters, when other keys are written, then it is as without a filter', () =>
  withServer({ config: config('platform.naive.json') }, async (s) => {
    const owned = await s.request('POST', '/threads', { metadata: { owner: 'alice' } }, alice);
    const path = `/threads/${owned.json.thread_id}`;
    const patched = await s.request('PATCH', path, { metadata: { topic: 'x' } }, alice);
    assert.equal(patched.json.metadata, { owner: 'alice', topic: 'x' });
    const run = await s.request(
      'POST',
      `${path}/runs/wait`,
      { assistant_id: 'echo', input: say('hi'), metadata: { topic: 'y' } },
      alice,
    );
    assert.is(run.status, 200);
  }));

test.run();

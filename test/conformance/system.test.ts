import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { config, MISSING, say } from './scene.ts';

const test = suite('conformance: the server itself');

test('given a server, when it is asked how it is and what it is, then it tells', () =>
  withServer({}, async (s) => {
    assert.deepEqual((await s.request('GET', '/ok')).json, { ok: true });
    assert.deepEqual((await s.request('GET', '/ok?check_db=1')).json, { ok: true });
    const { json } = await s.request('GET', '/info');
    assert.equal(typeof json.version, 'string');
    assert.deepEqual(json.flags, { assistants: true, crons: false, langsmith: false });
  }));

test('given a page of another origin, when its browser asks first and then calls, then it may read every answer', () =>
  withServer({ config: config('platform.auth.json') }, async (s) => {
    const origin = { origin: 'https://app.example' };
    const preflight = await s.request('OPTIONS', `/threads/${MISSING}/runs/stream`, undefined, {
      ...origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,last-event-id,x-api-key',
    });
    assert.deepEqual([preflight.status, preflight.text], [204, '']);
    assert.match(preflight.headers.get('access-control-allow-methods') ?? '', /POST/);
    const allowed = preflight.headers.get('access-control-allow-headers') ?? '';
    for (const name of ['authorization', 'content-type', 'last-event-id', 'x-api-key'])
      assert.ok(allowed.includes(name), allowed);

    const as = { ...origin, authorization: 'Bearer alice-token' };
    for (const [status, method, path, body, headers] of [
      [200, 'GET', '/threads', undefined, as],
      [200, 'POST', '/runs/stream', { assistant_id: 'echo', input: say('hi') }, as],
      [200, 'POST', '/runs/wait', { assistant_id: 'echo', input: say('hi') }, as],
      [401, 'GET', '/threads', undefined, origin],
      [404, 'GET', `/threads/${MISSING}`, undefined, as],
      [404, 'GET', '/nothing', undefined, as],
      [422, 'POST', '/runs', {}, as],
    ] as const) {
      const answer = await s.request(method, path, body, headers);
      assert.equal(answer.status, status, path);
      assert.equal(answer.headers.get('access-control-allow-origin'), '*', path);
      // Anybody's page may call, so no page may use what the browser keeps of a login.
      assert.equal(answer.headers.get('access-control-allow-credentials'), null);
      const exposed = answer.headers.get('access-control-expose-headers') ?? '';
      for (const name of ['content-location', 'location', 'x-pagination-total', 'x-pagination-next'])
        assert.ok(exposed.includes(name), exposed);
      assert.equal(answer.headers.get('cache-control'), 'no-store', path);
    }
  }));

test('given long lists where one value is due, when they are sent, then they are refused or searched at once', () =>
  withServer({}, async (s) => {
    // Each of these would hold up the whole server for a minute if every item were looked at with care.
    const wrong = `[${'1,'.repeat(7_000_000)}1]`;
    const tags = await s.request('POST', '/runs', `{"assistant_id":"echo","config":{"tags":${wrong}}}`);
    assert.equal(tags.status, 422);
    assert.match(tags.json.detail, /^config\.tags: expected a list of strings, at most 1000$/);
    const numbers = Array.from({ length: 200_000 }, (_, index) => index);
    const { json } = await s.request('POST', '/threads', { metadata: { numbers } });
    for (const [wanted, found] of [
      [[...numbers].reverse(), 1],
      [[...numbers, -1], 0],
    ] as const) {
      const answer = await s.request('POST', '/threads/search', {
        metadata: { numbers: wanted },
        select: ['thread_id'],
      });
      assert.deepEqual(answer.json, Array(found).fill({ thread_id: json.thread_id }));
    }
  }));

test.run();

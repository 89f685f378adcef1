import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, say } from './scene.ts';

const test = suite('conformance: webhooks to this server');

/** Resolves with the status that the first attempt met. */
async function statusOf(s: TestServer, webhook: string, headers = {}): Promise<unknown> {
  const body = { assistant_id: 'echo', input: say('hi'), webhook };
  const { status, text } = await s.request('POST', '/runs/wait', body, headers);
  assert.equal(status, 200, text);
  const { data } = await s.until(({ type }) => /^Webhook(Delivered|AttemptFailed)$/.test(type));
  return 'status' in data && data.status;
}

test('given a path of the custom app, when a run with it ends, then the app is called inside the process', () =>
  withServer(
    { config: config('platform.app.json'), env: { PLATFORM_ALLOW_PRIVATE_WEBHOOKS: '1' } },
    async (s) => {
      assert.equal(await statusOf(s, '/custom/echo?token=canary'), 200);
      const [hook] = (await s.request('GET', '/webhooks')).json;
      assert.equal(hook.url, '/custom/echo?token=***');
      assert.deepEqual((await s.request('GET', '/webhooks?host=self')).json.length, 1);
      assert.ok(hook.attempts[0].response.startsWith(`{"run_id":"${hook.run_id}"`));
    },
  ));

test("given an auth handler, when a webhook goes to a path of this server, then it has nobody's credentials there (A1)", () =>
  withServer({ config: config('platform.auth.json') }, async (s) => {
    assert.equal(await statusOf(s, '/threads', { authorization: 'Bearer alice-token' }), 401);
  }));

test('given the switch for development, when a webhook goes to what only this machine may ask, then it is not there', () =>
  withServer({ env: { PLATFORM_ALLOW_TRUNCATE: 'true' } }, async (s) => {
    assert.equal(await statusOf(s, '/internal/truncate'), 404);
  }));

test.run();

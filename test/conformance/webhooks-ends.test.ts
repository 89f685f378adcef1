import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, leapingClock, say } from './scene.ts';

const test = suite('conformance: how webhooks end');

const HOUR = 3_600_000;
const hooked = async (s: TestServer, webhook: string, assistant_id = 'echo') => {
  const body = { assistant_id, input: say('hi'), webhook };
  const { status, text } = await s.request('POST', '/runs/wait', body);
  assert.equal(status, 200, text);
};

test('W4 given a webhook that is owed, when its URL is no longer allowed, then it is not sent and the rule is told', () =>
  withWebhookSink((sink) =>
    withServer({}, async (s) => {
      sink.otherwise(500);
      await hooked(s, sink.url());
      const { data } = await s.until(({ type }) => type === 'WebhookAttemptFailed');
      assert.ok('deliveryId' in data);
      const { webhooks } = s.config;
      await s.restart({
        webhooks: { ...webhooks, url: { ...webhooks.url, allowedDomains: ['example.com'] } },
      });
      await s.request('POST', `/webhooks/${data.deliveryId}/redeliver`);
      await s.until((event) => event.type === 'WebhookAttemptFailed' && event.data.nextAt === null);
      const { json } = await s.request('GET', `/webhooks/${data.deliveryId}`);
      assert.equal(json.state, 'failed');
      assert.match(json.attempts.at(-1).error, /webhooks\.url\.allowed_domains/);
      const sent = sink.received.length;
      // Once it is allowed again, it can be asked for.
      sink.otherwise(200);
      await s.restart();
      await s.request('POST', `/webhooks/${data.deliveryId}/redeliver`);
      await sink.next(sent + 1);
    }),
  ));

test('given disable_webhooks, when a run names what would be refused, then it is accepted and nothing is owed', () =>
  withServer({ config: config('platform.quiet.json') }, async (s) => {
    for (const webhook of ['http://169.254.169.254/', 'no url at all', 'http://[', '/path'])
      await hooked(s, webhook);
    assert.deepEqual((await s.request('GET', '/webhooks')).json, []);
  }));

test('given stateless runs, when their threads are swept, then what is owed stays and what was given up can be sent again for a week', () =>
  withWebhookSink((taken) =>
    withWebhookSink((down) =>
      withWebhookSink((gone) => {
        const clock = leapingClock();
        return withServer({ clock, env: { PLATFORM_WEBHOOK_RETRY_PAUSES_SECS: '720000' } }, async (s) => {
          down.otherwise(500);
          gone.answer(410);
          for (const sink of [taken, down, gone]) await hooked(s, sink.url());
          await s.until(({ type }) => type === 'WebhookDelivered');
          await s.until(({ type, data }) => type === 'WebhookAttemptFailed' && data.status === 410);
          await s.until(({ type, data }) => type === 'WebhookAttemptFailed' && data.status === 500);
          const states = async () =>
            (await s.request('GET', '/webhooks')).json.map(({ state }: { state: string }) => state).sort();
          assert.deepEqual(await states(), ['delivered', 'failed', 'owed']);
          clock.leap(2 * HOUR);
          await s.until(({ type }) => type === 'ThreadDeleted');
          assert.deepEqual(await states(), ['failed', 'owed']);
          clock.leap(6 * 24 * HOUR);
          const [dead] = (await s.request('GET', '/webhooks?state=failed')).json;
          await s.request('POST', `/webhooks/${dead.webhook_id}/redeliver`);
          const posts = await gone.next(2);
          assert.ok(posts[1]!.body.equals(posts[0]!.body));
        });
      }),
    ),
  ));

test.run();

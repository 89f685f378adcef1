import * as assert from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import { suite } from '../support/suite.ts';
import { withWebhookSink, type ReceivedRequest } from '../support/webhook-sink.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, newThread, say } from './scene.ts';

const test = suite('conformance: signed webhooks');

const secretOf = (text: string): string => `whsec_${Buffer.from(text.repeat(24)).toString('base64')}`;
const [OLD, NEW, OTHER] = [secretOf('a'), secretOf('b'), secretOf('c')];
const verifies = (secret: string, { body, headers }: ReceivedRequest): boolean => {
  try {
    new Webhook(secret).verify(body.toString(), headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
};
const hook = (s: TestServer, webhook: string) =>
  s.client.runs.wait(null, 'echo', { input: say('hi'), webhook });
const FAST = { PLATFORM_WEBHOOK_RETRY_PAUSES_SECS: '0.01,0.02,0.03' };

test('given two secrets, when attempts fail and succeed, then an independent verifier takes all with either key and the bytes never change (W2)', () =>
  withWebhookSink((sink) =>
    withServer({ env: { ...FAST, PLATFORM_WEBHOOK_SECRET: `${OLD}, ${NEW}` } }, async (s) => {
      sink.answer(500, 'reset', 429);
      await hook(s, sink.url('/hook?a=1'));
      const posts = await sink.next(4);
      for (const post of posts) {
        assert.ok(verifies(OLD, post) && verifies(NEW, post));
        assert.ok(!verifies(OTHER, post), 'no other key fits');
        const torn = { ...post, body: Buffer.from(post.body.toString().replace('hi', 'ho')) };
        assert.ok(!verifies(NEW, torn), 'not one letter may differ');
        const moved = { ...post, headers: { ...post.headers, 'webhook-id': 'x' } };
        assert.ok(!verifies(NEW, moved), 'the id is signed');
        assert.equal(post.headers['webhook-id'], posts[0]!.headers['webhook-id']);
        assert.ok(post.body.equals(posts[0]!.body));
        assert.equal(post.headers['content-type'], 'application/json');
        assert.match(String(post.headers['webhook-signature']), /^v1,\S{44} v1,\S{44}$/);
      }
    }),
  ));

test('given no secret, when a webhook goes out, then it has id and time and no signature', () =>
  withWebhookSink((sink) =>
    withServer({}, async (s) => {
      await hook(s, sink.url());
      const [post] = await sink.next(1);
      assert.match(String(post!.headers['webhook-timestamp']), /^\d{10}$/);
      assert.equal(post!.headers['webhook-signature'], undefined);
    }),
  ));

test('given headers with variables and a choice of fields, when a webhook goes out, then it has those and nothing more', () =>
  withWebhookSink((sink) =>
    withServer(
      {
        config: config('platform.webhooks.json'),
        env: { LG_WEBHOOK_TOKEN: 'canary-of-the-header', LG_WEBHOOK_OTHER: 'o' },
      },
      async (s) => {
        const threadId = await newThread(s);
        await s.client.runs.wait(threadId, 'echo', {
          input: say('hi'),
          webhook: sink.url('/x?token=canary'),
        });
        const [{ headers, body, url }] = (await sink.next(1)) as [ReceivedRequest];
        assert.deepEqual(
          [headers['x-team'], headers['authorization'], headers['x-both']],
          ['agents', 'Bearer canary-of-the-header', 'canary-of-the-header/o'],
        );
        assert.equal(url, '/x?token=canary');
        const told = JSON.parse(body.toString()) as Record<string, { webhook: string }>;
        assert.deepEqual(Object.keys(told).sort(), ['error', 'kwargs', 'run_id', 'status']);
        assert.equal(told['kwargs']!.webhook, sink.url('/x?token=***'));
        const shown = await s.request('GET', `/threads/${threadId}/runs`);
        assert.ok(shown.text.includes('token=***') && !shown.text.includes('canary'));
      },
    ),
  ));

test.run();

import * as assert from 'node:assert/strict';
import { DENIED } from '../unit/delivery/url-table.ts';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { newThread, say } from './scene.ts';

const test = suite('conformance: webhook addresses');

/** As in production: nothing but the open internet. */
const STRICT = { env: { PLATFORM_ALLOW_PRIVATE_WEBHOOKS: 'false' } };

const ROUTES = (threadId: string): string[] => [
  `/threads/${threadId}/runs`,
  `/threads/${threadId}/runs/stream`,
  '/runs/wait',
];

test('a webhook to this machine, its network or no address is a 422 that names the field on every route (W4)', () =>
  withServer(STRICT, async (s) => {
    const threadId = await newThread(s);
    const before = await s.events();
    for (const [index, webhook] of Object.values(DENIED).flat().entries()) {
      // Each of them is asked of one of the routes.
      const routes = ROUTES(threadId);
      const body = { assistant_id: 'echo', input: say('hi'), webhook };
      const { status, json } = await s.request('POST', routes[index % routes.length]!, body);
      assert.equal(status, 422, webhook);
      assert.match(json.detail, /^webhook: ./, webhook);
    }
    assert.deepEqual(await s.events(), before);
  }));

test('given addresses on the open internet, when a webhook goes there, then the run is accepted', () =>
  withServer(STRICT, async (s) => {
    const threadId = await newThread(s);
    for (const webhook of [
      'http://172.32.0.1/',
      'http://example.com/',
      'https://hooks.example.com:8443/x?token=1',
      'https://8.8.8.8/',
      'https://[2606:4700:4700::1111]/',
      'https://xn--nxasmq6b.example/',
      'HTTPS://EXAMPLE.COM/UPPER',
      `https://example.com/${'x'.repeat(2000)}`,
    ]) {
      // Never begun, so nothing is ever sent.
      const body = { assistant_id: 'echo', after_seconds: 3600, webhook };
      const { status, text, json } = await s.request('POST', `/threads/${threadId}/runs`, body);
      assert.equal(status, 200, text);
      assert.equal(json.kwargs.webhook, webhook.replace('token=1', 'token=***'));
    }
  }));

test('given the development switch, when a webhook goes to this machine, then it may, but odd URLs stay refused', () =>
  withServer({}, async (s) => {
    for (const [webhook, expected] of [
      ['http://127.0.0.1:1/', 200],
      ['http://localhost:1/', 200],
      ['http://user:pass@localhost:1/', 422],
      ['file:///etc/passwd', 422],
      ['/relative', 200],
      ['//127.0.0.1/', 422],
      [' http://localhost:1/', 422],
    ] as const) {
      const body = { assistant_id: 'echo', after_seconds: 3600, webhook };
      const { status } = await s.request('POST', '/runs', body);
      assert.equal(status, expected, webhook);
    }
  }));

test('link-local receivers are refused although local ones are allowed, on every route (official 5.1)', () =>
  withServer({ env: { PLATFORM_ALLOW_PRIVATE_WEBHOOKS: 'true' } }, async (s) => {
    const threadId = await newThread(s);
    const { cron_id: cron } = (
      await s.request('POST', '/runs/crons', { assistant_id: 'echo', schedule: '0 0 1 1 *' })
    ).json;
    const before = await s.events();
    for (const host of ['169.254.169.254', '[fe80::1]', '[::ffff:169.254.169.254]', '[64:ff9b::a9fe:a9fe]'])
      for (const [method, path, more] of [
        ['POST', '/runs', {}],
        ['POST', '/runs/wait', {}],
        ['POST', `/threads/${threadId}/runs`, {}],
        ['POST', `/threads/${threadId}/runs/stream`, {}],
        ['POST', '/runs/crons', { schedule: '0 0 1 1 *' }],
        ['POST', `/threads/${threadId}/runs/crons`, { schedule: '0 0 1 1 *' }],
        ['PATCH', `/runs/crons/${cron}`, {}],
      ] as const) {
        const body = { assistant_id: 'echo', webhook: `http://${host}/`, ...more };
        const { status, json } = await s.request(method, path, body);
        assert.equal(status, 422, `${method} ${path}`);
        assert.match(json.detail, /^webhook: .*blocked IP range/);
      }
    assert.deepEqual(await s.events(), before);
  }));

test.run();

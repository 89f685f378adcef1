import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { newThread, say } from './scene.ts';

const test = suite('conformance: webhook addresses');

/** As in production: nothing but the open internet. */
const STRICT = { env: { PLATFORM_ALLOW_PRIVATE_WEBHOOKS: 'false' } };

const hosts = (...list: string[]): string[] => list.map((host) => `http://${host}/`);

/** What leads to this machine or its network, under all the names it has. */
const DENIED: Record<string, readonly string[]> = {
  loopback: hosts('127.0.0.1', '127.1', '127.0.1', '127.255.255.254', '[::1]', '[0:0:0:0:0:0:0:1]'),
  'loopback as numbers': hosts('2130706433', '017700000001', '0x7f000001', '0x7f.0x0.0x0.0x1', '0177.0.0.01'),
  unspecified: hosts('0', '0x', '0.0.0.0', '[::]'),
  'loopback by name': hosts('localhost', 'LOCALHOST.', 'foo.localhost', 'localhost.localdomain'),
  'mapped and embedded addresses': hosts(
    '[::ffff:127.0.0.1]',
    '[::ffff:a9fe:a9fe]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b::a9fe:a9fe]',
    '[64:ff9b:1::7f00:1]',
    '[::ffff:0:127.0.0.1]',
    '[2002:7f00:1::]',
    '[2001:0:7f00:1::]',
  ),
  'IPv6 ranges': hosts(
    '[fe80::1]',
    '[fe80::1%25eth0]',
    '[fc00::1]',
    '[fd00:ec2::254]',
    '[fec0::1]',
    '[ff02::1]',
    '[100::1]',
    '[2001:db8::1]',
    '[5f00::1]',
  ),
  'private ranges': hosts('10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '100.64.0.1'),
  'metadata services': hosts(
    '169.254.169.254',
    '0xA9FEA9FE',
    '2852039166',
    '0251.0376.0251.0376',
    '169.254.43518',
    '100.100.100.200',
    '192.0.0.192',
    '168.63.129.16',
    'metadata.google.internal',
  ),
  'reserved ranges': hosts(
    ...['198.18.0.1', '192.0.2.1', '198.51.100.1', '203.0.113.1', '192.88.99.1'],
    ...['224.0.0.1', '255.255.255.255', '240.0.0.1'],
  ),
  'other scripts': hosts(
    '１２７.０.０.１',
    '①②⑦.⓪.⓪.①',
    '127。0。0。1',
    'ｌｏｃａｌｈｏｓｔ',
    '127%2e0%2e0%2e1',
  ),
  'user parts and fragments': [
    'http://8.8.8.8@127.0.0.1/',
    'http://user:pass@example.com/',
    'http://127.0.0.1#@8.8.8.8/',
    'http://8.8.8.8\\@127.0.0.1/',
  ],
  'slashes that parsers forgive': [
    'http:\\\\127.0.0.1\\',
    'http:127.0.0.1/',
    'http:/127.0.0.1/',
    'https:///127.0.0.1/',
    '//127.0.0.1/',
    '/internal/truncate',
    '../x',
  ],
  'white space and control characters': [
    ' http://127.0.0.1/',
    'http://127.0.0.1\t/',
    'http://example.com\r\nX: y/',
    'https://example.com/a b',
    'https://example.com/\u0000',
    'http://127.0.0.1%00.example.com/',
    'http://127.0.0.1:80%00/',
  ],
  'names inside a network': hosts('kubernetes.default.svc', 'redis', 'printer.local', 'router.home.arpa'),
  'what is no address': [
    'http://example.com:65536/',
    'http://256.256.256.256/',
    'http://1.1.1.1.1/',
    'http://[::1',
    'http://',
  ],
  'other schemes': [
    'file:///etc/passwd',
    'gopher://127.0.0.1:6379/_x',
    'ftp://example.com/',
    'data:text/plain,x',
    'javascript:alert(1)',
    'blob:https://example.com/x',
    'unix:/var/run/docker.sock',
    'http+unix://x/',
    'ws://example.com/',
  ],
};

const ROUTES = (threadId: string): string[] => [
  `/threads/${threadId}/runs`,
  `/threads/${threadId}/runs/stream`,
  '/runs/wait',
];

for (const [kind, urls] of Object.entries(DENIED))
  test(`given ${kind}, when a webhook goes there, then 422 names the field and nothing is created (W4)`, () =>
    withServer(STRICT, async (s) => {
      const threadId = await newThread(s);
      const before = await s.events();
      for (const webhook of urls)
        for (const path of ROUTES(threadId)) {
          const { status, json } = await s.request('POST', path, {
            assistant_id: 'echo',
            input: say('hi'),
            webhook,
          });
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

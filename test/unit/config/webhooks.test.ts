import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, type Config } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';

const test = suite('the webhooks block');

const load = (webhooks: object, env: Record<string, string> = {}): Promise<Config> =>
  withTempDir(async (dir) => {
    writeFileSync(join(dir, 'platform.json'), JSON.stringify({ graphs: { a: './a.ts' }, webhooks }));
    return loadConfig({}, env, dir);
  });

const problemsOf = (webhooks: object, env?: Record<string, string>): Promise<string> =>
  load(webhooks, env).then(
    () => assert.fail('the configuration was accepted'),
    (error: unknown) => {
      assert.ok(error instanceof ConfigError);
      return error.problems.join('\n').replace(/^\S+platform.json: /gm, '');
    },
  );

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

test('without a webhooks block webhooks go to public addresses, unsigned, within 15 s each', async () => {
  assert.deepEqual((await load({})).webhooks, {
    enabled: true,
    url: { allowPrivate: false, requireHttps: false, allowedDomains: [], allowedPorts: [], maxLength: 2048 },
    envPrefix: 'LG_WEBHOOK_',
    ...{ secrets: [], headers: {}, timeoutMs: 15_000, perHost: 4, keepMs: 72 * 3_600_000 },
  });
});

test('given every key of the webhooks block, when loaded, then all are read and the environment wins', async () => {
  const block = {
    env_prefix: 'HOOK_',
    headers: { 'X-Key': 'a ${{ env.HOOK_A }} b ${{env.HOOK_B}}' },
    secrets: [SECRET],
    payload_fields: ['status'],
    timeout_secs: 3,
    retry_pauses_secs: [0.5, 60],
    per_host: 9,
    keep_hours: 1,
    url: {
      disable_loopback: false,
      require_https: true,
      allowed_domains: ['Hooks.Example.com.', '*.bücher.example'],
      allowed_ports: [443],
      max_url_length: 100,
    },
  };
  const env = { HOOK_A: '1', HOOK_B: '2' };
  const { webhooks, warnings } = await load(block, env);
  assert.deepEqual(warnings, []);
  assert.deepEqual(webhooks, {
    enabled: true,
    url: {
      ...{ allowPrivate: true, requireHttps: true, allowedPorts: [443], maxLength: 100 },
      allowedDomains: ['hooks.example.com', '*.xn--bcher-kva.example'],
    },
    envPrefix: 'HOOK_',
    ...{ secrets: [SECRET], headers: { 'x-key': 'a 1 b 2' }, payloadFields: ['status'] },
    ...{ timeoutMs: 3000, pausesMs: [500, 60_000], perHost: 9, keepMs: 3_600_000 },
  });
  const other = SECRET.replace('whsec_Bwc', 'whsec_Cwc');
  const over = await load(block, {
    ...env,
    PLATFORM_WEBHOOK_SECRET: `${other},${SECRET}`,
    PLATFORM_WEBHOOK_TIMEOUT_SECS: '7',
    PLATFORM_WEBHOOK_RETRY_PAUSES_SECS: '2',
    PLATFORM_ALLOW_PRIVATE_WEBHOOKS: 'false',
  });
  const { secrets, timeoutMs, pausesMs, url } = over.webhooks;
  assert.deepEqual([secrets, timeoutMs, pausesMs], [[other, SECRET], 7000, [2000]]);
  assert.equal(url.allowPrivate, false);
});

test('given headers that use what they may not, when loaded, then each is named and no value is told', async () => {
  const env = { LG_WEBHOOK_A: 'a\ncanary', SECRET: 'canary' };
  const found = await problemsOf(
    { headers: { a: '${{ env.LG_WEBHOOK_A }}', b: '${{ env.SECRET }}', c: '${{ env.LG_WEBHOOK_NONE }}' } },
    env,
  );
  assert.deepEqual(found.split('\n'), [
    'webhooks.headers.a: holds a character that no header may hold',
    'webhooks.headers.b: env.SECRET: only variables that begin with LG_WEBHOOK_ may be used',
    'webhooks.headers.c: env.LG_WEBHOOK_NONE: the environment has no such variable',
  ]);
});

test('given values that cannot be, when loaded, then the key is named', async () => {
  for (const [block, expected] of [
    [{ secrets: ['whsec_c2hvcnQ='] }, /^webhooks\.secrets\.0: expected "whsec_"/],
    [{ secrets: [SECRET.slice(6)] }, /^webhooks\.secrets\.0: expected "whsec_"/],
    [{ headers: { 'webhook-id': 'x' } }, /^webhooks\.headers\.webhook-id: this header is set by the server/],
    [{ headers: { 'a b': 'x' } }, /^webhooks\.headers\.a b: expected the name of a header/],
    [{ payload_fields: ['secret'] }, /^webhooks\.payload_fields\.0: expected one of run_id/],
    [{ retry_pauses_secs: [0] }, /^webhooks\.retry_pauses_secs\.0: expected seconds above 0/],
    [{ url: { allowed_domains: ['https://x.com'] } }, /^webhooks\.url\.allowed_domains\.0: expected a host/],
    [{ url: { allowed_ports: [0] } }, /^webhooks\.url\.allowed_ports\.0: expected a port/],
    [{ url: { require_https: 'yes' } }, /^webhooks\.url\.require_https: expected true or false/],
  ] as const)
    assert.match(await problemsOf(block), expected);
  const secret = await problemsOf({}, { PLATFORM_WEBHOOK_SECRET: 'canary' });
  assert.match(secret, /^PLATFORM_WEBHOOK_SECRET: expected/);
  assert.ok(!secret.includes('canary'));
  const pauses = { PLATFORM_WEBHOOK_RETRY_PAUSES_SECS: '1,x' };
  assert.match(await problemsOf({}, pauses), /^PLATFORM_WEBHOOK_RETRY_PAUSES_SECS: /);
});

test.run();

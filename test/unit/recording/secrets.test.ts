import assert from 'node:assert/strict';
import zlib from 'node:zlib';
import { openAgreement } from '../../../src/recording/agreement.ts';
import { maskedBody, plainBody } from '../../../src/recording/bodies.ts';
import { keptEnvironment } from '../../../src/recording/environment.ts';
import { knownSecrets } from '../../../src/recording/known-secrets.ts';
import { NO_MASKS, openMasks } from '../../../src/recording/masks.ts';
import { maskUrl } from '../../../src/recording/urls.ts';
import { suite } from '../../support/suite.ts';

const test = suite('secrets of a recording');

const user = {
  identity: 'ada@example.org',
  email: 'ada@example.org',
  token: 'tok_9f2c-47A1',
  odd: 'p"a\\s/s w&ö=rd?+#%7',
  hex: '0123456789abcdef0123456789abcdef',
  account: 48_151_623,
  rate: 1234.5678,
  grants: { 'grant-77-of-ada': 1, max_tokens: 4096, nested: ['7d1-eu-kdjf'] },
  page: 'https://crm.example.org:8443/tenants/t-4711?of=ada',
  queue: 'amqp://app:pa55-of-queue@mq.example.org/main-9',
  exp: 1_790_000_000,
};
const { pairs, secrets } = knownSecrets({ user, env: {} });
const masks = openMasks(pairs);
const texts = [...pairs.keys()];

test('stand-ins have the length and kind of their secrets, and the same members (A4)', () => {
  const shown = secrets.user as typeof user;
  const { token, odd, hex, account, rate, grants, page, queue, ...open } = shown;
  assert.deepEqual(open, { identity: user.identity, email: user.email, exp: user.exp });
  assert.match(token, /^[a-z]{3}_\d[a-z]\d[a-z]-\d\d[A-Z]\d$/);
  assert.equal(Buffer.byteLength(odd), Buffer.byteLength(user.odd));
  assert.match(hex, /^[\da-f]{32}$/);
  assert.match(String(account), /^[1-9]\d{7}$/);
  assert.match(String(rate), /^\d{4}\.\d{4}$/);
  assert.deepEqual([Object.keys(grants).length, grants.max_tokens], [3, 4096]);
  assert.match(page, /^https:\/\/crm\.example\.org:8443\/[a-z]{7}\/[a-z]-\d{4}\?[a-z]{2}=[a-z]{3}$/);
  assert.match(queue, /^amqp:\/\/app:[a-z]{2}\d\d-[a-z]{2}-[a-z]{5}@mq\.example\.org\/[a-z]{4}-\d$/);
  assert.equal(pairs.get('pa55-of-queue'), new URL(queue).password);
  for (const [secret, standIn] of pairs) assert.notEqual(secret, standIn);
});

/** What carries a text elsewhere, as many kinds of code do it. */
const FORMS: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => `for ${text}, and ${text}.`,
  json: (text) => JSON.stringify({ a: [text] }),
  'json in json': (text) => JSON.stringify({ arguments: JSON.stringify({ text }) }),
  'ascii json': (text) =>
    JSON.stringify(text).replace(/[^ -~]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`),
  component: (text) => `/a/${encodeURIComponent(text)}?b`,
  'address in address': (text) => encodeURIComponent(`/a?b=${encodeURIComponent(text)}`),
  'lower hex': (text) => encodeURIComponent(text).replace(/%\w\w/g, (code) => code.toLowerCase()),
  form: (text) => new URLSearchParams({ a: text, b: 'c' }).toString(),
  query: (text) => Object.assign(new URL('http://host/'), { search: `?${text}` }).href,
  host: (text) => (/^[\w-]+$/.test(text) ? new URL(`http://${text}.example.org`).href : ''),
  ...Object.fromEntries(
    (['base64', 'base64url'] as const).flatMap((encoding) =>
      ['', 'a', 'ab'].map((before) => [
        `${encoding} behind ${before.length}`,
        (text: string) => Buffer.from(`${before}${text}:x`).toString(encoding),
      ]),
    ),
  ),
  'base64 at its end': (text) => Buffer.from(`ada:${text}`).toString('base64'),
};

for (const [name, form] of Object.entries(FORMS))
  test(`secrets are found in the form "${name}", which becomes that of their stand-ins (A4)`, () => {
    for (const [secret, standIn] of pairs) {
      assert.equal(masks.text(form(secret)), form(standIn), secret);
      assert.equal(masks.text(form(standIn)), form(standIn), secret);
    }
  });

test('a body is searched whole: across chunks, and within its content encoding (A4)', () => {
  const plain = Buffer.from(`data: ${'x'.repeat(5_000)}${texts.join(' ')}`);
  const bodies = {
    none: plain,
    gzip: zlib.gzipSync(plain),
    deflate: zlib.deflateSync(plain),
    br: zlib.brotliCompressSync(plain),
    zstd: zlib.zstdCompressSync(plain),
  };
  for (const [encoding, bytes] of Object.entries(bodies)) {
    // given
    const cut = bytes.length - 9;
    const chunks = [
      [1, cut],
      [2, 9],
    ] as const;
    const parts = [bytes.subarray(0, cut), bytes.subarray(cut)];
    // when
    const masked = maskedBody(parts, chunks, encoding, masks);
    // then
    assert.equal(plainBody(masked.body, encoding).toString(), masks.text(plain.toString()), encoding);
    assert.equal(
      masked.chunks.reduce((sum, [, size]) => sum + size, 0),
      masked.body.length,
    );
    assert.deepEqual(maskedBody(parts, chunks, encoding, NO_MASKS), { body: bytes, chunks });
  }
});

test('numbers stay numbers, and digits within longer ones stay what they are', () => {
  const text = '{"a":48151623,"at":1748151623000,"b":0.48151623,"c":"48151623","d":1234.5678,"e":12345678}';
  const { account, rate } = secrets.user as typeof user;
  assert.deepEqual(JSON.parse(masks.text(text)), {
    ...JSON.parse(text),
    a: account,
    c: String(account),
    d: rate,
  });
});

test('the stand-in of a number has as many characters, whatever the number is', () => {
  const numbers = [
    481_516,
    -48_151_623.5,
    0.00048151623,
    0.12345678901234566,
    1e21 / 7,
    2 ** 63,
    1.2345678e-9,
    5e300 / 7,
  ];
  const { secrets } = knownSecrets({ user: { identity: 'ada', numbers }, env: {} });
  for (const [at, shown] of (secrets.user!['numbers'] as number[]).entries())
    assert.equal(JSON.stringify(shown).length, JSON.stringify(numbers[at]).length, String(numbers[at]));
});

test('words, plans, short texts and numbers are no secrets', () => {
  // given
  const members = {
    plan: 'enterprise',
    role: 'Administrator',
    scopes: ['threads:write', 'runs:read'],
    team: 'customer_success',
    region: 'eu-central-1',
    zone: 'America/New_York',
    since: '2026-01-31T10:00:00.000Z',
    model: 'claude-sonnet-4-20250514',
    other: 'gpt-4o-mini-2024-07-18',
    ...{ home: 'https://example.org', root: 'https://example.org/#/' },
    monthly: 'professional',
    short: 'x7-k9a3',
    words: ['keyword', 'tokenizer', 'monkey', 'production', 'subscription'],
    limits: { requestsPerMinute: 600, max_tokens: 65_536 },
    beta: true,
  };
  const headers = { 'x-plan': 'enterprise', 'accept-language': 'en-US,en;q=0.9' };
  const { pairs, secrets } = knownSecrets({
    user: members,
    inherited: headers,
    env: { MODEL: members.model },
  });
  assert.deepEqual([...pairs], []);
  assert.deepEqual(secrets, { user: members, inherited: headers, env: {}, standIns: [] });
  // Names of parameters count whole.
  const names =
    'keyword zipcode max_tokens author design tokenizer monkey code_of_conduct tokens signal authority';
  const url = `http://model/?${names
    .split(' ')
    .map((name) => `${name}=x1y2z3w4v5`)
    .join('&')}&code=404&key=name`;
  assert.equal(maskUrl(url, masks), url);
});

test('a masked URL is asked for as it is recorded, whatever the key was', () => {
  const of = (key: string): string =>
    maskUrl(`https://ada:pw@model/a%20b?Api-Key=${key}&code=${key}&q=%3Ca%3E&sig=${key}%2B==`, masks);
  const masked = of('AbC-123-xyz');
  assert.match(
    masked,
    /^https:\/\/model\/a%20b\?Api-Key=[A-Z][a-z][A-Z]-\d{3}-[a-z]{3}&code=.{11}&q=%3Ca%3E&sig=.{11}%2B==$/,
  );
  assert.ok(!masked.includes('AbC-123-xyz'));
  assert.equal(maskUrl(masked, masks), masked);
  assert.equal(of('ZyX-987-abc'), masked);
});

test('of the environment names are kept, stand-ins of keys, and addresses without their secrets (A4)', () => {
  // given
  const env = {
    MY_API_KEY: 'abcd-efgh-ijkl',
    AWS_ACCESS_KEY_ID: 'AKIA0123456789EXMP',
    DATABASE_URL: 'postgres://app:pa55-w0rd-x@db.internal:5432/main?sslmode=require',
    HOOK: 'https://hooks.example.org/services/T0123ABC9/x?y',
    UNNAMED: '9b1d5f0a2c3e4d5f6a7b8c9d',
    MODEL_URL: 'http://127.0.0.1:8080/v1',
    GOOGLE_APPLICATION_CREDENTIALS: '/etc/keys/google.json',
    ...{
      PWD: '/home/ada/project-4711',
      START: 'file:///home/ada/project-4711/',
      TLS_KEY: '/etc/tls/key-4711.pem',
    },
    ...{ CACHE_KEY: 'short', NODE_ENV: 'production', PATH: '/usr/local/bin:/usr/bin', TZ: 'UTC' },
    LISTED: 'kept by the deployer',
  };
  // when
  const { pairs, secrets } = knownSecrets({ env });
  const kept = keptEnvironment(env, secrets.env, ['LISTED', 'MY_API_KEY']);
  // then
  assert.deepEqual(Object.keys(secrets.env), [
    'MY_API_KEY',
    'AWS_ACCESS_KEY_ID',
    'DATABASE_URL',
    'HOOK',
    'UNNAMED',
  ]);
  assert.match(
    secrets.env['DATABASE_URL']!,
    /^postgres:\/\/app:[a-z]{2}\d\d-[a-z]\d[a-z]{2}-[a-z]@db\.internal:5432\/main/,
  );
  assert.match(secrets.env['HOOK']!, /^https:\/\/hooks\.example\.org\/services\/[A-Z]\d{4}[A-Z]{3}\d\/x\?y$/);
  assert.deepEqual(
    [...pairs.keys()],
    [env.MY_API_KEY, env.AWS_ACCESS_KEY_ID, 'pa55-w0rd-x', 'T0123ABC9', env.UNNAMED],
  );
  const values = Object.entries(kept).filter(([, value]) => value !== null);
  assert.deepEqual(Object.fromEntries(values), { MODEL_URL: env.MODEL_URL, TZ: 'UTC', LISTED: env.LISTED });
  assert.deepEqual(Object.keys(kept), Object.keys(env));
  // The same in every run: modules keep them.
  assert.deepEqual(knownSecrets({ user, env }).secrets.env, secrets.env);
});

test('keys in settings and headers are known by their names, also short ones and those of schemes (A4)', () => {
  const { pairs, secrets } = knownSecrets({
    inherited: {
      authorization: 'Bearer k-123-abc-xyz',
      cookie: 'a=s-987-cookie; theme=dark',
      'x-id': 'header-4711',
    },
    configurable: {
      model: 'large-model-7b',
      llm: { apiKey: 'hunter2', name: 'n' },
      token: { a: 'k-123-abc-xyz' },
    },
    context: { db_password: 1_234_567 },
    env: {},
  });
  assert.deepEqual([...pairs.keys()].sort(), ['1234567', 'header-4711', 'k-123-abc-xyz', 's-987-cookie']);
  const { inherited, configurable, context } = secrets as any;
  assert.equal(inherited.authorization, `Bearer ${configurable.token.a}`);
  assert.match(inherited.cookie, /^a=[a-z]-\d{3}-[a-z]{6}; theme=dark$/);
  assert.deepEqual(Object.keys(configurable), ['llm', 'token']);
  assert.equal(configurable.llm.name, 'n');
  assert.match(configurable.llm.apiKey, /^(?!hunter)[a-z]{6}\d$/);
  // A body has the short key as it is, and agrees.
  assert.ok(openAgreement(secrets.standIns)('{"k":"hunter2"}', `{"k":"${configurable.llm.apiKey}"}`));
  assert.match(String(context.db_password), /^[1-9]\d{6}$/);
});

test('texts agree where one has a stand-in, always for the same secret (R3)', () => {
  const agrees = openAgreement(secrets.standIns);
  const [a, b] = [secrets.user!['token'] as string, user.token];
  assert.ok(agrees(`{"x":"${b}"}`, `{"x":"${a}"}`));
  assert.ok(agrees(`{"x":"${a}"}`, `{"x":"${b}"}`));
  assert.ok(agrees(FORMS['base64 behind 1']!(b), FORMS['base64 behind 1']!(a)));
  assert.ok(!agrees(`{"x":"${b}"}`, `{"y":"${a}"}`));
  assert.ok(!agrees(`{"x":"${'-'.repeat(b.length)}"}`, `{"x":"${a}"}`));
  assert.ok(!agrees(`{"x":"${b}1"}`, `{"x":"${a}"}`));
  assert.ok(!openAgreement([])('a', 'b'));
});

test.run();

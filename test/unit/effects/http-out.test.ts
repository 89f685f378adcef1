import * as assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import type { buildConnector } from 'undici';
import { checkWebhookUrl, type UrlPolicy } from '../../../src/delivery/url-policy.ts';
import { createHttpOut, type HttpOutOptions, type Posted } from '../../../src/effects/http-out.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { encodeForbidden } from '../../support/address-encodings.ts';
import { createRandom, seedFromEnv } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import { withWebhookSink } from '../../support/webhook-sink.ts';
import { LINK_LOCAL } from '../delivery/url-table.ts';

const test = suite('effects/http-out');

const STRICT: UrlPolicy = {
  ...{ allowPrivate: false, requireHttps: false, allowedDomains: [], allowedPorts: [], maxLength: 2048 },
};
const OPEN: UrlPolicy = { ...STRICT, allowPrivate: true };

/** Every socket that would be opened is noted and refused. */
function tripwire(): { dialled: string[]; dial: NonNullable<HttpOutOptions['dial']> } {
  const dialled: string[] = [];
  const connector: buildConnector.connector = ({ hostname }, callback) => {
    dialled.push(hostname);
    callback(new Error('the tripwire'), null);
  };
  return { dialled, dial: () => connector };
}

async function post(url: string, options: Partial<HttpOutOptions>): Promise<Posted> {
  const out = createHttpOut({ policy: STRICT, clock: systemClock(), deadlineMs: 5_000, ...options });
  try {
    return await out.post(url, {}, '{}');
  } finally {
    await out.close();
  }
}
const answers =
  (...addresses: string[]): NonNullable<HttpOutOptions['resolve']> =>
  (_, done) =>
    done(
      null,
      addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

test('W4 a name that resolves to an internal address is denied without a socket', async () => {
  for (const addresses of [
    ['127.0.0.1'], // 63, 67
    ['8.8.8.8', '10.0.0.1'], // 65
    ['::ffff:169.254.169.254'], // 66
    ['2606:4700::1', '::1'],
    ['fe80::1%eth0'],
    ['not an address'],
  ]) {
    const posted = await post('http://receiver.example.com/', { resolve: answers(...addresses) });
    assert.equal(posted.kind, 'failed');
    assert.match(posted.kind === 'failed' ? posted.error : '', /is not public/, addresses.join());
  }
  // 70
  const own = { ...STRICT, ownAddresses: () => ['9.9.9.9'] };
  const posted = await post('http://receiver.example.com/', { policy: own, resolve: answers('9.9.9.9') });
  assert.match(posted.kind === 'failed' ? posted.error : '', /this machine's own/);
});

test('W4 no name, literal or redirect reaches a link-local address (official 5.1)', () =>
  withWebhookSink(async (sink) => {
    // given: a policy for development, and no check but that of the connector
    const { dialled, dial } = tripwire();
    const addresses = [
      '169.254.169.254',
      'fe80::1',
      'fe80::1%eth0',
      '::ffff:169.254.169.254',
      '64:ff9b::a9fe:a9fe',
    ];
    const reasons: string[] = [];
    const failed = async (url: string, options: Partial<HttpOutOptions>): Promise<void> => {
      const posted = await post(url, { policy: OPEN, ...options });
      reasons.push(posted.kind === 'failed' ? posted.error : posted.kind);
    };
    // when: names resolve to them, alone and behind an address that is allowed
    for (const address of addresses)
      for (const found of [[address], ['127.0.0.1', address]])
        await failed('http://receiver.example.com/', { resolve: answers(...found) });
    // when: they are literals
    const check: typeof checkWebhookUrl = (url) => ({ ok: true, kind: 'remote', url: new URL(url) });
    for (const host of LINK_LOCAL) await failed(`http://${host}/`, { check, dial });
    // then
    assert.equal(reasons.length, 2 * addresses.length + LINK_LOCAL.length);
    for (const reason of reasons) assert.match(reason, /blocked IP range/);
    assert.deepEqual(dialled, []);
    // when: a receiver sends the post on; then that is its answer
    for (const status of [301, 302, 303, 307, 308]) {
      sink.answer({ redirect: 'http://169.254.169.254/latest', status });
      const posted = await post(sink.url(), { policy: OPEN });
      assert.deepEqual(posted.kind === 'answered' && posted.status, status);
    }
    assert.equal(sink.received.length, 5);
  }));

test('W4 a name that resolves differently each time is resolved once and used for the socket', () =>
  withWebhookSink(async (sink) => {
    let asked = 0;
    const { port } = new URL(sink.url());
    const posted = await post(`http://receiver.example.com:${port}/hook`, {
      policy: OPEN,
      resolve: (name, done) =>
        answers(...(asked++ === 0 ? ['127.0.0.1', '127.9.9.9'] : ['127.9.9.9']))(name, done),
    });
    assert.deepEqual([posted.kind, asked], ['answered', 1]);
    assert.equal(sink.received[0]!.headers['host'], `receiver.example.com:${port}`);
  }));

test('W4 a name that cannot be resolved is an ordinary failure', async () => {
  const none = await post('http://receiver.example.com/', { resolve: answers() });
  assert.deepEqual(none, { kind: 'failed', error: 'receiver.example.com has no address' });
  const error = new Error('no such name');
  const broken = await post('http://receiver.example.com/', { resolve: (_, done) => done(error, []) });
  assert.deepEqual(broken, { kind: 'failed', error: 'no such name' });
});

test('W4 20,000 encodings of forbidden addresses are denied without a socket', async () => {
  const seed = seedFromEnv();
  const random = createRandom(seed);
  const { dialled, dial } = tripwire();
  const out = createHttpOut({ policy: STRICT, clock: systemClock(), deadlineMs: 5_000, dial });
  // As if the first check had a hole: the connector decides alone.
  const blind = createHttpOut({
    ...{ policy: STRICT, clock: systemClock(), deadlineMs: 5_000, dial },
    check: (url) => ({ ok: true, kind: 'remote', url: new URL(url) }),
  });
  let literal = 0;
  for (let i = 0; i < 20_000; i++) {
    const url = encodeForbidden(random);
    const told = `SEED=${seed} ${url}`;
    assert.equal(checkWebhookUrl(url, STRICT).ok, false, told);
    assert.equal((await out.post(url, {}, '{}')).kind, 'denied', told);
    if (i % 20 > 0 || !URL.canParse(url)) continue;
    literal += 1;
    assert.equal((await blind.post(url, {}, '{}')).kind, 'failed', told);
  }
  await Promise.all([out.close(), blind.close()]);
  assert.deepEqual(dialled, []);
  assert.ok(literal > 900, `${literal} came to the connector`);
});

test.run();

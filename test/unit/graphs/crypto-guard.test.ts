import assert from 'node:assert/strict';
import { pbkdf2Sync, scryptSync } from 'node:crypto';
import { suite } from '../../support/suite.ts';
import { preparePoolRun, withPool } from './pool-harness.ts';
import { withProject } from './project-harness.ts';

const test = suite('graphs/crypto-guard');

/** What the named function of a graph returns, in a worker that is guarded. */
async function valuesOf<T>(code: string, name: string, input: object = {}): Promise<T> {
  let values: unknown;
  await withProject({ 'graph.mjs': code }, (dir) =>
    withPool(dir, { graphs: { agent: name } }, async (pool) => {
      const { checkpoints, start } = preparePoolRun(pool, input);
      const how = await start();
      assert.equal(how.kind, 'success', JSON.stringify(how));
      values = checkpoints.values();
    }),
  );
  return values as T;
}

const ORDERS = `import * as ciphers from 'node:crypto';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
const { subtle } = ciphers.webcrypto;
const big = 10_000_001;
const made = (order) => new Promise((resolve, reject) =>
  order((error, value) => (error ? reject(error) : resolve(value))));
const number = Buffer.alloc(2_100, 255).toString('base64url');
const hugePublic = { kty: 'RSA', n: number, e: 'AQAB' };
const parts = Object.fromEntries(['d', 'p', 'q', 'dp', 'dq', 'qi'].map((part) => [part, number]));
const huge = { key: { ...hugePublic, ...parts }, format: 'jwk' };
const orders = [
  () => made((done) => ciphers.pbkdf2('a', 'b', big, 64, 'sha512', done)),
  () => promisify(ciphers.pbkdf2)('a', 'b', big, 64, 'sha512'),
  () => ciphers.pbkdf2Sync('a', 'b', big, 64, 'sha512'),
  () => ciphers.pbkdf2Sync('a', 'b', 100_000, 1_000_000, 'sha512'),
  async () => {
    const key = await subtle.importKey('raw', Buffer.from('a'), 'PBKDF2', false, ['deriveBits']);
    const salt = Buffer.from('b');
    await subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-512', salt, iterations: big }, key, 512);
  },
  () => ciphers.scryptSync('a', 'b', 64, { N: 2 ** 23, r: 8, p: 2 }),
  () => made((done) => ciphers.scrypt('a', 'b', 64, { get cost() { return 2 ** 24; } }, done)),
  () => ciphers.generateKeyPairSync('rsa', { modulusLength: 16_385 }),
  () => made((done) => ciphers.generateKeyPair('dh', { primeLength: 4_097 }, done)),
  () => ciphers.generatePrimeSync(8_193),
  () => made((done) => ciphers.generatePrime(4_097, { safe: true }, done)),
  () => made((done) => ciphers.generatePrime(64, { add: 3n, rem: 0n }, done)),
  () => made((done) => ciphers.generatePrime(64, { add: Buffer.from([12]), safe: true }, done)),
  () => made((done) => ciphers.checkPrime(7n, { checks: 1e6 }, done)),
  () => made((done) => ciphers.sign('sha256', Buffer.from('a'), huge, done)),
  () => made((done) => ciphers.sign('sha256', Buffer.from('a'), ciphers.createPrivateKey(huge), done)),
  () => ciphers.verify('sha256', Buffer.from('a'), { key: hugePublic, format: 'jwk' }, Buffer.from('a')),
  () => subtle.importKey('jwk', hugePublic, { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, false, ['verify']),
  () => ciphers.createDiffieHellman(4_097),
  () => new ciphers.DiffieHellman(4_097),
  () => new Promise((_, reject) => new Worker(
    "require('crypto').pbkdf2Sync('a', 'b', " + big + ", 64, 'sha512')", { eval: true },
  ).once('error', reject)),
];
export async function refuses() {
  const said = [];
  for (const order of orders) {
    try {
      await order();
      said.push('nothing');
    } catch ({ name, message }) {
      said.push(name + ': ' + message);
    }
    // Each of the others would take for ever.
    if (!said.at(-1).startsWith('RangeError')) break;
  }
  return { said };
}`;

test('X4 given orders of keys and primes that take for ever, when graph code gives them, then each is refused and says what was expected', async () => {
  const { said } = await valuesOf<{ said: string[] }>(ORDERS, 'refuses');
  for (const one of said) assert.match(one, /^RangeError: The argument "[\w.]+" of \w+ is .*: expected /);
  assert.equal(said.length, 21);
});

const USES = `import * as ciphers from 'node:crypto';
import { promisify } from 'node:util';
const { subtle } = ciphers.webcrypto;
const hex = (bytes) => Buffer.from(bytes).toString('hex');
const [pbkdf2, scrypt, prime, check, pair, key] =
  ['pbkdf2', 'scrypt', 'generatePrime', 'checkPrime', 'generateKeyPair', 'generateKey']
    .map((name) => promisify(ciphers[name]));
export async function uses() {
  const password = Buffer.from('a');
  const many = Array.from({ length: 12 }, () => pbkdf2(password, 'b', 10_000, 32, 'sha256'));
  // Each has copied it, also those that wait.
  password.fill(0);
  const imported = await subtle.importKey('raw', Buffer.from('a'), 'PBKDF2', false, ['deriveBits']);
  const order = { name: 'PBKDF2', hash: 'SHA-256', salt: Buffer.from('b'), iterations: 10_000 };
  const pairs = await pair('rsa', { modulusLength: 1_024, publicKeyEncoding: { type: 'spki', format: 'pem' } });
  const made = ciphers.generateKeyPairSync('rsa', { modulusLength: 1_024 });
  const [sign, verify] = [promisify(ciphers.sign), promisify(ciphers.verify)];
  const pem = made.privateKey.export({ type: 'pkcs8', format: 'pem' });
  const locked = made.privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'p' });
  const jwk = made.publicKey.export({ format: 'jwk' });
  const pss = { padding: ciphers.constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
  const data = Buffer.from('x');
  let thrown;
  try {
    ciphers.pbkdf2('a', 'b', 'many', 32, 'sha256', () => undefined);
  } catch ({ code }) {
    thrown = code;
  }
  return {
    pbkdf2: [...new Set((await Promise.all(many)).map(hex)), hex(await subtle.deriveBits(order, imported, 256))],
    scrypt: [hex(await scrypt('a', 'b', 32)), hex(await scrypt('a', 'b', 32, { N: 1_024, p: 2 }))],
    scryptSync: [hex(ciphers.scryptSync('a', 'b', 32)), hex(ciphers.scryptSync('a', 'b', 32, { cost: 1_024, parallelization: 2 }))],
    pair: [Object.keys(pairs), typeof pairs.publicKey, Object.keys(ciphers.generateKeyPairSync('ed25519'))],
    key: (await key('hmac', { length: 64 })).type,
    prime: [(await prime(64)).byteLength, Number((await prime(32, { add: 12n, rem: 11n, bigint: true })) % 12n)],
    group: [ciphers.createDiffieHellman(512), new ciphers.DiffieHellman(512)].map((group) =>
      [group.getPrime().length, group instanceof ciphers.DiffieHellman]),
    signed: [
      await verify('sha256', data, made.publicKey, await sign('sha256', data, pem)),
      await verify('sha256', data, { key: jwk, format: 'jwk', ...pss }, await sign('sha256', data, { key: made.privateKey, ...pss })),
      ciphers.verify('sha256', data, pem, ciphers.sign('sha256', data, { key: locked, passphrase: 'p' })),
      ciphers.verify('sha256', data, pem, ciphers.sign('sha256', data, { key: pem, ...pss })),
    ],
    random: [
      new Set(await promisify(ciphers.randomFill)(Buffer.alloc(64))).size > 1,
      (await promisify(ciphers.randomBytes)(8)).length,
    ],
    check: [await check(7n), await check(Buffer.from([8]), { checks: 10 })],
    names: [ciphers.pbkdf2.name, ciphers.pbkdf2.length, ciphers.default.pbkdf2 === ciphers.pbkdf2],
    thrown,
  };
}`;

test('given keys and primes as they are usually made, when graph code makes them in every form, then they are what they are elsewhere', async () => {
  const bits = pbkdf2Sync('a', 'b', 10_000, 32, 'sha256').toString('hex');
  const scrypts = [scryptSync('a', 'b', 32), scryptSync('a', 'b', 32, { N: 1_024, p: 2 })].map((made) =>
    made.toString('hex'),
  );
  assert.deepEqual(await valuesOf(USES, 'uses'), {
    ...{ pbkdf2: [bits, bits], scrypt: scrypts, scryptSync: scrypts },
    pair: [['publicKey', 'privateKey'], 'string', ['publicKey', 'privateKey']],
    ...{ key: 'secret', prime: [8, 11], check: [true, false] },
    group: [
      [64, true],
      [64, true],
    ],
    ...{ signed: [true, true, true, false], random: [true, 8] },
    ...{ names: ['pbkdf2', 6, true], thrown: 'ERR_INVALID_ARG_TYPE' },
  });
});

const MANY = `import { pbkdf2, scrypt } from 'node:crypto';
import { stat } from 'node:fs/promises';
export async function derives({ total }) {
  let done = 0;
  const all = Array.from({ length: total }, (_, i) => new Promise((resolve) => {
    const onMade = () => resolve((done += 1));
    if (i % 2 === 0) pbkdf2('a', 'b', 100_000, 64, 'sha512', onMade);
    else scrypt('a', 'b', 64, onMade);
  }));
  await stat('/');
  const before = done;
  await Promise.all(all);
  return { before, done };
}`;

test('X4 given many keys in the making, when something else needs the threads that make them, then it waits for few of them, and all are made', async () => {
  const { before, done } = await valuesOf<{ before: number; done: number }>(MANY, 'derives', { total: 60 });
  assert.ok(before < 20, `${before} were made before`);
  assert.equal(done, 60);
});

test.run();

/**
 * Keys and primes are made in threads that the whole process shares, a few of them, and nothing takes such work back: a
 * graph that begins enough of it that never ends keeps every later worker from loading its modules. So what takes very
 * long is refused, each bound far above what anybody asks for, and a thread has only a few at work at a time.
 */
'use strict';
const { AsyncResource } = require('node:async_hooks');
const ciphers = require('node:crypto');
const { isAnyArrayBuffer, isCryptoKey, isKeyObject } = require('node:util/types');
const { like } = require('./like.cjs');

/** Ten times what is advised against the fastest hash: about 5 s for each 64 bytes. */
const ITERATIONS = 10_000_000;
/** N * r * p. For what is kept on disk 2 ** 23 is advised, which takes 3 s. */
const COST = 2 ** 26;
const RSA_BITS = 16_384;
const PRIME_BITS = 8_192;
/** Half of such a prime is prime as well: hundreds of times as rare. */
const SAFE_PRIME_BITS = 4_096;
/** Of whether a number is prime; 64 are usual. */
const CHECKS = 1_000;
/** Primes of a given remainder: of fewer bits perhaps there are none, and the search never ends. */
const LEAST_BITS = 32;
/** Of one thread; the process has from 4 to 16 threads for it. */
const MOST_AT_ONCE = 4;

const { apply } = Reflect;
const { create, defineProperty } = Object;
const { isArray } = Array;

function refuse(method, argument, given, expected) {
  throw new RangeError(
    `The argument "${argument}" of ${method} is ${given}, which would hold up every worker: expected ${expected}`,
  );
}
function limit(method, argument, value, most) {
  if (typeof value === 'number' && value > most) refuse(method, argument, value, `at most ${most}`);
}
const sizeOf = (data) => data?.byteLength ?? data?.length ?? 0;
/** In steps of 64 bytes: each block of the key takes the salt once, besides its iterations. */
const workOf = (bytes, iterations, saltBytes) => Math.ceil(bytes / 64) * (iterations + saltBytes / 64);

/** The options with these as they are now: a getter may say something else when Node asks. */
function pin(options, keys, read = (value) => value) {
  if (typeof options !== 'object' || options === null || isArray(options)) return options;
  const pinned = create(options);
  for (const key of keys) {
    const value = options[key];
    if (value !== undefined) defineProperty(pinned, key, { value: read(value), enumerable: true });
  }
  return pinned;
}

function checkPbkdf2(method, [, salt, iterations, bytes]) {
  limit(method, 'iterations', iterations, ITERATIONS);
  if (typeof bytes === 'number' && workOf(bytes, iterations, sizeOf(salt)) > ITERATIONS)
    refuse(method, 'keylen', bytes, `at most ${ITERATIONS} iterations for all blocks of 64 bytes together`);
}

function checkScrypt(method, given) {
  const options = pin(given[3], ['N', 'cost', 'r', 'blockSize', 'p', 'parallelization']);
  if (typeof options === 'object') given[3] = options;
  const { N, cost = N ?? 16_384, r, blockSize = r ?? 8, p, parallelization = p ?? 1 } = options ?? {};
  const total = cost * blockSize * parallelization;
  if (total > COST) refuse(method, 'options', `N * r * p = ${total}`, `at most ${COST}`);
  // It begins and ends with a single round over all blocks.
  const inner = 128 * blockSize * parallelization;
  if (workOf(inner, 1, sizeOf(given[1])) > ITERATIONS)
    refuse(method, 'salt', `of ${sizeOf(given[1])} bytes`, 'less of it');
  if (typeof given[2] === 'number' && workOf(given[2], 1, inner) > ITERATIONS)
    refuse(method, 'keylen', given[2], 'a shorter key');
}

/** What is no number at all is for Node to refuse. */
function toBig(value) {
  const isView = ArrayBuffer.isView(value);
  if ((!isView && !isAnyArrayBuffer(value)) || value.byteLength > PRIME_BITS / 8) return value;
  const bytes = isView ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : Buffer.from(value);
  return BigInt(`0x0${bytes.toString('hex')}`);
}
const gcd = (a, b) => {
  while (b > 0n) [a, b] = [b, a % b];
  return a;
};

/** Whether more than a few numbers of that remainder can be prime. */
function arePrimes(add, rem, isSafe) {
  if (gcd(add, rem) !== 1n) return false;
  if (!isSafe) return true;
  let common = gcd(add, rem > 0n ? rem - 1n : add - 1n);
  while (common % 2n === 0n) common /= 2n;
  return common === 1n && (add % 4n !== 0n || rem % 4n === 3n);
}

function checkPrimeOrder(method, given) {
  const [size] = given;
  const isGiven = typeof given[1] === 'object' && given[1] !== null;
  if (isGiven) given[1] = pin(pin(given[1], ['add', 'rem'], toBig), ['safe']);
  const { safe = false, add, rem = safe ? 3n : 1n } = isGiven ? given[1] : {};
  limit(method, 'size', size, safe ? SAFE_PRIME_BITS : PRIME_BITS);
  if (typeof size !== 'number' || typeof add !== 'bigint' || typeof rem !== 'bigint') return;
  if (add <= 0n || rem < 0n || !(size >= 1)) return;
  if (size < LEAST_BITS) refuse(method, 'size', size, `at least ${LEAST_BITS} with "options.add"`);
  if (add >= 2n ** BigInt(Math.floor(size / 2)))
    refuse(method, 'options.add', 'very large', 'at most half as many bits as the prime');
  if (!arePrimes(add, rem, safe))
    refuse(method, 'options.rem', rem, 'a remainder that primes have when divided by "options.add"');
}

function checkCandidate(method, given) {
  const [candidate] = given;
  const isHuge =
    typeof candidate === 'bigint' ? candidate >= 2n ** BigInt(RSA_BITS) : sizeOf(candidate) > RSA_BITS / 8;
  if (isHuge) refuse(method, 'candidate', 'very large', `at most ${RSA_BITS} bits`);
  if (typeof given[1] !== 'object') return;
  given[1] = pin(given[1], ['checks']);
  limit(method, 'options.checks', given[1]?.checks, CHECKS);
}

function checkKeyPair(method, given) {
  const [type] = given;
  if (typeof given[1] !== 'object') return;
  given[1] = pin(given[1], ['modulusLength', 'primeLength']);
  const { modulusLength, primeLength } = given[1] ?? {};
  limit(method, 'options.modulusLength', modulusLength, type === 'dsa' ? PRIME_BITS : RSA_BITS);
  limit(method, 'options.primeLength', primeLength, SAFE_PRIME_BITS);
}

/** A key of more bits takes minutes for a signature, or years. Whatever it is made of is read once. */
const checkSignature = (make) => (method, given) => {
  const { key: inner = given[2], ...options } = isPlain(given[2]) ? given[2] : { key: given[2] };
  let key = inner;
  try {
    if (!isKeyObject(inner) && !isCryptoKey(inner)) key = make(given[2]);
  } catch {
    // Node refuses it as well, and says why.
    return;
  }
  limit(method, 'key', (key.asymmetricKeyDetails ?? key.algorithm)?.modulusLength, RSA_BITS);
  given[2] = isPlain(given[2]) ? { ...options, format: undefined, type: undefined, key } : key;
};
const { createPrivateKey, createPublicKey } = ciphers;
const isPlain = (key) =>
  typeof key === 'object' && key !== null && key.key !== undefined && !isKeyObject(key);

const CHECKED = {
  sign: checkSignature(createPrivateKey),
  verify: checkSignature(createPublicKey),
  pbkdf2: checkPbkdf2,
  scrypt: checkScrypt,
  generatePrime: checkPrimeOrder,
  checkPrime: checkCandidate,
  generateKeyPair: checkKeyPair,
};

function checkBits(method, given) {
  const [algorithm] = given;
  given[0] = pin(algorithm, ['iterations'], Number);
  // Of a key it is said by its kind.
  if (typeof given[2] === 'object') given[2] = pin(given[2], ['length'], Number);
  else if (given[2] !== undefined) given[2] = Number(given[2]);
  const bits = typeof given[2] === 'object' ? (given[2]?.length ?? 1) : given[2];
  if (typeof given[0]?.iterations !== 'number') return;
  checkPbkdf2(method, [undefined, algorithm.salt, given[0].iterations, (bits ?? 1) / 8]);
}
function checkNewKey(method, given) {
  given[0] = pin(given[0], ['modulusLength'], Number);
  limit(method, 'modulusLength', given[0]?.modulusLength, RSA_BITS);
}

/** Of keys that were made elsewhere. */
const KEY_USES = ['importKey', 'unwrapKey', 'wrapKey', 'sign', 'verify', 'encrypt', 'decrypt'];

const waiting = [];
let atWork = 0;

/** Begins now, or when one of those at work is done, for whoever asked for it. */
function enter(begin) {
  if (atWork === MOST_AT_ONCE) return void waiting.push(AsyncResource.bind(begin));
  atWork += 1;
  begin();
}
function leave() {
  const next = waiting.shift();
  if (next === undefined) atWork -= 1;
  else next();
}

function guardCrypto() {
  for (const [name, check] of Object.entries(CHECKED)) {
    ciphers[name] = inTurn(checked(name, ciphers[name], check));
    const sync = ciphers[`${name}Sync`];
    if (sync !== undefined) ciphers[`${name}Sync`] = checked(`${name}Sync`, sync, check);
  }
  ciphers.randomBytes = inTurn(ciphers.randomBytes);
  // What is filled is what was given.
  ciphers.randomFill = inTurn(ciphers.randomFill, (given) => given);
  ciphers.generateKey = inTurn(ciphers.generateKey);
  ciphers.createDiffieHellman = checked('createDiffieHellman', ciphers.createDiffieHellman, checkGroup);
  guardGroups();
  const { prototype } = ciphers.webcrypto.subtle.constructor;
  const subtle = { deriveBits: checkBits, deriveKey: checkBits, generateKey: checkNewKey };
  for (const method of KEY_USES) subtle[method] = () => undefined;
  for (const [method, check] of Object.entries(subtle)) {
    const original = prototype[method];
    const guarded = {
      async [method](...given) {
        check(method, given);
        await new Promise(enter);
        try {
          const result = await apply(original, this, given);
          if (isCryptoKey(result)) limit(method, 'key', result.algorithm.modulusLength, RSA_BITS);
          return result;
        } finally {
          leave();
        }
      },
    }[method];
    prototype[method] = like(original, guarded);
  }
}

/** Its prime, or the number of bits of one that is still to be found, such that half of it is prime as well. */
function checkGroup(method, [prime]) {
  limit(method, 'sizeOrKey', prime, SAFE_PRIME_BITS);
}

function guardGroups() {
  const { DiffieHellman } = ciphers;
  const guarded = like(DiffieHellman, function (...given) {
    checkGroup('DiffieHellman', given);
    return Reflect.construct(DiffieHellman, given, new.target ?? DiffieHellman);
  });
  guarded.prototype = DiffieHellman.prototype;
  DiffieHellman.prototype.constructor = guarded;
  ciphers.DiffieHellman = guarded;
}

function checked(method, original, check) {
  // None of them is a constructor.
  return like(original, (...given) => {
    check(method, given);
    return original(...given);
  });
}

/** Who gave it may write into it afterwards. */
function copyOf(value) {
  if (ArrayBuffer.isView(value))
    return Buffer.from(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
  return isAnyArrayBuffer(value) ? value.slice(0) : value;
}

/** What ends with a call of its last argument. */
function inTurn(original, copy = copyOf) {
  return like(original, (...given) => {
    const callback = given.pop();
    // That one is missing is for Node to say.
    if (typeof callback !== 'function') return original(...given, callback);
    let isLate = false;
    const kept = atWork === MOST_AT_ONCE ? given.map(copy) : given;
    enter(() => {
      try {
        original(...kept, (...result) => {
          leave();
          callback(...result);
        });
      } catch (error) {
        leave();
        if (!isLate) throw error;
        callback(error);
      }
    });
    isLate = true;
  });
}

module.exports = { guardCrypto };

import * as assert from 'node:assert/strict';
import { createAuthenticator } from '../../../src/auth/authenticate.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';
import { AUTH_CLASSES, recognised, type AnyAuth } from './auth-classes.ts';

const test = suite('auth: authenticate');

const SECRET = 'sk-canary-5f1c';
const FAULTY = { ok: false, status: 500, detail: 'Internal server error' };
const NAMELESS = { ok: false, status: 400, detail: 'the auth user: identity must be a non-empty string' };
/** Plain data without an identity. */
const isNameless = (answer: unknown): boolean =>
  answer === '' ||
  ['undefined', 'number', 'boolean'].includes(typeof answer) ||
  answer === null ||
  Array.isArray(answer) ||
  (typeof answer === 'object' &&
    answer !== null &&
    Object.getPrototypeOf(answer) === Object.prototype &&
    (!Object.hasOwn(answer, 'identity') ||
      (answer as { identity: unknown }).identity === '' ||
      typeof (answer as { identity: unknown }).identity !== 'string'));

const request = (headers: Record<string, string> = {}) =>
  new Request('http://localhost/threads', { headers });

function setUp(auth: AnyAuth) {
  const clock = createManualClock();
  const faults: unknown[] = [];
  const handler = recognised(auth);
  const authenticate = createAuthenticator({ handler, clock, onFault: (error) => faults.push(error) });
  return { clock, faults, authenticate };
}

const keyCheck = (...apiKeys: string[]) =>
  createAuthenticator({
    apiKeys,
    clock: createManualClock(),
    onFault: (error) => assert.fail(String(error)),
  });

for (const { name, create, exception } of AUTH_CLASSES) {
  const answering = (answer: unknown) => setUp(create().authenticate(() => answer));

  test(`given ${name}, when the handler returns a string, then it is the identity of a user with defaults`, async () => {
    const user = { identity: 'alice', display_name: 'alice', permissions: [], is_authenticated: true };
    for (const answer of ['alice', Promise.resolve('alice'), { identity: 'alice' }]) {
      const { authenticate, faults, clock } = answering(answer);
      assert.deepEqual(await authenticate(request()), { ok: true, actor: { user, scopes: [] } });
      assert.deepEqual(faults, []);
      assert.deepEqual(clock.pending(), [], 'the deadline is called off');
    }
  });

  test(`given ${name}, when the handler changes the user it returned, then the actor stays as it was`, async () => {
    const user = { identity: 'alice', permissions: ['read'], org: { id: 7 } };
    const result = await answering(user).authenticate(request());
    user.permissions.push('admin');
    user.org.id = 8;
    assert.ok(result.ok);
    assert.deepEqual(result.actor.scopes, ['read']);
    assert.deepEqual(result.actor.user?.permissions, ['read']);
    assert.deepEqual(result.actor.user?.['org'], { id: 7 });
  });

  test(`given ${name}, when the handler throws an HTTPException, then its status, headers and message answer`, async () => {
    const headers = { 'WWW-Authenticate': 'Bearer', 'Content-Length': '3', 'Content-Type': 'text/html' };
    for (const given of [headers, Object.entries(headers), new Headers(headers)]) {
      const thrown = exception(401, { message: 'Invalid API key', headers: given });
      for (const fail of [() => Promise.reject(thrown), () => raise(thrown)]) {
        const { authenticate, faults } = setUp(create().authenticate(fail));
        assert.deepEqual(await authenticate(request()), {
          ok: false,
          status: 401,
          detail: 'Invalid API key',
          headers: { 'www-authenticate': 'Bearer' },
        });
        assert.deepEqual(faults, []);
      }
    }
  });

  const unreadable = new Proxy({}, { get: () => raise(new Error(SECRET)) });
  const throws: Record<string, unknown> = {
    'an Error': new Error(SECRET),
    'a string': SECRET,
    null: null,
    undefined: undefined,
    'an object with a success status': { status: 200, headers: {}, message: SECRET },
    'an object with a broken status': { status: 401.5, headers: {}, message: SECRET },
    'an object with a textual status': { status: '401', headers: {}, message: SECRET },
    'an object without headers': { status: 401, message: SECRET },
    'headers that no reply can carry': exception(401, { message: SECRET, headers: { a: 'x\r\ny: z' } }),
    'an object that throws when read': unreadable,
  };
  for (const [kind, thrown] of Object.entries(throws))
    test(`given ${name}, when the handler throws ${kind}, then a 500 without its text and a report (A2 A4)`, async () => {
      for (const fail of [() => Promise.reject(thrown), () => raise(thrown)]) {
        const { authenticate, faults } = setUp(create().authenticate(fail));
        const result = await authenticate(request());
        assert.deepEqual(result, FAULTY);
        assert.equal(faults.length, 1);
        assert.equal(faults[0], thrown);
      }
    });

  const cycle: Record<string, unknown> = { identity: 'alice' };
  cycle['self'] = cycle;
  const junk: Record<string, unknown> = {
    nothing: undefined,
    null: null,
    'an empty object': {},
    'an array': ['alice'],
    true: true,
    'a number': 1,
    'an empty string': '',
    'an empty identity': { identity: '' },
    'a numeric identity': { identity: 1 },
    'a null identity': { identity: null },
    'an identity that is an object': { identity: { $eq: 'alice' } },
    'an identity with a NUL': { identity: 'alice\u0000' },
    'an identity with a lone surrogate': { identity: 'alice\ud800' },
    'an inherited identity': Object.create({ identity: 'alice' }),
    'permissions as text': { identity: 'alice', permissions: 'admin' },
    'permissions that are null': { identity: 'alice', permissions: null },
    'permissions of mixed kinds': { identity: 'alice', permissions: ['read', 1] },
    'permissions with a hole': { identity: 'alice', permissions: [, 'read'] },
    'a numeric is_authenticated': { identity: 'alice', is_authenticated: 1 },
    'a null is_authenticated': { identity: 'alice', is_authenticated: null },
    'a numeric display_name': { identity: 'alice', display_name: 1 },
    'a function inside': { identity: 'alice', fetch: () => SECRET },
    'a bigint inside': { identity: 'alice', id: 1n },
    'a NaN inside': { identity: 'alice', id: NaN },
    'a date inside': { identity: 'alice', profile: { born: new Date(0) } },
    'a map inside': { identity: 'alice', roles: new Map() },
    'a cycle': cycle,
    'a key that changes prototypes': JSON.parse('{"identity":"alice","__proto__":{"admin":true}}'),
    'a key with a NUL': { identity: 'alice', 'org\u0000': 1 },
    'an instance of a class': new (class {
      identity = 'alice';
    })(),
    'a getter that throws': {
      identity: 'alice',
      get token() {
        return raise(new Error(SECRET));
      },
    },
  };
  for (const [kind, answer] of Object.entries(junk))
    test(`given ${name}, when authenticate answers with ${kind}, then it is refused and reported (A2)`, async () => {
      const { authenticate, faults } = answering(answer);
      assert.deepEqual(await authenticate(request()), isNameless(answer) ? NAMELESS : FAULTY);
      assert.equal(faults.length, 1);
    });

  test(`given ${name}, when a user makes no sense, then the report names fields and no values (A4)`, async () => {
    const { authenticate, faults } = answering({
      identity: 'alice',
      token: SECRET,
      list: [1, { at: new Date() }],
    });
    await authenticate(request());
    const text = String(faults[0]);
    assert.match(text, /the auth user\.list\[1\]\.at is an instance of a class/);
    assert.ok(!text.includes(SECRET) && !text.includes('alice'));
  });

  test(`given ${name}, when the handler hangs, then a 500 at the deadline and not before (A2)`, async () => {
    for (const hanging of [new Promise(() => {}), { then: () => {} }]) {
      const { authenticate, faults, clock } = answering(hanging);
      const answered = watch(authenticate(request()));
      await clock.advance(9_999);
      assert.equal(answered.done(), false);
      await clock.advance(1);
      assert.deepEqual(await answered.result, FAULTY);
      assert.match(String(faults[0]), /did not answer within 10000 ms/);
      assert.deepEqual(clock.pending(), []);
    }
  });

  test(`given ${name}, when a handler answers or fails after the deadline, then nothing comes of it (A2)`, async () => {
    const outcomes = [() => 'alice', () => raise(new Error(SECRET))];
    for (const outcome of outcomes) {
      let release = () => {};
      const gate = new Promise<void>((resolve) => (release = resolve));
      const { authenticate, faults, clock } = answering(gate.then(outcome));
      const answered = watch(authenticate(request()));
      await clock.advance(10_000);
      release();
      await clock.advance(1);
      assert.deepEqual(await answered.result, FAULTY);
      assert.equal(faults.length, 1);
    }
  });
}

test('given an empty key, when the authenticator is made, then it throws instead of being open (A2)', () => {
  assert.throws(() => keyCheck(''), RangeError);
});

function raise(thrown: unknown): never {
  throw thrown;
}

function watch<T>(result: Promise<T>) {
  let done = false;
  void result.then(() => (done = true));
  return { result, done: () => done };
}

test.run();

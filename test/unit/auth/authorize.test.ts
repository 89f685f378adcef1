import * as assert from 'node:assert/strict';
import type { EventName } from '../../../src/auth/auth.ts';
import { createAuthorizer } from '../../../src/auth/authorize.ts';
import { parseUser } from '../../../src/auth/user.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';
import { AUTH_CLASSES, recognised, type AnyAuth } from './auth-classes.ts';

const test = suite('auth: authorize');

const SECRET = 'tok-canary-90ab';
const FAULTY = { ok: false, status: 500, detail: 'Internal server error' };

const user = parseUser({ identity: 'alice', permissions: ['read'], token: SECRET });
const alice = { user: user!, scopes: ['read'] };

interface Context {
  event: string;
  resource: string;
  action: string;
  value: Record<string, unknown>;
  permissions: string[];
  user: Record<string, unknown>;
}

function setUp(auth: AnyAuth) {
  const clock = createManualClock();
  const faults: unknown[] = [];
  const authorize = createAuthorizer({
    handler: recognised(auth),
    clock,
    onFault: (error) => faults.push(error),
  });
  const ask = (value: JsonObject = {}, event: EventName = 'threads:create') => authorize(alice, event, value);
  return { clock, faults, authorize, ask };
}

for (const { name, create, exception } of AUTH_CLASSES) {
  const answering = (answer: (context: Context) => unknown) => setUp(create().on('threads', answer));

  test(`given ${name} with handlers at every level, when asked, then only the most specific one runs`, async () => {
    const ran: string[] = [];
    const keys = ['*', '*:create', '*:read', 'threads', 'threads:create'];
    const auth = create().authenticate(() => 'alice');
    for (const key of keys) auth.on(key, () => void ran.push(key));
    const { ask } = setUp(auth);
    const expected: [EventName, string][] = [
      ['threads:create', 'threads:create'],
      ['threads:read', 'threads'],
      ['assistants:create', '*:create'],
      ['store:put', '*'],
      ['assistants:read', '*:read'],
      ['threads:create_run', 'threads'],
    ];
    for (const [event] of expected) await ask({}, event);
    assert.deepEqual(
      ran,
      expected.map(([, key]) => key),
    );
  });

  test(`given ${name} without a handler for the event, when asked, then it is allowed unchanged`, async () => {
    const { ask, clock } = setUp(create().on('assistants', () => false));
    const value = { thread_id: 't1' };
    assert.deepEqual(await ask(value), { ok: true, value, filter: undefined });
    assert.deepEqual(clock.pending(), []);
  });

  test(`given ${name}, when a handler is asked, then it gets the event, its parts, the value and the user`, async () => {
    const seen: Context[] = [];
    const { ask, clock } = answering((context) => void seen.push(structuredClone(context)));
    await ask({ thread_id: 't1' }, 'threads:create_run');
    assert.deepEqual(seen, [
      {
        event: 'threads:create_run',
        resource: 'threads',
        action: 'create_run',
        value: { thread_id: 't1' },
        permissions: ['read'],
        user: structuredClone(user),
      },
    ]);
    assert.deepEqual(clock.pending(), [], 'the deadline is called off');
  });

  test(`given ${name}, when a handler changes user or permissions, then the actor keeps its own (A2)`, async () => {
    const before = structuredClone(alice);
    const { ask } = answering(({ user, permissions }) => {
      permissions.push('admin');
      user['identity'] = 'root';
      (user['permissions'] as string[]).push('admin');
    });
    assert.equal((await ask()).ok, true);
    assert.deepEqual(alice, before);
  });

  test(`given ${name}, when a handler changes the value after it answered, then the decision stays (A2)`, async () => {
    let keep: Record<string, unknown> = {};
    const filter = { owner: 'alice' };
    const { ask } = answering(({ value }) => {
      keep = value;
      return filter;
    });
    const decision = await ask({ metadata: { owner: 'alice' } });
    (keep['metadata'] as JsonObject)['owner'] = 'bob';
    filter.owner = 'bob';
    assert.ok(decision.ok);
    assert.deepEqual(decision.value, { metadata: { owner: 'alice' } });
    assert.deepEqual(decision.filter, [{ op: 'equal', key: 'owner', value: 'alice' }]);
  });

  test(`given ${name}, when a handler returns nothing, null, true or {}, then no filter`, async () => {
    for (const answer of [undefined, null, true, {}, Promise.resolve(), Promise.resolve({})]) {
      const { ask, faults } = answering(() => answer);
      assert.deepEqual(await ask(), { ok: true, value: {}, filter: undefined });
      assert.deepEqual(faults, []);
    }
  });

  const junk: Record<string, unknown> = {
    'an empty string': '',
    'a string': 'allow',
    zero: 0,
    one: 1,
    NaN: NaN,
    'a bigint': 1n,
    'a symbol': Symbol('owner'),
    'a function': () => true,
    'an array': [{ owner: 'alice' }],
    'an empty array': [],
    'a map': new Map([['owner', 'alice']]),
    'a boxed boolean': Object(true),
    'an unknown operator': { owner: { $near: ['alice'] } },
    'an undefined owner': { owner: undefined },
    'an empty $or': { $or: [] },
  };
  for (const [kind, answer] of Object.entries(junk))
    test(`given ${name}, when an authorization handler answers with ${kind}, then a 500 and a report (A2)`, async () => {
      for (const wrapped of [answer, Promise.resolve(answer)]) {
        const { ask, faults } = answering(() => wrapped);
        const decision = await ask();
        assert.ok(!decision.ok);
        assert.equal(decision.status, 500);
        assert.match(
          decision.detail,
          /^(auth filter|Auth handler returned invalid result\. Expected filter dict)/,
        );
        assert.equal(faults.length, 1);
      }
    });

  test(`${name}: a filter that compares with an object is a 500 that names the key (A2)`, async () => {
    const user = { identity: 'alice', email: 'canary' };
    const instance = Object.assign(new (class User {})(), user);
    for (const answer of [{ owner: user }, { owner: instance }, { $or: [{ a: 1 }, { owner: user }] }]) {
      const { ask } = answering(() => answer);
      const decision = await ask();
      assert.ok(!decision.ok);
      assert.equal(decision.status, 500);
      assert.match(decision.detail, /owner": expected .* found an object; use .* user\.identity$/);
      assert.doesNotMatch(decision.detail, /canary|email/);
    }
  });

  const spoilers: Record<string, (value: Record<string, unknown>) => unknown> = {
    'a function in it': (value) => (value['metadata'] = () => 1),
    'an undefined stamp': (value) => (value['metadata'] = { owner: undefined }),
    'a date in it': (value) => (value['metadata'] = { at: new Date(0) }),
    'a bigint in it': (value) => (value['limit'] = 1n),
    'an infinite number': (value) => (value['limit'] = Infinity),
    'a cycle': (value) => (value['metadata'] = value),
    'a key that changes prototypes': (value) => (value['metadata'] = JSON.parse('{"__proto__":{}}')),
    'a prototype of its own': (value) => Object.setPrototypeOf(value, { owner: 'bob' }),
  };
  for (const [kind, spoil] of Object.entries(spoilers))
    test(`given ${name}, when a handler leaves the value with ${kind}, then a 500 and a report (A2)`, async () => {
      const { ask, faults } = answering(({ value }) => void spoil(value));
      assert.deepEqual(await ask({ metadata: {} }), FAULTY);
      assert.equal(faults.length, 1);
    });

  test(`given ${name}, when a handler throws anything else, then a 500 without its text and a report (A2 A4)`, async () => {
    for (const thrown of [
      new Error(SECRET),
      SECRET,
      null,
      undefined,
      false,
      exception(302),
      { status: 403 },
    ]) {
      const { ask, faults } = answering(() => {
        throw thrown;
      });
      assert.deepEqual(await ask(), FAULTY);
      assert.deepEqual(faults, [thrown]);
    }
  });

  test(`given ${name}, when the actor has no user, then it is denied, handler or not (A2)`, async () => {
    const { authorize, faults } = setUp(create().on('threads', () => true));
    for (const event of ['threads:create', 'store:put'] as const)
      assert.deepEqual(await authorize({ scopes: [] }, event, {}), {
        ok: false,
        status: 403,
        detail: 'Not authorized',
      });
    assert.equal(faults.length, 2);
  });
}

test.run();

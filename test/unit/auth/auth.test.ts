import * as assert from 'node:assert/strict';
import { Auth, HTTPException, type HandlerKey } from '../../../src/auth/auth.ts';
import { recogniseAuth } from '../../../src/auth/handler.ts';
import { suite } from '../../support/suite.ts';
import { AUTH_CLASSES, recognised } from './auth-classes.ts';

const test = suite('auth: the public classes');

for (const { name, create, exception } of AUTH_CLASSES) {
  test(`given ${name} with a handler, when its key is registered again, then the later handler replaces it`, () => {
    const later = () => false;
    const auth = create()
      .on(['threads', 'store'], () => true)
      .on('threads', later);

    assert.equal(auth['~handlerCache'].callbacks?.['threads'], later);
    assert.notEqual(auth['~handlerCache'].callbacks?.['store'], later);
  });

  test(`given ${name}, when it was recognised before handlers were added, then they are found all the same`, () => {
    const auth = create();
    const handler = recognised(auth);
    assert.throws(() => handler.authenticator(), /no authenticate handler/);
    assert.equal(handler.callback('threads'), undefined);

    const authenticate = () => 'alice';
    const onThreads = () => true;
    auth.authenticate(authenticate).on('threads', onThreads);

    assert.equal(handler.authenticator(), authenticate);
    assert.equal(handler.callback('threads'), onThreads);
  });

  test(`given ${name}, when keys of Object.prototype are asked for, then there is no handler`, () => {
    const handler = recognised(create().on('threads', () => true));
    for (const key of ['toString', 'constructor', '__proto__', 'hasOwnProperty'])
      assert.equal(handler.callback(key), undefined, key);
  });

  test(`given ${name}, when something else than a function was registered, then asking for it throws (A2)`, () => {
    for (const junk of [undefined, null, false, 'deny', {}])
      assert.throws(() => recognised(create().on('threads', junk)).callback('threads'), /not a function/);
    const broken = create();
    broken['~handlerCache'].authenticate = 'alice';
    assert.throws(() => recognised(broken).authenticator(), /no authenticate handler/);
  });

  test(`given the HTTPException beside ${name}, when made without a message, then it has the reason phrase`, () => {
    assert.equal(exception(401).message, 'Unauthorized');
    assert.equal(exception(403).message, 'Forbidden');
    assert.equal(exception(799).message, 'Unknown error');
    assert.deepEqual(exception(401).headers, {});
  });

  test(`given the HTTPException beside ${name}, when made with options, then it keeps them`, () => {
    const cause = new Error('expired');
    const made = exception(401, {
      message: 'Invalid API key',
      headers: { 'WWW-Authenticate': 'Bearer' },
      cause,
    });
    assert.ok(made instanceof Error);
    assert.equal(made.status, 401);
    assert.equal(made.message, 'Invalid API key');
    assert.deepEqual(made.headers, { 'WWW-Authenticate': 'Bearer' });
    assert.equal(made.cause, cause);
  });
}

test('given exports that are no auth object, when recognised, then the answer is undefined', () => {
  const strangers = [undefined, null, 'auth', () => 'alice', {}, [], { '~handlerCache': null }, new Map()];
  for (const stranger of [...strangers, { authenticate: () => 'alice' }, { '~handlerCache': 'x' }])
    assert.equal(recogniseAuth(stranger), undefined);
});

test('given a recognised auth object, when its handlers are lost later, then every question throws (A2)', () => {
  const auth: Record<string, unknown> = { '~handlerCache': { callbacks: 'junk' } };
  const handler = recogniseAuth(auth)!;
  assert.throws(() => handler.callback('threads'), /lost its callbacks/);
  auth['~handlerCache'] = undefined;
  assert.throws(() => handler.callback('threads'), /lost its handlers/);
  assert.throws(() => handler.authenticator(), /lost its handlers/);
});

test('given the example of the documentation, when it is compiled and called, then types and values agree', async () => {
  const misspelt: 'threads:fly' extends HandlerKey ? true : false = false;
  const auth = new Auth()
    .authenticate(async (request) => {
      const token = request.headers.get('authorization');
      if (token === null) throw new HTTPException(401, { message: 'Invalid API key' });
      return { identity: token, permissions: ['read'], org: 7 };
    })
    .on('threads', ({ user }) => ({ owner: user.identity }))
    .on(['threads:create', 'threads:update', 'threads:create_run'], ({ value, user }) => {
      value.metadata = { ...value.metadata, owner: user.identity, org: user.org.toFixed(0) };
      return { owner: user.identity };
    })
    .on('*:search', (context) => context.event !== 'store:search' || context.value.namespace?.length === 1)
    .on('store:put', ({ value }) => value.namespace[0] === 'public')
    .on('*', ({ permissions }) => ({ $or: [{ public: true }, { scopes: { $contains: permissions } }] }));

  assert.equal(misspelt, false);
  const handler = recogniseAuth(auth)!;
  await assert.rejects(async () => handler.authenticator()(new Request('http://localhost/')), {
    status: 401,
  });
  assert.equal(handler.callback('*:search')?.({ event: 'store:search', value: {} }), false);
});

test.run();

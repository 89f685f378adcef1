import * as assert from 'node:assert/strict';
import { publicConfigurable, publicMetadata, toConfigurable } from '../../../src/graphs/private-keys.ts';
import { suite } from '../../support/suite.ts';

const test = suite('private keys');

const USER_KEYS = ['platform_auth', 'langgraph_auth'].flatMap((prefix) =>
  ['user', 'user_id', 'permissions'].map((suffix) => `${prefix}_${suffix}`),
);
const posing = Object.fromEntries(USER_KEYS.map((key) => [key, 'mallory']));

test("A4 every name of the user in a graph's config is the true user and cannot be forged", () => {
  const user = { identity: 'ann', permissions: ['read'], org: 7 };
  const configurable = toConfigurable({ ...posing, __pregel_read: 1, mine: 1 }, user);
  assert.deepEqual(configurable, {
    mine: 1,
    platform_auth_user: user,
    platform_auth_user_id: 'ann',
    platform_auth_permissions: ['read'],
    langgraph_auth_user: user,
    langgraph_auth_user_id: 'ann',
    langgraph_auth_permissions: ['read'],
  });
  assert.deepEqual(toConfigurable({ ...posing, mine: 1 }, undefined), { mine: 1 });
  assert.deepEqual(toConfigurable({}, { identity: 'ann' })['platform_auth_permissions'], []);
});

test('A4 shown metadata lacks the user, headers and secrets that the runtime copied into it', () => {
  const configurable = {
    'x-forwarded-for': '10.0.0.1',
    openai_api_key: 'sk',
    authorization: 'b',
    model: 'm',
  };
  const config = { configurable, metadata: { token_budget: 5, api_key: 'named by the client' } };
  assert.deepEqual(
    publicMetadata(
      { ...posing, ...configurable, ...config.metadata, __internal: 1, langgraph_node: 'a' },
      config,
    ),
    { model: 'm', token_budget: 5, api_key: 'named by the client', langgraph_node: 'a' },
  );
});

test('A4 shown metadata lacks copied inherited headers unless the client gave them itself', () => {
  const inherited = { model: 'from a header', region: 'from a header' };
  const config = { configurable: {}, inherited, metadata: { region: 'from the client' } };
  assert.deepEqual(publicMetadata({ ...inherited, ...config.metadata, step: 1 }, config), {
    region: 'from the client',
    step: 1,
  });
});

test('A4 given a configurable, when checkpoints note it, then only harmless scalars are kept', () => {
  const kept = { model: 'm', depth: 3, fast: true };
  assert.deepEqual(
    publicConfigurable({
      ...kept,
      ...posing,
      nested: { a: 1 },
      list: [1],
      none: null,
      password: 'p',
      'X-Trace': 't',
      __x: 1,
      checkpoint_id: 'c',
    }),
    kept,
  );
});

test.run();

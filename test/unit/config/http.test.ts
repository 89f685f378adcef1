import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, type Config } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';

const test = suite('the http block');

const load = (more: object, env: Record<string, string> = {}): Promise<Config> =>
  withTempDir(async (dir) => {
    const file = join(dir, 'platform.json');
    writeFileSync(file, JSON.stringify({ graphs: { a: './a.ts' }, ...more }));
    return loadConfig({}, env, dir);
  });

const problemsOf = async (more: object, env?: Record<string, string>): Promise<readonly string[]> => {
  try {
    await load(more, env);
  } catch (error) {
    if (error instanceof ConfigError)
      return error.problems.map((line) => line.replace(/^\S+platform.json: /, ''));
    throw error;
  }
  throw new Error('the configuration was accepted');
};

test('without an http block everybody may call, everything is on and no header is shown', async () => {
  const { http, log, warnings, maxBodyBytes } = await load({});
  assert.deepEqual(http, {
    customRouteAuth: false,
    order: 'middleware_first',
    cors: { origins: ['*'], methods: [], headers: [], credentials: false, expose: [], maxAgeSecs: 600 },
    disabled: new Set(),
    mountPrefix: '',
    configurableHeaders: { exclude: [] },
    loggingHeaders: { include: [], exclude: [] },
    streamEnd: false,
  });
  assert.deepEqual(log, { level: 'info', json: undefined });
  assert.deepEqual([warnings, maxBodyBytes], [[], 16 * 2 ** 20]);
});

test('given every key of the block, when loaded, then all are read and none is unknown', async () => {
  const { http, warnings } = await load({
    http: {
      app: './app.ts:it',
      enable_custom_route_auth: true,
      middleware_order: 'auth_first',
      cors: {
        allow_origins: ['*'],
        allow_methods: ['*'],
        allow_headers: ['*'],
        allow_credentials: true,
        max_age: 0,
      },
      mount_prefix: '/a/b/',
      configurable_headers: { include: ['x-*'], includes: ['y'], excludes: ['x-z'] },
      logging_headers: { exclude: ['x'] },
      disable_store: true,
      disable_meta: false,
    },
  });
  assert.match(http.app?.file ?? '', /\/app\.ts$/);
  assert.deepEqual([http.app?.exportName, http.customRouteAuth, http.order], ['it', true, 'auth_first']);
  assert.deepEqual([http.mountPrefix, [...http.disabled]], ['/a/b', ['store']]);
  assert.deepEqual(http.configurableHeaders, { include: ['x-*', 'y'], exclude: ['x-z'] });
  // Every origin and credentials do not go together.
  assert.equal(http.cors.credentials, false);
  assert.match(warnings.join(), /^http\.cors\.allow_credentials has no effect/);
});

test('given the environment, when it says otherwise than the file, then the environment is heard', async () => {
  const file = { http: { mount_prefix: '/file', cors: { allow_origins: ['https://file.example'] } } };
  const { http, maxBodyBytes, log } = await load(file, {
    MOUNT_PREFIX: '/env',
    CORS_ALLOW_ORIGINS: 'https://one.example, https://two.example',
    HTTP_MAX_REQUEST_BODY_BYTES: '2048',
    LOG_LEVEL: 'WARNING',
    LOG_JSON: 'false',
  });
  assert.deepEqual([http.mountPrefix, maxBodyBytes, log], ['/env', 2048, { level: 'warn', json: false }]);
  assert.deepEqual(http.cors.origins, ['https://one.example', 'https://two.example']);
});

test('given a block with many mistakes, when loaded, then every one is named with its key', async () => {
  assert.deepEqual(
    await problemsOf({
      http: {
        app: 'a:b:c',
        enable_custom_route_auth: 'yes',
        middleware_order: 'last',
        cors: { allow_origins: ['example.com'], allow_origin_regex: '(', max_age: -1, expose_headers: 'x' },
        mount_prefix: 'agents',
        configurable_headers: { include: 'x-*' },
        logging_headers: [],
        disable_ui: 1,
      },
      auth: { path: './a.ts', openapi: { paths: 7 } },
    }),
    [
      'auth.openapi.paths: expected an object, found 7',
      'http.app: expected "<file>:<variable>", relative to this file, found "a:b:c"',
      'http.enable_custom_route_auth: expected true or false, found "yes"',
      'http.middleware_order: expected "middleware_first" or "auth_first", found "last"',
      'http.cors.allow_origins.0: expected "*" or an origin such as "https://app.example", found "example.com"',
      'http.cors.allow_origin_regex: expected a regular expression (error parsing regexp: missing closing ): `(`), found "("',
      'http.cors.expose_headers: expected a list of strings, found "x"',
      'http.cors.max_age: expected a whole number of at least 0, found -1',
      'http.mount_prefix: expected a path such as "/agents", found "agents"',
      'http.configurable_headers.include: expected a list of strings, found "x-*"',
      'http.logging_headers: expected an object with include and exclude, found a list',
      'http.disable_ui: expected true or false, found 1',
    ],
  );
  const env = {
    MOUNT_PREFIX: 'no',
    CORS_ALLOW_ORIGINS: 'here',
    LOG_LEVEL: 'loud',
    HTTP_MAX_REQUEST_BODY_BYTES: 'x',
  };
  const problems = await problemsOf({}, env);
  for (const name of Object.keys(env))
    assert.ok(
      problems.some((line) => line.startsWith(`${name}: `)),
      name,
    );
  assert.equal(problems.length, 4);
});

test.run();

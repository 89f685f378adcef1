import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, type Config } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';

const test = suite('config: keys of the file');

const loadFile = <T>(file: object, use: (config: Config, dir: string) => T, env = {}): Promise<T> =>
  withTempDir((dir) => {
    writeFileSync(join(dir, 'langgraph.json'), JSON.stringify(file));
    return use(loadConfig({ config: dir }, env, dir), dir);
  });
const warningsOf = (file: object, env = {}): Promise<readonly string[]> =>
  loadFile(file, ({ warnings }, dir) => warnings.map((text) => text.replaceAll(dir, '')), env);

const GRAPHS = { agent: './agent.ts:graph', old: { path: './old.js:graph', description: 'An old one' } };

/** Every documented key with a value of its type. */
const DOCUMENTED = {
  $schema: 'schema.json',
  graphs: GRAPHS,
  dependencies: [],
  env: { NAME: 'value' },
  node_version: '22',
  python_version: '3.12',
  node_loader: 'tsx',
  api_version: '0.4.1',
  base_image: 'image',
  image_distro: 'wolfi',
  dockerfile_lines: [],
  pip_config_file: './pip.conf',
  pip_installer: 'uv',
  keep_pkg_tools: ['pip'],
  source: { kind: 'uv', root: '.', package: 'p' },
  docker_compose_file: './compose.yml',
  _INTERNAL_docker_tag: '1',
  auth: {
    path: './auth.ts:auth',
    disable_studio_auth: false,
    openapi: { securitySchemes: {}, security: [], paths: {} },
    cache: { cache_keys: ['authorization'], ttl_seconds: 60, max_size: 10 },
    allow_langsmith_api_keys: false,
  },
  encryption: { path: './encryption.ts:encryption' },
  http: {
    app: './app.ts:app',
    disable_assistants: false,
    disable_threads: false,
    disable_runs: false,
    disable_store: false,
    disable_mcp: false,
    disable_a2a: false,
    disable_meta: false,
    disable_ui: false,
    disable_webhooks: false,
    cors: {
      allow_origins: ['*'],
      allow_methods: ['GET'],
      allow_headers: ['x-a'],
      allow_credentials: false,
      allow_origin_regex: 'https://.*',
      expose_headers: ['x-b'],
      max_age: 600,
    },
    configurable_headers: { includes: ['x-*'], excludes: ['x-secret'] },
    logging_headers: { include: ['x-*'], exclude: ['x-secret'] },
    middleware_order: 'auth_first',
    enable_custom_route_auth: false,
    mount_prefix: '/agents',
  },
  store: {
    index: { dims: 3, embed: 'openai:text-embedding-3-small', fields: ['$'] },
    ttl: { refresh_on_read: true, default_ttl: 60, sweep_interval_minutes: 10 },
  },
  checkpointer: {
    ttl: { strategy: 'delete', default_ttl: 60, sweep_interval_minutes: 5, sweep_limit: 1000 },
    path: './saver.ts:saver',
    backend: 'default',
    serde: { allowed_json_modules: [], allowed_msgpack_modules: [], pickle_fallback: false },
  },
  webhooks: { env_prefix: 'LG_WEBHOOK_', url: { require_https: true }, headers: { 'x-a': 'b' } },
  ui: { agent: './ui.tsx' },
  ui_config: { shared: ['react'] },
};

test('every documented key is accepted, and those that ask for what is not here are told', async () => {
  assert.deepEqual(
    await warningsOf(DOCUMENTED),
    ['encryption', 'checkpointer.path', 'checkpointer.serde', 'ui', 'ui_config'].map(
      (key) => `/langgraph.json: ${key} is not supported and has no effect`,
    ),
  );
});

test('an empty dockerfile_lines is no warning, and one with lines is', async () => {
  assert.deepEqual(await warningsOf({ graphs: GRAPHS, dockerfile_lines: [] }), []);
  assert.deepEqual(await warningsOf({ graphs: GRAPHS, dockerfile_lines: ['RUN true'] }), [
    '/langgraph.json: dockerfile_lines is not supported and has no effect',
  ]);
});

test('an unknown key is told with the key that was probably meant', async () => {
  const file = {
    ...{ graphs: GRAPHS, dependancies: [], nothing_like_it: 1 },
    ...{ http: { mount_prefx: '/a' }, checkpointr: { ttl: {} } },
  };
  assert.deepEqual(await warningsOf(file), [
    '/langgraph.json: dependancies is unknown and has no effect; did you mean "dependencies"?',
    '/langgraph.json: nothing_like_it is unknown and has no effect',
    '/langgraph.json: http.mount_prefx is unknown and has no effect; did you mean "http.mount_prefix"?',
    '/langgraph.json: checkpointr is unknown and has no effect; did you mean "checkpointer"?',
  ]);
});

test('an unknown key is told wherever objects have named keys, and a misplaced one with its place', async () => {
  const file = {
    graphs: { agent: { path: './agent.ts:graph', descripton: 'An agent' } },
    ...{ recording: { enabeld: false }, cors: {}, disable_studio_auth: true },
    auth: { path: './auth.ts', cache: { cache_keys: ['x'], ttl_secs: 9 }, openapi: { anything: 1 } },
    http: { logging_headers: { includes: [], exclude_all: true } },
    x: 1,
  };
  assert.deepEqual(await warningsOf(file), [
    '/langgraph.json: graphs.agent.descripton is unknown and has no effect; did you mean "graphs.agent.description"?',
    '/langgraph.json: recording.enabeld is unknown and has no effect; did you mean "recording.enabled"?',
    '/langgraph.json: cors is unknown and has no effect; did you mean "http.cors"?',
    '/langgraph.json: disable_studio_auth is unknown and has no effect; did you mean "auth.disable_studio_auth"?',
    '/langgraph.json: auth.cache.ttl_secs is unknown and has no effect',
    '/langgraph.json: http.logging_headers.exclude_all is unknown and has no effect',
    '/langgraph.json: x is unknown and has no effect',
  ]);
});

test('a variable that is probably misspelt is told, and those of other programs are not', async () => {
  const env = { PLATFORM_CONCURENCY: '2', PLATFORM_WORKER: '1', PLATFORM_BRANCH: 'main', PLATFORM_PORT: '1' };
  assert.deepEqual(await warningsOf({ graphs: GRAPHS }, env), [
    'PLATFORM_CONCURENCY is unknown and has no effect; did you mean PLATFORM_CONCURRENCY?',
    'PLATFORM_WORKER is unknown and has no effect; did you mean PLATFORM_WORKERS?',
  ]);
});

test('a list of names as env is accepted, and a variable that is not set is told', async () => {
  const file = { graphs: GRAPHS, env: ['SET', 'NOT_SET'] };
  assert.deepEqual(await warningsOf(file, { SET: '1' }), [
    '/langgraph.json: env: the environment has no variable NOT_SET',
  ]);
});

test('a Python graph is told and left out, and a file with none but those is refused', async () => {
  await loadFile({ graphs: { ...GRAPHS, py: './agent.py:graph' } }, ({ graphs, unserved, warnings }, dir) => {
    assert.deepEqual(
      graphs.map(({ id }) => id),
      ['agent', 'old'],
    );
    assert.deepEqual(
      unserved.map(({ id, reason }) => [id, reason]),
      [['py', 'it is Python, which is not supported yet']],
    );
    assert.deepEqual(warnings, [
      `${join(dir, 'langgraph.json')}: graphs.py (${join(dir, 'agent.py')}) is not served: ` +
        'it is Python, which is not supported yet',
    ]);
  });
  await assert.rejects(
    loadFile({ graphs: { py: './agent.py:graph' } }, () => undefined),
    (error) => error instanceof ConfigError && /at least one graph in JavaScript/.test(error.message),
  );
});

test('clients find the server at port 2024 unless told otherwise', () =>
  loadFile({ graphs: GRAPHS }, ({ port }) => assert.equal(port, 2024)));

test.run();

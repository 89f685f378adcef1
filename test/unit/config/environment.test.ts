import * as assert from 'node:assert/strict';
import { ConfigError, type Config } from '../../../src/config/config.ts';
import { findStore, loadConfig, readConfig } from '../../../src/config/load.ts';
import { understood } from '../../../src/config/understood.ts';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';
import { PROJECT } from '../../support/with-server.ts';

const test = suite('config: names of the environment');

const load = (env: Record<string, string>): Config => loadConfig({ config: PROJECT }, env, PROJECT);

/** The names of other servers, then our own, with what they set in a config. */
const NAMES: readonly [string, string, (config: Config) => unknown, string, unknown][] = [
  ['BG_JOB_TIMEOUT_SECS', 'PLATFORM_RUN_TIMEOUT_SECS', (c) => c.runTimeoutMs, '7', 7_000],
  ['BG_JOB_MAX_RETRIES', 'PLATFORM_MAX_ATTEMPTS', (c) => c.maxAttempts, '7', 7],
  ['BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS', 'PLATFORM_DRAIN_SECS', (c) => c.drainMs, '7', 7_000],
  ['N_JOBS_PER_WORKER', 'PLATFORM_CONCURRENCY', (c) => c.concurrency, '7', 7],
  ['RESUMABLE_STREAM_TTL_SECONDS', 'PLATFORM_FRAME_RETENTION_SECS', (c) => c.frameRetentionMs, '7', 7_000],
  ['HTTP_MAX_REQUEST_BODY_BYTES', 'PLATFORM_MAX_BODY_BYTES', (c) => c.maxBodyBytes, '7000', 7_000],
  ['LANGGRAPH_SERVER_PORT', 'PLATFORM_PORT', (c) => c.port, '7', 7],
  ['PORT', 'PLATFORM_PORT', (c) => c.port, '7', 7],
  ['LANGGRAPH_SERVER_HOST', 'PLATFORM_HOST', (c) => c.host, '::1', '::1'],
];

test('given a name that other servers use, when it is set, then it counts, and our own name wins over it', () => {
  for (const [other, own, read, text, value] of NAMES) {
    assert.notDeepEqual(read(load({})), value, other);
    assert.deepEqual(read(load({ [other]: text })), value, other);
    assert.deepEqual(read(load({ [own]: text })), value, own);
    assert.deepEqual(read(load({ [own]: text, [other]: '8000' })), value, own);
  }
});

test('given a port that is none, when the rest is read, then any free port stands in its place', () => {
  const { config, problems } = readConfig({ config: PROJECT, port: 'x' }, {}, PROJECT);
  assert.deepEqual([config.port, problems.length], [0, 1]);
});

test('a wrong member costs itself alone, and an object that lacks a member costs the object', () =>
  withTempDir((dir) => {
    const http = { mount_prefix: '/a', cors: { max_age: 'x', allow_origins: ['https://a.example'] } };
    const file = { graphs: { a: './a.ts', b: 1 }, http, auth: { path: './auth.ts', cache: {} }, crons: 7 };
    writeFileSync(join(dir, 'platform.json'), JSON.stringify(file));
    const { config, problems } = readConfig({}, { PLATFORM_CONCURRENCY: 'x', N_JOBS_PER_WORKER: '2' }, dir);
    assert.deepEqual(
      [config.graphs.map(({ id }) => id), config.http.mountPrefix, config.auth?.file, config.authCache],
      [['a'], '/a', join(dir, 'auth.ts'), undefined],
    );
    assert.deepEqual([config.http.cors.origins, config.http.cors.maxAgeSecs], [['https://a.example'], 600]);
    assert.deepEqual([config.concurrency, config.crons.catchUp], [64, 'one']);
    assert.equal(problems.length, 5, problems.join('\n'));
  }));

test('given values that are none, when the config is loaded, then each is named with what was expected', () => {
  for (const [other, own, , text] of NAMES.filter(([name]) => name !== 'LANGGRAPH_SERVER_HOST'))
    for (const name of [other, own])
      for (const bad of ['', 'soon', '-1', '1.5', '9'.repeat(30), `${text} `])
        assert.throws(
          () => load({ [name]: bad }),
          toldOf(`${name}: expected a whole number`),
          `${name}=${bad}`,
        );
  assert.throws(() => load({ BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '3601' }), toldOf('at most 3600'));
  assert.throws(() => load({ BG_JOB_TIMEOUT_SECS: '0' }), toldOf('of at least 1'));
});

test('a grace of a fraction of a second is used, and a value that is no number is reported', () => {
  assert.equal(load({ PLATFORM_STOP_GRACE_SECS: '1.5' }).stopGraceMs, 1_500);
  for (const bad of ['', '.5', '1.', '-1.5', '1e3'])
    assert.throws(
      () => load({ PLATFORM_STOP_GRACE_SECS: bad }),
      toldOf('expected a number of at least 0'),
      bad,
    );
});

test('an empty list in the environment counts as none, and a wrong member is named', () => {
  for (const text of ['', ' , '])
    assert.deepEqual(load({ CORS_ALLOW_ORIGINS: text }).http.cors.origins, ['*']);
  const both = 'https://a.example, https://b.example';
  assert.deepEqual(load({ CORS_ALLOW_ORIGINS: both }).http.cors.origins, both.split(', '));
  assert.throws(() => load({ CORS_ALLOW_ORIGINS: `${both},c` }), toldOf('separated by commas, found "c"'));
});

test('an empty data path is reported, and nothing is written to the working directory', () => {
  assert.throws(() => load({ PLATFORM_DATA: '' }), toldOf('PLATFORM_DATA: expected a path'));
  assert.throws(
    () => loadConfig({ config: PROJECT, data: '' }, {}, PROJECT),
    toldOf('--data: expected a path'),
  );
});

const findDataDir = (...given: Parameters<typeof findStore>): string => findStore(...given).address;

test('the data of a project is found where its server keeps it, however the project is named', () =>
  withTempDir((dir) => {
    assert.equal(findDataDir({}, {}, dir), join(dir, '.platform'));
    const project = join(dir, 'project');
    mkdirSync(project);
    writeFileSync(join(project, 'langgraph.json'), '{ "graphs": 1, "env": ".env" }');
    for (const [overrides, env, cwd] of [
      [{}, {}, project],
      [{ config: 'project' }, {}, dir],
      [{}, { PLATFORM_CONFIG: 'project/langgraph.json' }, dir],
    ] as const)
      assert.equal(findDataDir(overrides, env, cwd), join(project, '.platform'));
    writeFileSync(join(project, '.env'), `PLATFORM_DATA=${dir}/kept`);
    assert.equal(findDataDir({}, {}, project), join(dir, 'kept'));
    assert.equal(findDataDir({}, { PLATFORM_DATA: 'own' }, project), join(project, 'own'));
    assert.equal(findDataDir({ data: '/given' }, { PLATFORM_DATA: 'own' }, project), '/given');
    assert.throws(() => findDataDir({ config: 'nowhere' }, {}, dir), toldOf('nowhere does not exist'));
  }));

test('an address of a store is a folder, a file URL or a database, and others are refused unquoted', () => {
  for (const data of ['/kept/here', 'file:///kept/here', '../here'])
    assert.equal(findDataDir({ data }, {}, '/kept/other'), '/kept/here');
  const told = toldOf('expected a folder or postgres://…, found an address that begins with mysql://');
  const data = 'mysql://user:secret@localhost/log';
  assert.throws(() => findDataDir({ data }, {}, '/'), told);
  assert.throws(() => load({ PLATFORM_DATA: data }), told);
});

test('a database is named by its variable or by --data, and a named folder wins over the variable', () => {
  const url = 'postgres://user:secret@localhost/log';
  const env = { PLATFORM_DATABASE_URL: url };
  assert.equal(load(env).databaseUrl, url);
  const { databaseUrl, dataDir } = loadConfig({ config: PROJECT, data: url }, {}, '/');
  assert.deepEqual({ databaseUrl, dataDir }, { databaseUrl: url, dataDir: join(PROJECT, '.platform') });
  const found = { address: url, dataDir: '/kept/.platform', keys: [] };
  assert.deepEqual(findStore({}, env, '/kept'), found);
  assert.deepEqual(findStore({ data: url }, {}, '/kept'), found);
  assert.equal(findDataDir({ data: 'here' }, env, '/kept'), '/kept/here');
  assert.equal(findDataDir({}, { ...env, PLATFORM_DATA: 'here' }, '/kept'), url);
});

test('a wrong address of a database is named without being quoted, and no folder takes its place', () => {
  for (const wrong of ['', 'user:secret@localhost/log', 'mysql://user:secret@localhost/log'])
    for (const read of [load, (env: Record<string, string>) => findStore({}, env, '/kept')])
      assert.throws(
        () => read({ PLATFORM_DATABASE_URL: wrong }),
        (error) =>
          toldOf('PLATFORM_DATABASE_URL: found no address of a database')(error) &&
          !String(error).includes('secret'),
      );
});

test('the password of a database is masked where the configuration is shown', () => {
  for (const name of ['PLATFORM_DATABASE_URL', 'PLATFORM_DATABASE_LISTEN_URL']) {
    const shown = JSON.stringify(understood(load({ [name]: 'postgres://user:secret@host/log' })));
    assert.ok(shown.includes(name) && !shown.includes('secret'));
  }
});

test('settings that would leave data unprotected if ignored prevent the start', () => {
  assert.throws(
    () => load({ LANGGRAPH_AES_KEY: 'x'.repeat(32) }),
    toldOf('LANGGRAPH_AES_KEY: nothing is encrypted'),
  );
  assert.throws(
    () => load({ LANGGRAPH_AUTH_TYPE: 'langsmith' }),
    toldOf('LANGGRAPH_AUTH_TYPE: expected noop'),
  );
  assert.throws(() => load({ LS_DEFAULT_CHECKPOINTER_BACKEND: 'mongo' }), toldOf('expected default'));
  const harmless = { LANGGRAPH_AUTH_TYPE: 'noop', LS_DEFAULT_CHECKPOINTER_BACKEND: 'default' };
  assert.deepEqual(load(harmless).warnings, load({}).warnings);
  const { warnings } = load({ DATABASE_URI: 'postgres://u:secret@host/db', REDIS_URI: 'redis://host' });
  assert.deepEqual(
    warnings.filter((line) => /_URI /.test(line)),
    [
      'DATABASE_URI has no effect: PLATFORM_DATABASE_URL names the database of the log',
      'REDIS_URI has no effect: everything is kept in the log',
    ],
  );
});

const toldOf =
  (text: string) =>
  (error: unknown): boolean =>
    error instanceof ConfigError && error.problems.some((problem) => problem.includes(text));

test.run();

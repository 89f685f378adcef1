/** `platform.json`, the environment and the command line, in rising order of precedence. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parse as parseEnv } from 'dotenv';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { ConfigError, type Config, type Overrides } from './config.ts';
import { toEmbeddingSpec } from './embedding-spec.ts';
import { toExportSpec } from './export-spec.ts';
import { configFile, type ConfigFile } from './file.ts';
import { checkForeign } from './foreign.ts';
import { toHttpConfig } from './http.ts';
import { readJsonFile } from './json-file.ts';
import { keyWarnings } from './known-keys.ts';
import { createSettings, type Environment } from './settings.ts';
import { toWebhooksConfig } from './webhooks.ts';

/** Looked for in this order when no file is named. */
const NAMES = ['platform.json', 'langgraph.json'];

/** Beside the configuration file. */
const DATA_FOLDER = '.platform';

/** Clients of this interface (chat pages, hosted studios) look here unless told otherwise. */
const DEFAULT_PORT = 2024;

/** Source files of graphs that a Python interpreter runs. */
const PYTHON = /\.(py|pyx|pyd|pyi)$/;

/** A hundred years: what is more in milliseconds has no meaning as a time. */
const MOST_SECS = 3_155_760_000;

export interface Reading {
  /** The usable part: a wrong setting is replaced by its default, or left out. */
  readonly config: Config;
  readonly problems: readonly string[];
}

/** Throws `ConfigError` with every problem at once. Reads files, changes nothing. */
export function loadConfig(overrides: Overrides, processEnv: Environment, cwd: string): Config {
  const { config, problems } = readConfig(overrides, processEnv, cwd);
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** The folder of the log that a server started here would use, whatever else of its configuration is wrong. */
export function findDataDir(
  overrides: Pick<Overrides, 'config' | 'data'>,
  processEnv: Environment,
  cwd: string,
): string {
  const given = overrides.data ?? processEnv['PLATFORM_DATA'];
  if (given !== undefined) return resolve(cwd, given);
  const named = overrides.config ?? processEnv['PLATFORM_CONFIG'];
  const isProject = named !== undefined || NAMES.some((name) => existsSync(join(cwd, name)));
  return isProject ? readConfig(overrides, processEnv, cwd).config.dataDir : join(cwd, DATA_FOLDER);
}

/** Throws `ConfigError` only when there is no file. */
export function readConfig(overrides: Overrides, processEnv: Environment, cwd: string): Reading {
  const path = findFile(resolve(cwd, overrides.config ?? processEnv['PLATFORM_CONFIG'] ?? '.'));
  const problems: string[] = [];
  const raw = readJsonFile(path, problems);
  const { file, isWhole } = raw === undefined ? NOTHING : parseSound(raw, path, problems);
  const dir = dirname(path);
  const warnings = keyWarnings(isObject(raw) ? raw : {}).map((text) => `${path}: ${text}`);
  const fileEnv = readEnv(file.env, dir, path, warnings, processEnv);
  const env: Environment = { ...fileEnv, ...processEnv };
  const settings = createSettings(env, problems);
  for (const [index, dependency] of (file.dependencies ?? []).entries())
    if (dependency.startsWith('.') && !existsSync(join(dir, dependency)))
      warnings.push(`${path}: dependencies.${index}: ${dependency} does not exist`);
  const all = Object.entries(file.graphs).map(([id, spec]) => ({
    id,
    ...toExportSpec(typeof spec === 'string' ? spec : spec.path, dir),
    ...(typeof spec !== 'string' && spec.description !== undefined && { description: spec.description }),
  }));
  const graphs = all.filter(({ file }) => !PYTHON.test(file));
  const unserved = all
    .filter(({ file }) => PYTHON.test(file))
    .map((graph) => ({ ...graph, reason: 'it is Python, which is not supported yet' }));
  for (const { id, file, reason } of unserved)
    warnings.push(`${path}: graphs.${id} (${file}) is not served: ${reason}`);
  // A graph whose entry is wrong is a problem of its own.
  if (graphs.length === 0 && isWhole)
    problems.push(`${path}: graphs: expected at least one graph in JavaScript or TypeScript`);

  checkForeign(env, problems, warnings);

  /** In milliseconds. */
  const seconds = (name: string, byDefault: number, min = 0, max = MOST_SECS): number =>
    1000 * settings.number(name, byDefault, { min, max });
  /** Any free port in the place of one that is wrong: what else is wrong is told of no other port. */
  const readPort = (): number => {
    const name = settings.which('PLATFORM_PORT', 'LANGGRAPH_SERVER_PORT', 'PORT');
    const before = problems.length;
    const port = settings.number(name, DEFAULT_PORT, { max: 65_535, given: overrides.port, label: '--port' });
    return problems.length === before ? port : 0;
  };
  const threadTtl = file.checkpointer?.ttl;
  const apiKeys = settings.keys('PLATFORM_API_KEY');
  const studioKeys = settings.keys('PLATFORM_STUDIO_KEY');
  const studioOff = file.auth === undefined || file.auth.disable_studio_auth === true;
  if (studioKeys !== undefined && studioOff)
    warnings.push('PLATFORM_STUDIO_KEY has no effect: there is no auth handler, or it is disabled there');
  if (apiKeys !== undefined && file.auth !== undefined)
    warnings.push(`PLATFORM_API_KEY has no effect: the auth handler of ${path} decides who may call`);
  const cache = file.auth?.cache;
  const config: Config = {
    configFile: path,
    ...(typeof file.env === 'string' && { envFile: resolve(dir, file.env) }),
    ...{ graphs, unserved },
    ...(file.auth && { auth: toExportSpec(file.auth.path, dir) }),
    ...(file.auth?.openapi && { authOpenapi: toOpenapi(file.auth.openapi) }),
    http: toHttpConfig(file.http ?? {}, settings, problems, warnings, (spec) => toExportSpec(spec, dir)),
    allowTruncate: settings.flag('PLATFORM_ALLOW_TRUNCATE', false),
    log: {
      level: settings.logLevel('LOG_LEVEL', 'info'),
      json: env['LOG_JSON'] === undefined ? undefined : settings.flag('LOG_JSON', true),
    },
    webhooks: toWebhooksConfig(file.webhooks ?? {}, file.http?.disable_webhooks !== true, {
      ...{ settings, env, path, problems },
    }),
    threadTtl: {
      byDefault:
        threadTtl?.default_ttl === undefined
          ? null
          : {
              strategy: threadTtl.strategy === 'keep_latest' ? 'keep-latest' : 'delete',
              minutes: threadTtl.default_ttl,
            },
      sweepIntervalMinutes: threadTtl?.sweep_interval_minutes ?? 5,
      sweepLimit: threadTtl?.sweep_limit ?? 1000,
    },
    store: {
      refreshOnRead: file.store?.ttl?.refresh_on_read ?? true,
      defaultTtl: file.store?.ttl?.default_ttl ?? null,
      sweepIntervalMinutes: file.store?.ttl?.sweep_interval_minutes ?? null,
      ...(file.store?.index && {
        index: {
          dims: file.store.index.dims,
          embed: toEmbeddingSpec(file.store.index.embed, dir, path),
          fields: file.store.index.fields ?? ['$'],
        },
      }),
    },
    crons: {
      catchUp: file.crons?.catch_up ?? 'one',
      catchUpLimit: file.crons?.catch_up_limit ?? 100,
    },
    host:
      overrides.host ?? settings.text(settings.which('PLATFORM_HOST', 'LANGGRAPH_SERVER_HOST'), '127.0.0.1'),
    port: readPort(),
    dataDir: resolve(cwd, settings.path('PLATFORM_DATA', join(dir, DATA_FOLDER), overrides.data, '--data')),
    ...(apiKeys !== undefined && { apiKeys }),
    ...(studioKeys !== undefined && !studioOff && { studioKeys }),
    ...(cache !== undefined && {
      authCache: {
        keys: cache.cache_keys.map((name) => name.toLowerCase()),
        ttlMs: 1000 * (cache.ttl_seconds ?? 60),
        most: cache.max_size ?? 1000,
      },
    }),
    maxBodyBytes: settings.number(
      settings.which('PLATFORM_MAX_BODY_BYTES', 'HTTP_MAX_REQUEST_BODY_BYTES'),
      file.http?.max_body_bytes ?? 16 * 2 ** 20,
      { min: 1024 },
    ),
    patience: {
      headersMs: 1000 * settings.number('PLATFORM_HEADERS_TIMEOUT_SECS', 10, { min: 1 }),
      requestMs: 1000 * settings.number('PLATFORM_REQUEST_TIMEOUT_SECS', 60, { min: 1 }),
      stalledMs: 1000 * settings.number('PLATFORM_STALLED_TIMEOUT_SECS', 300, { min: 1 }),
    },
    runTimeoutMs: seconds(settings.which('PLATFORM_RUN_TIMEOUT_SECS', 'BG_JOB_TIMEOUT_SECS'), 86_400, 1),
    stopGraceMs: 1000 * settings.number('PLATFORM_STOP_GRACE_SECS', 1.5, { max: MOST_SECS, decimals: true }),
    drainMs: seconds(settings.which('PLATFORM_DRAIN_SECS', 'BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS'), 0, 0, 3_600),
    maxAttempts: settings.number(settings.which('PLATFORM_MAX_ATTEMPTS', 'BG_JOB_MAX_RETRIES'), 3, {
      min: 1,
    }),
    workers: {
      // Two at least: one that a graph keeps busy must not be the only one.
      count: settings.number('PLATFORM_WORKERS', Math.max(2, availableParallelism() - 1), { max: 64 }),
      heapMb: settings.number('PLATFORM_WORKER_HEAP_MB', 1_024, { min: 64 }),
    },
    concurrency: settings.number(settings.which('PLATFORM_CONCURRENCY', 'N_JOBS_PER_WORKER'), 64, { min: 1 }),
    frameRetentionMs: seconds(
      settings.which('PLATFORM_FRAME_RETENTION_SECS', 'RESUMABLE_STREAM_TTL_SECONDS'),
      3_600,
      1,
    ),
    shutdownGraceMs: seconds('PLATFORM_SHUTDOWN_GRACE_SECS', 5),
    schemaTimeoutMs: settings.number('LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS', 30_000, { min: 1 }),
    assistantDefaults: settings.assistantDefaults('LANGGRAPH_CONFIG'),
    env: Object.fromEntries(Object.entries(fileEnv).filter(([name]) => processEnv[name] === undefined)),
    warnings,
  };
  return { config: Object.freeze(config), problems };
}

const NOTHING: { readonly file: ConfigFile; readonly isWhole: boolean } = {
  file: { graphs: {} },
  isWhole: false,
};

/** The file without the top-level keys that are wrong, and without the entries of graphs that are. */
function parseSound(raw: unknown, path: string, problems: string[]): typeof NOTHING {
  const parsed = configFile.safeParse(raw);
  if (parsed.success) return { file: parsed.data, isWhole: true };
  const { issues } = parsed.error;
  for (const issue of issues) {
    const { message } = issue.code === 'invalid_key' ? (issue.issues[0] ?? issue) : issue;
    problems.push(`${path}: ${issue.path.join('.') || 'file'}: ${message}`);
  }
  if (!isObject(raw)) return NOTHING;
  const wrong = new Set(issues.map((issue) => issue.path[0]));
  const wrongGraphs = new Set(
    issues.filter((issue) => issue.path[0] === 'graphs').map((issue) => issue.path[1]),
  );
  const without = (of: JsonObject, keys: ReadonlySet<unknown>): JsonObject =>
    Object.fromEntries(Object.entries(of).filter(([key]) => !keys.has(key)));
  const graphs = isObject(raw['graphs']) ? without(raw['graphs'], wrongGraphs) : {};
  const sound = configFile.safeParse({ ...without(raw, wrong), graphs });
  return sound.success ? { file: sound.data, isWhole: !wrong.has('graphs') } : NOTHING;
}

/** In a document the schemes are components. */
function toOpenapi({
  securitySchemes,
  security,
  paths,
}: NonNullable<NonNullable<ConfigFile['auth']>['openapi']>): JsonObject {
  return JSON.parse(
    JSON.stringify({ ...(securitySchemes && { components: { securitySchemes } }), security, paths }),
  ) as JsonObject;
}

function findFile(path: string): string {
  if (!existsSync(path)) throw new ConfigError([`${path} does not exist`]);
  if (!statSync(path).isDirectory()) return path;
  const found = NAMES.map((name) => join(path, name)).find((candidate) => existsSync(candidate));
  if (found === undefined)
    throw new ConfigError([`${path} holds neither ${NAMES.join(' nor ')}; name a file with --config`]);
  return found;
}

function readEnv(
  env: ConfigFile['env'],
  dir: string,
  path: string,
  warnings: string[],
  processEnv: Environment,
): Readonly<Record<string, string>> {
  if (env === undefined) return {};
  if (Array.isArray(env)) {
    for (const name of env.filter((each) => processEnv[each] === undefined))
      warnings.push(`${path}: env: the environment has no variable ${name}`);
    return {};
  }
  if (typeof env !== 'string') return env;
  const file = resolve(dir, env);
  if (existsSync(file)) return parseEnv(readFileSync(file));
  // A warning: projects name an env file that each machine may or may not have.
  warnings.push(`${path}: env: ${file} does not exist`);
  return {};
}

/** Loads the configuration from `platform.json`, environment and command line, in rising order of precedence. */
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parse as parseEnv } from 'dotenv';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { ConfigError, type Config, type Overrides } from './config.ts';
import { toExportSpec } from './export-spec.ts';
import { configFile, type ConfigFile } from './file.ts';
import { checkForeign } from './foreign.ts';
import { toHttpConfig } from './http.ts';
import { readJsonFile } from './json-file.ts';
import { keyWarnings } from './known-keys.ts';
import { toAuthConfig, toGraphs, toRecording, toStoreConfig, toThreadTtl } from './sections.ts';
import { createSettings, type Environment } from './settings.ts';
import { toStoreFolder } from './store-address.ts';
import { toWebhooksConfig } from './webhooks.ts';
import { readTextFile } from '../kernel/text-file.ts';

/** File names tried in this order when none is given. */
const NAMES = ['platform.json', 'langgraph.json'];

/** Created beside the configuration file. */
const DATA_FOLDER = '.platform';

export interface Reading {
  /** The usable part: a wrong setting has its default or is left out. */
  readonly config: Config;
  readonly problems: readonly string[];
}

/** Throws `ConfigError` with all problems. Reads files, writes none. */
export function loadConfig(overrides: Overrides, processEnv: Environment, cwd: string): Config {
  const { config, problems } = readConfig(overrides, processEnv, cwd);
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** Data folder that a server started here would use; works despite other configuration errors. */
export function findDataDir(
  overrides: Pick<Overrides, 'config' | 'data'>,
  processEnv: Environment,
  cwd: string,
): string {
  const given = overrides.data ?? processEnv['PLATFORM_DATA'];
  if (given !== undefined) return toStoreFolder(given, cwd);
  const named = overrides.config ?? processEnv['PLATFORM_CONFIG'];
  const isProject = named !== undefined || NAMES.some((name) => existsSync(join(cwd, name)));
  return isProject ? readConfig(overrides, processEnv, cwd).config.dataDir : join(cwd, DATA_FOLDER);
}

/** Throws `ConfigError` only when there is no configuration file. */
export function readConfig(overrides: Overrides, processEnv: Environment, cwd: string): Reading {
  const path = findFile(
    resolve(cwd, createSettings(processEnv, []).read('PLATFORM_CONFIG', overrides.config)),
  );
  const problems: string[] = [];
  const raw = readJsonFile(path, problems);
  const { file, isWhole } = raw === undefined ? NOTHING : parseSound(raw, path, problems);
  const dir = dirname(path);
  const warnings = keyWarnings(isObject(raw) ? raw : {}).map((text) => `${path}: ${text}`);
  const fileEnv = readEnv(file.env, dir, path, warnings, processEnv);
  const env: Environment = { ...fileEnv, ...processEnv };
  const settings = createSettings(env, problems);
  for (const [index, dependency] of file.dependencies.entries())
    if (dependency.startsWith('.') && !existsSync(join(dir, dependency)))
      warnings.push(`${path}: dependencies.${index}: ${dependency} does not exist`);
  const { graphs, unserved } = toGraphs(file.graphs, dir);
  for (const { id, file, reason } of unserved)
    warnings.push(`${path}: graphs.${id} (${file}) is not served: ${reason}`);
  // Skipped if a graph's entry is wrong, because that is reported already.
  if (graphs.length === 0 && isWhole)
    problems.push(`${path}: graphs: expected at least one graph in JavaScript or TypeScript`);

  checkForeign(env, problems, warnings);

  /** Uses any free port instead of a wrong one, so later problems do not refer to a wrong port. */
  const readPort = (): number => {
    const before = problems.length;
    const port = settings.read('PLATFORM_PORT', overrides.port);
    return problems.length === before ? port : 0;
  };
  const readDataDir = (): string => {
    const inProject = join(dir, DATA_FOLDER);
    try {
      return toStoreFolder(settings.read('PLATFORM_DATA', overrides.data) ?? inProject, cwd);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
      return inProject;
    }
  };
  const isStudioOff = file.auth === undefined || file.auth.disable_studio_auth;
  const apiKeys = settings.read('PLATFORM_API_KEY');
  const studioKeys = settings.read('PLATFORM_STUDIO_KEY');
  if (studioKeys !== undefined && isStudioOff)
    warnings.push('PLATFORM_STUDIO_KEY has no effect: there is no auth handler, or it is disabled there');
  if (apiKeys !== undefined && file.auth !== undefined)
    warnings.push(`PLATFORM_API_KEY has no effect: the auth handler of ${path} decides who may call`);
  const config: Config = {
    configFile: path,
    ...(typeof file.env === 'string' && { envFile: resolve(dir, file.env) }),
    ...{ graphs, unserved },
    ...(file.auth && toAuthConfig(file.auth, dir)),
    http: toHttpConfig(file.http, settings, warnings, (spec) => toExportSpec(spec, dir)),
    allowTruncate: settings.read('PLATFORM_ALLOW_TRUNCATE'),
    log: { level: settings.read('LOG_LEVEL'), json: settings.read('LOG_JSON') },
    webhooks: toWebhooksConfig(file.webhooks, !file.http.disable_webhooks, {
      ...{ settings, env, path, problems },
    }),
    threadTtl: toThreadTtl(file.checkpointer.ttl),
    store: toStoreConfig(file.store, dir, path),
    crons: {
      catchUp: file.crons.catch_up,
      catchUpLimit: file.crons.catch_up_limit,
    },
    recording: toRecording(file.recording, settings.read('PLATFORM_RECORDING')),
    host: overrides.host ?? settings.read('PLATFORM_HOST'),
    port: readPort(),
    dataDir: readDataDir(),
    ...(apiKeys !== undefined && { apiKeys }),
    ...(studioKeys !== undefined && !isStudioOff && { studioKeys }),
    maxBodyBytes: settings.read('PLATFORM_MAX_BODY_BYTES') ?? file.http.max_body_bytes,
    patience: {
      headersMs: 1000 * settings.read('PLATFORM_HEADERS_TIMEOUT_SECS'),
      requestMs: 1000 * settings.read('PLATFORM_REQUEST_TIMEOUT_SECS'),
      stalledMs: 1000 * settings.read('PLATFORM_STALLED_TIMEOUT_SECS'),
    },
    runTimeoutMs: 1000 * settings.read('PLATFORM_RUN_TIMEOUT_SECS'),
    stopGraceMs: 1000 * settings.read('PLATFORM_STOP_GRACE_SECS'),
    drainMs: 1000 * settings.read('PLATFORM_DRAIN_SECS'),
    maxAttempts: settings.read('PLATFORM_MAX_ATTEMPTS'),
    workers: {
      count: settings.read('PLATFORM_WORKERS'),
      memoryMb: settings.read('PLATFORM_WORKER_MEMORY_MB'),
      loadLimitMs: 1_000 * settings.read('PLATFORM_GRAPH_LOAD_SECS'),
    },
    concurrency: settings.read('PLATFORM_CONCURRENCY'),
    frameRetentionMs: 1000 * settings.read('PLATFORM_FRAME_RETENTION_SECS'),
    shutdownGraceMs: 1000 * settings.read('PLATFORM_SHUTDOWN_GRACE_SECS'),
    schemaTimeoutMs: settings.read('LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS'),
    assistantDefaults: settings.read('LANGGRAPH_CONFIG'),
    env: Object.fromEntries(Object.entries(fileEnv).filter(([name]) => processEnv[name] === undefined)),
    warnings,
  };
  return { config: Object.freeze(config), problems };
}

const NOTHING: { readonly file: ConfigFile; readonly isWhole: boolean } = {
  file: configFile.parse({ graphs: {} }),
  isWhole: false,
};

/** Parses the file without its wrong top-level keys and wrong graph entries. */
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
  if (existsSync(file)) return parseEnv(readTextFile(file));
  // Only a warning: the env file of a project may be missing on some machines.
  warnings.push(`${path}: env: ${file} does not exist`);
  return {};
}

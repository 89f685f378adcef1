/** Loads the configuration from `platform.json`, environment and command line, in rising order of precedence. */
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parse as parseEnv } from 'dotenv';
import type { z } from 'zod';
import { isDatabaseUrl } from '../kernel/database-address.ts';
import { isObject } from '../kernel/json.ts';
import { envSource } from './blocks.ts';
import { ConfigError, logAddressOf, type Config, type Overrides } from './config.ts';
import { checkForeign } from './foreign.ts';
import { readJsonFile } from './json-file.ts';
import { keyWarnings, variableWarnings } from './known-keys.ts';
import { readSettings } from './read.ts';
import type { Environment } from './setting.ts';
import { readStoreAddress } from './store-address.ts';
import { fillHeaders } from './webhooks.ts';
import { readTextFile } from '../kernel/text-file.ts';

/** File names tried in this order when none is given. */
const NAMES = ['platform.json', 'langgraph.json'];

/** Created beside the configuration file. */
const DATA_FOLDER = '.platform';

const PYTHON = /\.(py|pyx|pyd|pyi)$/;

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

export interface FoundStore {
  /** A folder or the URL of a database. */
  readonly address: string;
  /** Folder of what is not in the log. */
  readonly dataDir: string;
  readonly keys: readonly string[];
}

const OF_STORE = /^(?:--data|PLATFORM_(?:DATA|DATABASE_URL|ENCRYPTION_KEY))\b/;

/**
 * The log that a server started here would use, with its keys; works despite other configuration errors. A folder that
 * `--data` names wins over the database of the environment.
 */
export function findStore(
  overrides: Pick<Overrides, 'config' | 'data'>,
  processEnv: Environment,
  cwd: string,
): FoundStore {
  const problems: string[] = [];
  const { dataDir, databaseUrl, encryptionKeys } = readStoreSettings(overrides, processEnv, cwd, problems);
  const wrong = problems.filter((text) => OF_STORE.test(text));
  if (wrong.length > 0) throw new ConfigError(wrong);
  const isNamed = overrides.data !== undefined && !isDatabaseUrl(overrides.data);
  const address = isNamed ? dataDir : logAddressOf({ databaseUrl, dataDir });
  return { address, dataDir, keys: encryptionKeys };
}

function readStoreSettings(
  overrides: Overrides,
  processEnv: Environment,
  cwd: string,
  problems: string[],
): Pick<Config, 'dataDir' | 'databaseUrl' | 'encryptionKeys'> {
  if (isProject(overrides, processEnv, cwd)) {
    const read = readConfig(overrides, processEnv, cwd);
    problems.push(...read.problems);
    return read.config;
  }
  const texts = { ...processEnv, '--data': overrides.data };
  const { values } = readSettings({ file: {}, path: '', texts }, problems);
  return { ...values, ...placeLog(values, cwd, cwd, problems) };
}

const isProject = (overrides: Overrides, processEnv: Environment, cwd: string): boolean =>
  (overrides.config ?? processEnv['PLATFORM_CONFIG']) !== undefined ||
  NAMES.some((name) => existsSync(join(cwd, name)));

/** Throws `ConfigError` only when there is no configuration file. */
export function readConfig(overrides: Overrides, processEnv: Environment, cwd: string): Reading {
  const options = Object.fromEntries(Object.entries(overrides).map(([name, value]) => [`--${name}`, value]));
  const beforeFile = { file: {}, path: '', texts: { ...processEnv, ...options } };
  const path = findFile(resolve(cwd, readSettings(beforeFile, []).values.configFile));
  const dir = dirname(path);
  const problems: string[] = [];
  const content = readJsonFile(path, problems);
  const isReadable = isObject(content);
  if (content !== undefined && !isReadable) problems.push(`${path}: file: expected an object`);
  const file = isReadable ? content : {};
  const warnings = keyWarnings(file).map((text) => `${path}: ${text}`);

  const fileEnv = readEnv(envSource.safeParse(file['env']).data, dir, path, warnings, processEnv);
  const env: Environment = { ...fileEnv, ...processEnv };
  warnings.push(...variableWarnings(env));
  const { values, wrong } = readSettings({ file, path, texts: { ...env, ...options } }, problems);
  checkForeign(env, problems, warnings);

  const { auth, dependencies, env: envOfFile, ...settings } = values;
  for (const [index, dependency] of dependencies.entries())
    if (dependency.startsWith('.') && !existsSync(join(dir, dependency)))
      warnings.push(`${path}: dependencies.${index}: ${dependency} does not exist`);
  const inProject = <S extends object>(spec: S): S =>
    'file' in spec ? { ...spec, file: resolve(dir, String(spec.file)) } : spec;
  const all = settings.graphs.map(inProject);
  const unserved = all
    .filter(({ file: code }) => PYTHON.test(code))
    .map((graph) => ({ ...graph, reason: 'it is Python, which is not supported yet' }));
  for (const { id, file: code, reason } of unserved)
    warnings.push(`${path}: graphs.${id} (${code}) is not served: ${reason}`);
  const graphs = all.filter(({ file: code }) => !PYTHON.test(code));
  if (graphs.length === 0 && isReadable && !wrong.has('graphs'))
    problems.push(`${path}: graphs: expected at least one graph in JavaScript or TypeScript`);

  const { apiKeys, studioKeys, http, webhooks, store } = settings;
  const isStudioOff = auth === undefined || auth.disable_studio_auth;
  if (studioKeys !== undefined && isStudioOff)
    warnings.push('PLATFORM_STUDIO_KEY has no effect: there is no auth handler, or it is disabled there');
  if (apiKeys !== undefined && auth !== undefined)
    warnings.push(`PLATFORM_API_KEY has no effect: the auth handler of ${path} decides who may call`);
  const allowsAllOrigins = http.cors.originRegex === undefined && http.cors.origins.includes('*');
  if (allowsAllOrigins && http.cors.credentials)
    warnings.push(
      'http.cors.allow_credentials has no effect while every origin is allowed: name the origins that may use it',
    );
  const headers = fillHeaders(webhooks, env, (problem) =>
    problems.push(`${path}: webhooks.headers.${problem}`),
  );
  const config: Config = {
    ...settings,
    configFile: path,
    ...(typeof envOfFile === 'string' && { envFile: resolve(dir, envOfFile) }),
    ...{ graphs, unserved },
    ...(auth && { auth: inProject(auth.path), authOpenapi: auth.openapi, authCache: auth.cache }),
    studioKeys: isStudioOff ? undefined : studioKeys,
    http: {
      ...http,
      ...(http.app && { app: inProject(http.app) }),
      cors: { ...http.cors, credentials: http.cors.credentials && !allowsAllOrigins },
    },
    webhooks: { ...webhooks, headers },
    store: {
      ...store,
      ...(store.index && { index: { ...store.index, embed: inProject(store.index.embed) } }),
    },
    // Any free port instead of a wrong one, so that later problems do not refer to a wrong port.
    port: wrong.has('port') ? 0 : settings.port,
    ...placeLog(settings, dir, cwd, problems),
    log: { level: settings.log.level, json: settings.log.json },
    env: Object.fromEntries(Object.entries(fileEnv).filter(([name]) => processEnv[name] === undefined)),
    warnings,
  };
  return { config: Object.freeze(config), problems };
}

/** `home`: where the folder is made when none is named. */
function placeLog(
  { dataDir: given, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>,
  home: string,
  cwd: string,
  problems: string[],
): Pick<Config, 'dataDir' | 'databaseUrl'> {
  const dataDir = join(home, DATA_FOLDER);
  try {
    if (given === '') return { dataDir, databaseUrl };
    const address = readStoreAddress(given, cwd);
    return 'folder' in address ? { dataDir: address.folder, databaseUrl } : { dataDir, ...address };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
    return { dataDir, databaseUrl };
  }
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
  env: z.output<typeof envSource> | undefined,
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

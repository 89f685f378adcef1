/** Loads the configuration from `platform.json`, environment and command line, in rising order of precedence. */
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parse as parseEnv } from 'dotenv';
import type { z } from 'zod';
import { isObject } from '../kernel/json.ts';
import { envSource } from './blocks.ts';
import { ConfigError, type Config, type Overrides } from './config.ts';
import { checkForeign } from './foreign.ts';
import { readJsonFile } from './json-file.ts';
import { keyWarnings, variableWarnings } from './known-keys.ts';
import { readSettings } from './read.ts';
import type { Environment } from './setting.ts';
import { toStoreFolder } from './store-address.ts';
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

/** Data folder that a server started here would use; works despite other configuration errors. */
export function findDataDir(
  overrides: Pick<Overrides, 'config' | 'data'>,
  processEnv: Environment,
  cwd: string,
): string {
  const given = overrides.data ?? processEnv['PLATFORM_DATA'];
  if (given !== undefined) return toStoreFolder(given, cwd);
  return isProject(overrides, processEnv, cwd)
    ? readConfig(overrides, processEnv, cwd).config.dataDir
    : join(cwd, DATA_FOLDER);
}

const isProject = (overrides: Overrides, processEnv: Environment, cwd: string): boolean =>
  (overrides.config ?? processEnv['PLATFORM_CONFIG']) !== undefined ||
  NAMES.some((name) => existsSync(join(cwd, name)));

/** The keys of the log, from the environment or the env file of the project. Throws `ConfigError` for wrong ones. */
export function findEncryptionKeys(
  overrides: Pick<Overrides, 'config' | 'data'>,
  processEnv: Environment,
  cwd: string,
): readonly string[] {
  const problems: string[] = [];
  const { values, wrong } = readSettings({ file: {}, path: '', texts: processEnv }, problems);
  if (wrong.has('encryptionKeys'))
    throw new ConfigError(problems.filter((text) => text.startsWith('PLATFORM_ENCRYPTION_KEY')));
  if (values.encryptionKeys.length > 0 || !isProject(overrides, processEnv, cwd))
    return values.encryptionKeys;
  return readConfig(overrides, processEnv, cwd).config.encryptionKeys;
}

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
  let dataDir = join(dir, DATA_FOLDER);
  try {
    if (settings.dataDir !== '') dataDir = toStoreFolder(settings.dataDir, cwd);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
  }
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
    dataDir,
    log: { level: settings.log.level, json: settings.log.json },
    env: Object.fromEntries(Object.entries(fileEnv).filter(([name]) => processEnv[name] === undefined)),
    warnings,
  };
  return { config: Object.freeze(config), problems };
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

/**
 * Collects the secrets of a run that are known when it begins, and gives each a stand-in.
 *
 * A4 Known are members that the project's handler added to the user, inherited headers, members of settings whose names
 * say that they hold a key, and environment variables that look like keys by name or value. R4 No recording has one.
 */
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { maskKeys, membersWithKeys } from '../kernel/key-names.ts';
import { isKeyVariable, isKeyLike } from './key-variables.ts';
import type { StartPart } from './parts.ts';
import { openStandIns, type StandIns } from './stand-ins.ts';

export interface SecretSources {
  readonly user?: JsonObject | undefined;
  readonly inherited?: Readonly<Record<string, string>> | undefined;
  readonly configurable?: Json | undefined;
  readonly context?: Json | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface KnownSecrets {
  /** Each secret with its stand-in. */
  readonly pairs: ReadonlyMap<string, string>;
  /** Settings of the run with stand-ins in place of secrets, for its re-execution. */
  readonly secrets: StartPart['secrets'];
}

/** Members of the authenticated user that are no secrets: whom the server knows it as, and times of its token. */
const OPEN_MEMBERS: ReadonlySet<string> = new Set([
  ...['identity', 'display_name', 'is_authenticated', 'permissions', 'kind'],
  ...['exp', 'expires_at', 'iat', 'nbf', 'auth_time'],
]);

/** Secrets of the environment alone. */
export interface EnvironmentSecrets {
  readonly pairs: ReadonlyMap<string, string>;
  /** Variables with their stand-ins. */
  readonly variables: Readonly<Record<string, string>>;
}

export function environmentSecrets(env: SecretSources['env']): EnvironmentSecrets {
  const standIns = openStandIns();
  const variables = Object.entries(env).flatMap(([name, value = '']) => {
    const masked = maskedVariable(name, value, standIns);
    return masked === value ? [] : [[name, masked] as const];
  });
  return { pairs: standIns.pairs, variables: Object.fromEntries(variables) };
}

/** The environment comes first: modules keep its values for all runs of a process, so its stand-ins never change. */
export function knownSecrets(
  { user, inherited, configurable, context, env }: SecretSources,
  ofEnvironment: EnvironmentSecrets = environmentSecrets(env),
): KnownSecrets {
  const standIns = openStandIns(ofEnvironment.pairs);
  const headers = Object.entries(inherited ?? {}).map(
    ([name, value]) => [name, maskedHeader(name, value, standIns)] as const,
  );
  const keysOf = (settings: Json = null, label: string): JsonObject | undefined => {
    const found = membersWithKeys(settings);
    let count = 0;
    return found && maskKeys(found, (key) => alwaysMasked(key, `${label} ${(count += 1)}`, standIns));
  };
  const keys = { configurable: keysOf(configurable, 'configurable'), context: keysOf(context, 'context') };
  const shownUser = user && maskedUser(user, standIns);
  return {
    pairs: standIns.pairs,
    secrets: {
      ...(shownUser && { user: shownUser }),
      inherited: Object.fromEntries(headers),
      ...(keys.configurable && { configurable: keys.configurable }),
      ...(keys.context && { context: keys.context }),
      env: ofEnvironment.variables,
      standIns: standIns.all(),
    },
  };
}

function maskedUser(user: JsonObject, standIns: StandIns): JsonObject {
  const open = new Set(
    [...OPEN_MEMBERS].flatMap((name) => user[name] ?? []).filter((value) => typeof value === 'string'),
  );
  return Object.fromEntries(
    Object.entries(user).map(([name, value = null]) => {
      // The log has these values as the user's identity.
      const isOpen = OPEN_MEMBERS.has(name) || open.has(value as string);
      return [name, isOpen ? value : standIns.value(value, `user ${name}`)];
    }),
  );
}

/** The values of cookies are secrets of their own. */
const maskedHeader = (name: string, value: string, { text }: StandIns): string =>
  name.toLowerCase() === 'cookie'
    ? value.replace(/(^|; *)([^=;]+=)([^;]*)/g, (_, before: string, key: string, each: string) =>
        [before, key, text(each, `cookie ${key}`)].join(''),
      )
    : text(value, `header ${name}`);

/** A member whose name says that it holds a key never keeps its text, however short. */
function alwaysMasked(key: Json, label: string, standIns: StandIns): Json {
  if (typeof key === 'string') return standIns.always(key, label);
  return isObject(key) || Array.isArray(key) || typeof key === 'number' ? standIns.value(key, label) : key;
}

/** User and password of a URL. */
const USER_INFO = /^([a-z][a-z\d+.-]*:\/\/)([^/?#@]*)@/i;

function maskedVariable(name: string, value: string, standIns: StandIns): string {
  const { text } = standIns;
  if (isKeyVariable(name, value) || isKeyLike(value)) return text(value, `env ${name}`);
  // Folders of the project are in every stack.
  if (!value.includes('://') || value.startsWith('file:') || !URL.canParse(value)) return value;
  let count = 0;
  const each = (part: string): string => text(part, `env ${name} ${(count += 1)}`);
  const shown = value.replace(USER_INFO, (_, scheme: string, user: string) =>
    [scheme, user.split(':').map(each).join(':'), '@'].join(''),
  );
  const origin = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i.exec(shown)![0];
  return origin + shown.slice(origin.length).replace(/[^/?#&=;]+/g, each);
}

/**
 * A4 Keeps user secrets out of checkpoints and streams. The runtime copies parts of a run's `configurable` into metadata,
 * so every metadata object is filtered here before it leaves graph code.
 */
import type { JsonObject } from '../kernel/json.ts';
import { isKeyName } from '../kernel/key-names.ts';
import type { GraphConfig } from './port.ts';

const USER_KEYS = ['platform_auth', 'langgraph_auth'].flatMap((prefix) =>
  ['user', 'user_id', 'permissions'].map((suffix) => `${prefix}_${suffix}`),
);
const RESERVED: ReadonlySet<string> = new Set(USER_KEYS);

/** The id of the request that created the run: visible to graph code and in the log, not in checkpoints. */
const REQUEST_ID = 'langgraph_request_id';

/** Matches names of inherited headers and of secrets that clients pass in `configurable`. */
const SECRET_NAME =
  /^x-|^cookie$|authorization|(?:^|[_-])(?:key|apikey|token|secret|password|credentials?)$/i;
const SECRET_SUFFIX = /[a-z\d](?:Key|Token|Secret|Password|Credentials?)$/;

/**
 * The `configurable` for graph code: the client's entries without reserved keys (internal `__…` keys and user keys),
 * then the authenticated user under the `platform_auth_…` and `langgraph_auth_…` keys.
 */
export function toConfigurable(configurable: JsonObject, user: JsonObject | undefined): JsonObject {
  const own = Object.entries(configurable).filter(([key]) => !RESERVED.has(key) && !key.startsWith('__'));
  if (user === undefined) return Object.fromEntries(own);
  const permissions = user['permissions'] ?? [];
  const identity = user['identity'] ?? null;
  for (const prefix of ['platform_auth', 'langgraph_auth'])
    own.push(
      [`${prefix}_user`, user],
      [`${prefix}_user_id`, identity],
      [`${prefix}_permissions`, permissions],
    );
  return Object.fromEntries(own);
}

/** The entries of `configurable` that checkpoint metadata may contain: scalars whose names do not look secret. */
export function publicConfigurable(configurable: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(configurable).filter(
      ([key, value]) =>
        (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') &&
        !isPrivate(key) &&
        !key.startsWith('checkpoint_'),
    ),
  );
}

/** Removes private entries from the runtime's metadata; entries of the client's own metadata stay. */
export function publicMetadata(metadata: JsonObject, config: GraphConfig): JsonObject {
  return Object.fromEntries(
    Object.entries(metadata).filter(([key]) => {
      if (RESERVED.has(key) || key.startsWith('__')) return false;
      if (Object.hasOwn(config.metadata, key)) return true;
      if (config.inherited !== undefined && Object.hasOwn(config.inherited, key)) return false;
      return !(isPrivate(key) && Object.hasOwn(config.configurable, key));
    }),
  );
}

const isPrivate = (key: string): boolean =>
  key === REQUEST_ID ||
  RESERVED.has(key) ||
  key.startsWith('__') ||
  isKeyName(key) ||
  SECRET_NAME.test(key) ||
  SECRET_SUFFIX.test(key);

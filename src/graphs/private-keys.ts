/**
 * A4 What graph code learns of the user stays with graph code. The runtime copies parts of a run's `configurable` into
 * metadata, which checkpoints and streams show, so every metadata object passes through here on its way out.
 */
import type { JsonObject } from '../kernel/json.ts';
import type { GraphConfig } from './port.ts';

const USER_KEYS = ['platform_auth', 'langgraph_auth'].flatMap((prefix) =>
  ['user', 'user_id', 'permissions'].map((suffix) => `${prefix}_${suffix}`),
);
const RESERVED: ReadonlySet<string> = new Set(USER_KEYS);

/** Names the request that made the run: for graph code and the log, not for checkpoints. */
const REQUEST_ID = 'langgraph_request_id';

/** Names of inherited headers and of secrets that clients pass in `configurable`. */
const SECRETIVE =
  /^x-|^user-agent$|^cookie$|authorization|(?:^|[_-])(?:key|apikey|token|secret|password|credentials?)$/i;
const SECRETIVE_TAIL = /[a-z\d](?:Key|Token|Secret|Password|Credentials?)$/;

/**
 * The `configurable` that graph code gets: the client's without the keys that it may not set (the runtime's internal
 * ones, and whatever poses as the user), then the authenticated user under all its names.
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

/** The entries of `configurable` that checkpoints may carry in their metadata: scalars that look harmless. */
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

/** Removes from the runtime's metadata what must not be shown; the run's own metadata stays as the client gave it. */
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
  SECRETIVE.test(key) ||
  SECRETIVE_TAIL.test(key);

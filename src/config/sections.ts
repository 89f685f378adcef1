/** Converts sections of the configuration file. */
import type { JsonObject } from '../kernel/json.ts';
import type { Config } from './config.ts';
import { toEmbeddingSpec } from './embedding-spec.ts';
import { toExportSpec } from './export-spec.ts';
import { recordingBlock, type ConfigFile } from './file.ts';

const PYTHON = /\.(py|pyx|pyd|pyi)$/;

export function toGraphs(given: ConfigFile['graphs'], dir: string) {
  const all = Object.entries(given).map(([id, spec]) => ({
    id,
    ...toExportSpec(typeof spec === 'string' ? spec : spec.path, dir),
    ...(typeof spec !== 'string' && spec.description !== undefined && { description: spec.description }),
  }));
  const isPython = ({ file }: { readonly file: string }): boolean => PYTHON.test(file);
  return {
    graphs: all.filter((graph) => !isPython(graph)),
    unserved: all
      .filter(isPython)
      .map((graph) => ({ ...graph, reason: 'it is Python, which is not supported yet' })),
  };
}

type AuthFile = NonNullable<ConfigFile['auth']>;

export const toAuthConfig = (
  { path, openapi, cache }: AuthFile,
  dir: string,
): Pick<Config, 'auth' | 'authOpenapi' | 'authCache'> => ({
  auth: toExportSpec(path, dir),
  ...(openapi && { authOpenapi: toOpenapi(openapi) }),
  ...(cache && {
    authCache: {
      keys: cache.cache_keys.map((name) => name.toLowerCase()),
      ttlMs: 1000 * cache.ttl_seconds,
      maxEntries: cache.max_size,
    },
  }),
});

/** OpenAPI documents keep security schemes under `components`. */
function toOpenapi({ securitySchemes, security, paths }: NonNullable<AuthFile['openapi']>): JsonObject {
  return JSON.parse(
    JSON.stringify({ ...(securitySchemes && { components: { securitySchemes } }), security, paths }),
  ) as JsonObject;
}

export const toThreadTtl = ({
  default_ttl: minutes,
  strategy,
  sweep_interval_minutes: sweepIntervalMinutes,
  sweep_limit: sweepLimit,
}: ConfigFile['checkpointer']['ttl']): Config['threadTtl'] => ({
  byDefault:
    minutes === undefined
      ? null
      : { strategy: strategy === 'keep_latest' ? 'keep-latest' : 'delete', minutes },
  ...{ sweepIntervalMinutes, sweepLimit },
});

/** `path`: of the configuration file. */
export const toStoreConfig = (
  { ttl, index }: ConfigFile['store'],
  dir: string,
  path: string,
): Config['store'] => ({
  refreshOnRead: ttl.refresh_on_read,
  defaultTtl: ttl.default_ttl ?? null,
  sweepIntervalMinutes: ttl.sweep_interval_minutes ?? null,
  ...(index && {
    index: { dims: index.dims, embed: toEmbeddingSpec(index.embed, dir, path), fields: index.fields },
  }),
});

/** `enabled`: the setting of the environment, which wins. */
export function toRecording(
  given: ConfigFile['recording'],
  enabled: boolean | undefined,
): Config['recording'] {
  const block = typeof given === 'boolean' ? recordingBlock.parse({ enabled: given }) : given;
  return { byDefault: enabled ?? block.enabled, maxBytes: block.max_bytes, env: block.env };
}

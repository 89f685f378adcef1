/**
 * Merges config and context of a run from its assistant and its request. Pure.
 *
 * `context` and `config.configurable` hold the same settings: graphs read one or the other. If a client sends only one,
 * it is copied to the other. The request's settings override the assistant's, key by key.
 */
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';

export interface Settings {
  readonly config: JsonObject;
  /** Undefined when the client gave none. */
  readonly context: Json | undefined;
}

/** Keys of `configurable` that identify a run or that the server sets; they are not settings of a client. */
const PLACING = /^(__|checkpoint_|platform_auth_|langgraph_)|^(run|thread|graph|assistant|cron|user)_id$/;

/** The members of `configurable` that are settings of a client. */
export const settingsIn = (configurable: Json | undefined): JsonObject =>
  Object.fromEntries(Object.entries(asObject(configurable)).filter(([key]) => !PLACING.test(key)));

/**
 * Copies `context` to `config.configurable` or the reverse, when the client filled only one of them. `config.context` is
 * another place of `context`, which overrides it key by key.
 */
export function mirror({ config, context: given }: Settings): Settings {
  const context = isFilled(config['context'])
    ? { ...asObject(config['context']), ...asObject(given) }
    : given;
  const configurable = asObject(config['configurable']);
  const settings = settingsIn(configurable);
  if (isFilled(settings) === isFilled(context)) return { config, context };
  if (isFilled(settings)) return { config, context: settings };
  return { config: { ...config, configurable: { ...configurable, ...asObject(context) } }, context };
}

/**
 * Merges the run's settings over those of its assistant. `configurable` and `metadata` are merged key by key, other
 * members of `config` are replaced. `context` is null when neither has one.
 */
export function underRun(assistant: Settings, request: Settings): { config: JsonObject; context: Json } {
  const given = mirror(request);
  const merged = (key: string): JsonObject => ({
    ...asObject(assistant.config[key]),
    ...asObject(given.config[key]),
  });
  return {
    config: {
      ...assistant.config,
      ...given.config,
      metadata: merged('metadata'),
      configurable: merged('configurable'),
    },
    context: mergeContext(assistant.context, given.context),
  };
}

function mergeContext(own: Json | undefined, given: Json | undefined): Json {
  const merged = { ...asObject(own), ...asObject(given) };
  return isFilled(merged) ? merged : null;
}

const isFilled = (value: Json | undefined): boolean => isObject(value) && Object.keys(value).length > 0;
const asObject = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

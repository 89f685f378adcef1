/**
 * Config and context of a run, merged from its assistant and its request. Pure, and the only place that decides it.
 *
 * `context` and `config.configurable` are two names for the same settings: graphs read one or the other. A client that
 * gives one of them gives both; a client that gives both keeps each as given. The request then wins over the
 * assistant, key by key, in both.
 */
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';

export interface Settings {
  readonly config: JsonObject;
  /** Undefined when the client gave none. */
  readonly context: Json | undefined;
}

/** Keys of `configurable` that place a run or that the server sets: no setting of a client. */
const PLACING = /^(__|checkpoint_|platform_auth_|langgraph_)|^(run|thread|graph|assistant|cron|user)_id$/;

/** What of a `configurable` is a setting of a client. */
export const settingsIn = (configurable: Json | undefined): JsonObject =>
  Object.fromEntries(Object.entries(asObject(configurable)).filter(([key]) => !PLACING.test(key)));

/** The settings with `context` and `config.configurable` equal, where the client filled only one of them. */
export function mirror({ config, context }: Settings): Settings {
  const configurable = asObject(config['configurable']);
  const settings = settingsIn(configurable);
  if (isFilled(settings) === isFilled(context)) return { config, context };
  if (isFilled(settings)) return { config, context: settings };
  return { config: { ...config, configurable: { ...configurable, ...asObject(context) } }, context };
}

/**
 * The run's own settings over those of its assistant. Members of `config` other than `configurable` and `metadata` are
 * the request's where it has them. `context` is null where neither gives one.
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

/** Merges an authorisation handler's changes into the kwargs of a run. Pure. */
import { maskUrl } from '../../delivery/mask.ts';
import { defined, isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import type { RunKwargs } from '../../thread/events.ts';
import { DEFAULT_DURABILITY } from './kwargs.ts';
import { runCreate } from './schemas.ts';

/** Members of `kwargs` that a handler may change, by their wire names. */
const changeable = runCreate.pick({
  ...{ input: true, command: true, config: true, context: true, webhook: true, stream_mode: true },
  ...{ interrupt_before: true, interrupt_after: true, feedback_keys: true, durability: true },
});

/** Members of `configurable` that identify the run: a handler cannot change them. */
const ID_KEYS = ['run_id', 'thread_id', 'graph_id', 'assistant_id', 'langgraph_request_id'];

/**
 * The kwargs with the handler's changes. `names` holds the run's identifying members from before the handler ran. Throws
 * a `TypeError` when `changed` does not match the schema.
 */
export function grantedKwargs(requested: RunKwargs, names: JsonObject, changed: Json | undefined): RunKwargs {
  const parsed = changeable.safeParse(changed);
  if (!parsed.success)
    throw new TypeError(`the auth handler left kwargs that are not valid: ${parsed.error.message}`);
  const { input, command, config, context, webhook } = parsed.data;
  const { interrupt_before: before, interrupt_after: after, feedback_keys: keys, durability } = parsed.data;
  const isAsked = durability !== undefined && durability !== (requested.durability ?? DEFAULT_DURABILITY);
  const { command: _c, interruptBefore: _b, interruptAfter: _a, feedbackKeys: _k, ...rest } = requested;
  const { webhook: url, durability: _d, ...kept } = rest;
  // Handlers get the URL with its secrets masked: an equal masked URL is no change.
  const isSameUrl = url !== undefined && webhook === maskUrl(url);
  return {
    ...kept,
    input: command === undefined ? (input ?? null) : null,
    ...(command && { command: defined(command) }),
    config: { ...defined(config ?? {}), configurable: { ...config?.configurable, ...names } },
    // Handlers get an empty `context` for a run without one.
    context: context !== undefined && Object.keys(context).length > 0 ? context : null,
    streamMode: parsed.data.stream_mode,
    ...(before !== undefined && { interruptBefore: before }),
    ...(after !== undefined && { interruptAfter: after }),
    ...(isAsked && { durability }),
    ...(keys !== undefined && { feedbackKeys: keys }),
    ...(webhook !== undefined && { webhook: isSameUrl ? url : webhook }),
  };
}

export function namesOf({ config }: RunKwargs): JsonObject {
  const configurable = isObject(config['configurable']) ? config['configurable'] : {};
  return Object.fromEntries(
    ID_KEYS.flatMap((key) => (key in configurable ? [[key, configurable[key]!]] : [])),
  );
}

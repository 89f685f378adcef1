/**
 * The text of a run's secret row: user, inherited headers, and settings that hold keys.
 *
 * A4 Only the executor reads it, for graph code; it is erased when the run ends.
 */
import { isObject, type JsonObject } from '../kernel/json.ts';
import { fromStored } from '../kernel/stored-json.ts';

export interface RunSecret {
  /** The authenticated user with all custom fields. */
  readonly user?: JsonObject;
  /** Request headers that the run inherits. */
  readonly inherited?: Readonly<Record<string, string>>;
  /** Members of the run's `configurable` and `context` that hold keys; its record has masks in place of the keys. */
  readonly configurable?: JsonObject;
  readonly context?: JsonObject;
}

/** Returns undefined when there is nothing to store. */
export function renderSecret({ user, inherited, configurable, context }: RunSecret): string | undefined {
  const text = JSON.stringify({ user, inherited, configurable, context });
  return text === '{}' ? undefined : text;
}

/** Also reads the older format, which is the user object alone; it is recognised by its `identity`. */
export function parseSecret(text: string | undefined): RunSecret {
  if (text === undefined) return {};
  const parsed = fromStored(text, 'secret of a run') as JsonObject;
  if (typeof parsed['identity'] === 'string') return { user: parsed };
  const { user, inherited, configurable, context } = parsed;
  return {
    ...(isObject(user) && { user }),
    ...(isObject(inherited) && { inherited: inherited as Record<string, string> }),
    ...(isObject(configurable) && { configurable }),
    ...(isObject(context) && { context }),
  };
}

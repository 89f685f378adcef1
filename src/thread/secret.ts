/**
 * The text of a run's secret row: user and inherited headers.
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
}

/** Returns undefined when there is nothing to store. */
export function renderSecret({ user, inherited }: RunSecret): string | undefined {
  if (user === undefined && inherited === undefined) return undefined;
  return JSON.stringify({ ...(user && { user }), ...(inherited && { inherited }) });
}

/** Also reads the older format, which is the user object alone; it is recognised by its `identity`. */
export function parseSecret(text: string | undefined): RunSecret {
  if (text === undefined) return {};
  const parsed = fromStored(text, 'secret of a run') as JsonObject;
  if (typeof parsed['identity'] === 'string') return { user: parsed };
  const { user, inherited } = parsed;
  return {
    ...(isObject(user) && { user }),
    ...(isObject(inherited) && { inherited: inherited as Record<string, string> }),
  };
}

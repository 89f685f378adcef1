/**
 * What a run needs of its caller, as the text of its secret row.
 *
 * A4 It is read by the executor, handed to graph code, and erased when the run ends.
 */
import { isObject, type JsonObject } from '../kernel/json.ts';
import { fromStored } from '../kernel/stored-json.ts';

export interface RunSecret {
  /** The authenticated user with all custom fields. */
  readonly user?: JsonObject;
  /** Headers of the request that the run inherits. */
  readonly inherited?: Readonly<Record<string, string>>;
}

/** Undefined when there is nothing to keep. */
export function renderSecret({ user, inherited }: RunSecret): string | undefined {
  if (user === undefined && inherited === undefined) return undefined;
  return JSON.stringify({ ...(user && { user }), ...(inherited && { inherited }) });
}

/** Earlier versions wrote the user alone, who has an identity. */
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

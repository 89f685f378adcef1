/** Who sends commands, and about which thread. */
import type { Actor } from '../../auth/authenticate.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { ServerContext } from '../context.ts';
import type { IdempotencyKey } from '../idempotency.ts';

export interface Caller {
  readonly context: ServerContext;
  readonly actor: Actor;
  readonly threadId: string;
  /** The command may have been carried out before. */
  readonly idempotencyKey?: IdempotencyKey | undefined;
}

/** Resolves to the command's result; throws a `CommandProblem` or an `HttpProblem` for the client. */
export type Perform = (caller: Caller, params: JsonObject) => Promise<JsonObject>;

/** Types of protocol commands: their caller and their handler. */
import type { Actor } from '../../auth/authenticate.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { ServerContext } from '../context.ts';
import type { IdempotencyKey } from '../runs/idempotency.ts';

export interface Caller {
  readonly context: ServerContext;
  readonly actor: Actor;
  readonly threadId: string;
  /** Present when the client may repeat the command. */
  readonly idempotencyKey?: IdempotencyKey | undefined;
}

/** A command's handler. Resolves to the result; throws a `CommandProblem` or an `HttpProblem` for the client. */
export type Perform = (caller: Caller, params: JsonObject) => Promise<JsonObject>;

/**
 * Authorizes each operation; a request may contain several.
 *
 * A2 An invalid result, filter or payload denies, as does a handler that throws or hangs. A3 Callers must put a decision's
 * filter into the query, so that a foreign resource and a missing one give the same empty result.
 */
import type { Clock } from '../kernel/clock.ts';
import type { Filter } from '../kernel/filter.ts';
import { isObject, isPlainObject, type JsonObject } from '../kernel/json.ts';
import type { EventName } from './auth.ts';
import type { Actor } from './authenticate.ts';
import { lookupKeys } from './coverage.ts';
import { withinDeadline } from './deadline.ts';
import { parseAuthFilter } from './filters.ts';
import type { AuthHandler } from './handler.ts';
import { toPlain } from './plain.ts';
import { refuse, refuseFaulty, ToldFault, toRefusal, type Refusal } from './refusal.ts';

type Decision =
  | {
      readonly ok: true;
      /** The operation's payload with the handler's changes; use it instead of the original. */
      readonly value: JsonObject;
      /** Restricts the operation to matching resources; undefined allows all. */
      readonly filter: Filter | undefined;
    }
  | Refusal;

/** Never rejects. The handler may mutate `value`, so pass an object that nothing else uses. */
export type Authorize = (actor: Actor, event: EventName, value: JsonObject) => Promise<Decision>;

export interface AuthorizerOptions {
  /** Without a handler every operation is allowed. */
  readonly handler?: AuthHandler;
  readonly clock: Clock;
  readonly deadlineMs?: number;
  /** Called with the cause when an operation ends in a 500, and with the operation. */
  readonly onFault: (error: unknown, event: EventName) => void;
}

export function createAuthorizer(options: AuthorizerOptions): Authorize {
  const { handler, clock, deadlineMs = 10_000, onFault } = options;

  const decide = async (handler: AuthHandler, actor: Actor, event: EventName, value: JsonObject) => {
    const { user } = actor;
    if (user === undefined) {
      onFault(new Error('the operation was asked for without an authenticated user'), event);
      return refuse(403, 'Not authorized');
    }
    const [resource, action] = event.split(':') as [string, string];
    const callback = findCallback(handler, event);
    if (callback === undefined) return { ok: true, value, filter: undefined } as const;
    // The handler gets copies, because the actor is used for the request's next operations and for graph code.
    const context = {
      event,
      resource,
      action,
      value,
      permissions: [...actor.scopes],
      user: structuredClone(user),
    };
    const verdict = await withinDeadline(clock, deadlineMs, () => callback(context));
    if (verdict === false) return refuse(403, 'Not authorized');
    const filter = toFilter(verdict);
    const changed = toPlain(value, `the value of ${event}`, 'refuse');
    if (!isObject(changed)) throw new TypeError(`the value of ${event} is not an object`);
    return { ok: true, value: changed, filter } as const;
  };

  return async (actor, event, value) => {
    if (handler === undefined) return { ok: true, value, filter: undefined };
    try {
      return await decide(handler, actor, event, value);
    } catch (error) {
      const refusal = toRefusal(error);
      if (refusal === undefined) onFault(error, event);
      return refusal ?? refuseFaulty(error);
    }
  };
}

/** Finds the most specific handler; broader ones do not run. */
function findCallback(handler: AuthHandler, event: EventName) {
  for (const key of lookupKeys(event)) {
    const callback = handler.callback(key);
    if (callback !== undefined) return callback;
  }
  return undefined;
}

function toFilter(verdict: unknown): Filter | undefined {
  if (verdict === undefined || verdict === null || verdict === true) return undefined;
  if (!isPlainObject(verdict))
    throw new ToldFault(
      `Auth handler returned invalid result. Expected filter dict, None, or boolean. Got ${kindOf(verdict)} instead.`,
    );
  const filter = parseAuthFilter(verdict);
  return filter.length === 0 ? undefined : filter;
}

const kindOf = (verdict: unknown): string =>
  Array.isArray(verdict) ? 'array' : typeof verdict === 'object' ? 'class instance' : typeof verdict;

/**
 * Who is calling? Asked once per request, before anything else looks at it.
 *
 * A2 Whatever a handler does wrong (throws, answers junk, hangs) denies. A4 The client learns nothing of the cause,
 * and what was wrong with a user is reported without its values. No header of any scheme bypasses the handler.
 */
import type { Clock } from '../kernel/clock.ts';
import { sameSecret } from '../kernel/ids.ts';
import { withinDeadline } from './deadline.ts';
import type { AuthHandler } from './handler.ts';
import { refuse, refuseFaulty, toRefusal, type Refusal } from './refusal.ts';
import { parseUser, type AuthUser } from './user.ts';

/** The authenticated caller. Without a handler there is no user: the server sees only the owner of its key. */
export interface Actor {
  readonly user?: AuthUser;
  /** The user's permissions. */
  readonly scopes: readonly string[];
  /** Headers of the request that its runs inherit: for graph code alone, like the user's secrets. */
  readonly inherited?: Readonly<Record<string, string>>;
}

export type AuthResult = { readonly ok: true; readonly actor: Actor } | Refusal;

export interface AuthenticatorOptions {
  readonly handler?: AuthHandler;
  /** Asked for in `x-api-key` when there is no handler; without either, everybody may call. */
  readonly apiKey?: string;
  readonly clock: Clock;
  readonly deadlineMs?: number;
  /** Hears why a request ended in a 500: what the handler threw, or what was wrong with its answer. */
  readonly onFault: (error: unknown) => void;
}

/**
 * Authenticates requests; never rejects. The handler may consume the body, so pass a request made for it and keep the
 * one that the server reads.
 */
export function createAuthenticator(
  options: AuthenticatorOptions,
): (request: Request) => Promise<AuthResult> {
  const { handler, apiKey, clock, deadlineMs = 10_000, onFault } = options;
  if (handler === undefined) return createKeyCheck(apiKey);
  return async (request) => {
    try {
      const authenticate = handler.authenticator();
      const user = parseUser(await withinDeadline(clock, deadlineMs, () => authenticate(request)));
      if (user === undefined) return refuse(401, 'Unauthorized');
      return { ok: true, actor: { user, scopes: [...user.permissions] } };
    } catch (error) {
      const refusal = toRefusal(error);
      if (refusal === undefined) onFault(error);
      return refusal ?? refuseFaulty();
    }
  };
}

function createKeyCheck(apiKey: string | undefined): (request: Request) => Promise<AuthResult> {
  // An empty key would be met by every request that lacks one.
  if (apiKey === '') throw new RangeError('the API key must not be empty');
  return async (request) =>
    apiKey === undefined || sameSecret(request.headers.get('x-api-key') ?? '', apiKey)
      ? { ok: true, actor: { scopes: [] } }
      : refuse(401, 'Invalid or missing API key');
}

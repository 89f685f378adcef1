/**
 * Authenticates each request once, before it is routed.
 *
 * A2 A handler that throws, hangs or returns an invalid user denies. A4 Clients do not see the cause, and errors about a
 * user never contain its values. Only a configured studio key bypasses the handler; no other header does.
 */
import type { Clock } from '../kernel/clock.ts';
import { withinDeadline } from './deadline.ts';
import { expiryOf } from './expiry.ts';
import type { AuthHandler } from './handler.ts';
import { createKeyRing, type KeyRing } from './key-ring.ts';
import { refuse, refuseFaulty, toRefusal, type Refusal } from './refusal.ts';
import { createResultCache, type CacheOptions } from './result-cache.ts';
import { asksAsStudio, STUDIO_USER } from './studio.ts';
import { parseUser, type AuthUser } from './user.ts';

/** The authenticated caller. Without an auth handler `user` is undefined, because API keys carry no identity. */
export interface Actor {
  readonly user?: AuthUser;
  /** The studio key authenticated the caller. */
  readonly isStudio?: true;
  /** The user's permissions. */
  readonly scopes: readonly string[];
  /** The request's `x-request-id`, or a generated id. */
  readonly requestId?: string;
  /** Request headers that runs inherit as secrets: only graph code sees them (A4). */
  readonly inherited?: Readonly<Record<string, string>>;
  /** Expiry in milliseconds since 1970; open streams of the caller end then. */
  readonly expiresAt?: number;
}

export type AuthResult = { readonly ok: true; readonly actor: Actor } | Refusal;

export interface AuthenticatorOptions {
  readonly handler?: AuthHandler;
  /** Without a handler, `x-api-key` must be one of these. With neither handler nor keys every request is allowed. */
  readonly apiKeys?: readonly string[] | undefined;
  /** A request with `x-auth-scheme: langsmith` and one of these in `x-api-key` gets the studio user. */
  readonly studioKeys?: readonly string[] | undefined;
  /** Without a cache the handler runs for every request. */
  readonly cache?: CacheOptions | undefined;
  readonly clock: Clock;
  readonly deadlineMs?: number;
  /** Called with the cause when a request ends in a 500: the handler's error, or a description of its invalid result. */
  readonly onFault: (error: unknown) => void;
}

/**
 * Creates the authenticator, which never rejects. The handler may consume the request's body, so pass it a copy.
 */
export function createAuthenticator(
  options: AuthenticatorOptions,
): (request: Request) => Promise<AuthResult> {
  const { handler, apiKeys = [], studioKeys = [], clock, deadlineMs = 10_000, onFault } = options;
  if (handler === undefined) return createKeyCheck(createKeyRing(apiKeys));
  const studio = createKeyRing(studioKeys);
  const cache = options.cache && createResultCache<Actor>(options.cache, clock);

  const ask = async (request: Request): Promise<AuthResult> => {
    const authenticate = handler.authenticator();
    const user = parseUser(await withinDeadline(clock, deadlineMs, () => authenticate(request)));
    if (user === undefined) return refuse(401, 'Unauthorized');
    const expiresAt = expiryOf(user);
    if (expiresAt !== undefined && expiresAt <= clock.now()) return refuse(401, 'Credentials have expired');
    const actor = { user, scopes: [...user.permissions], ...(expiresAt !== undefined && { expiresAt }) };
    return { ok: true, actor };
  };

  return async (request) => {
    if (studio.any && asksAsStudio(request.headers))
      return studio.holds(request.headers.get('x-api-key'))
        ? { ok: true, actor: { user: structuredClone(STUDIO_USER), isStudio: true, scopes: [] } }
        : refuse(401, 'Invalid or missing studio key');
    try {
      const key = cache?.keyOf(request.headers);
      const known = key === undefined ? undefined : cache?.get(key);
      // The cache stores and returns copies, so a request cannot change the actor of another.
      if (known !== undefined) return { ok: true, actor: structuredClone(known) };
      const result = await ask(request);
      if (result.ok && key !== undefined)
        cache?.put(key, structuredClone(result.actor), result.actor.expiresAt);
      return result;
    } catch (error) {
      const refusal = toRefusal(error);
      if (refusal === undefined) onFault(error);
      return refusal ?? refuseFaulty(error);
    }
  };
}

const createKeyCheck =
  (keys: KeyRing) =>
  async (request: Request): Promise<AuthResult> =>
    !keys.any || keys.holds(request.headers.get('x-api-key'))
      ? { ok: true, actor: { scopes: [] } }
      : refuse(401, 'Invalid or missing API key');

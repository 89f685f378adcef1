/**
 * Who is calling? Asked once per request, before anything else looks at it.
 *
 * A2 Whatever a handler does wrong (throws, answers junk, hangs) denies. A4 The client learns nothing of the cause,
 * and what was wrong with a user is reported without its values. No header of any scheme bypasses the handler, unless
 * a studio key is configured: then that key, and it alone, does.
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

/** The authenticated caller. Without a handler there is no user: the server sees only the owner of its key. */
export interface Actor {
  readonly user?: AuthUser;
  /** The user's permissions. */
  readonly scopes: readonly string[];
  /** The request's `x-request-id`, or an id of the server's own. */
  readonly requestId?: string;
  /** Headers of the request that its runs find in their `configurable`, where clients can read them. */
  readonly openHeaders?: Readonly<Record<string, string>>;
  /** Headers of the request that its runs inherit in secret: for graph code alone, like the user's secrets. */
  readonly inherited?: Readonly<Record<string, string>>;
  /** Milliseconds since 1970: what is still open then is ended. */
  readonly expiresAt?: number;
}

export type AuthResult = { readonly ok: true; readonly actor: Actor } | Refusal;

export interface AuthenticatorOptions {
  readonly handler?: AuthHandler;
  /** Any of them is asked for in `x-api-key` when there is no handler; without either, everybody may call. */
  readonly apiKeys?: readonly string[] | undefined;
  /** With one of these in `x-api-key`, whoever says `x-auth-scheme: langsmith` is the studio's user. */
  readonly studioKeys?: readonly string[] | undefined;
  /** Without it the handler is asked for every request. */
  readonly cache?: CacheOptions | undefined;
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
        ? { ok: true, actor: { user: structuredClone(STUDIO_USER), scopes: [] } }
        : refuse(401, 'Invalid or missing studio key');
    try {
      const key = cache?.keyOf(request.headers);
      const known = key === undefined ? undefined : cache?.get(key);
      // Copies: what one request holds is nobody else's to change.
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

/**
 * A1 Every route passes through `authenticateRequest` unless it stands in `PUBLIC_ROUTES`.
 * A2 What an authorisation handler returned goes into the query; A3 and what it hides answers like what is missing.
 */
import type { MiddlewareHandler } from 'hono';
import type { EventName } from '../auth/auth.ts';
import type { Actor } from '../auth/authenticate.ts';
import { allowsWrite, type Filter } from '../auth/filters.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { parseBody, readBytes } from './body.ts';
import type { Env, ServerContext } from './context.ts';
import { HttpProblem, noRoute, notAuthorized } from './replies.ts';

/** Frozen: these answer to anybody. */
export const PUBLIC_ROUTES: ReadonlySet<string> = new Set(['GET /ok', 'GET /info', 'GET /openapi.json']);

export function authenticateRequest(context: ServerContext): MiddlewareHandler<Env> {
  return async (c, next) => {
    const { pathname } = new URL(c.req.url);
    const open = PUBLIC_ROUTES.has(`${c.req.method} ${pathname}`) || c.req.method === 'OPTIONS';
    const { method } = c.req;
    // No route has it, and fetch's Request, which handlers are given, cannot carry it.
    if (method === 'TRACE') throw noRoute();
    const bytes =
      method === 'GET' || method === 'HEAD' ? undefined : await readBytes(c.req.raw, context.maxBodyBytes);
    if (!open) {
      // A request of its own: what the handler reads of it is not missing afterwards.
      const asked = new Request(c.req.url, { method, headers: c.req.raw.headers, body: bytes ?? null });
      const result = await context.authenticate(asked);
      if (!result.ok) throw new HttpProblem(result.status, result.detail, result.headers);
      c.set('actor', result.actor);
    }
    if (bytes !== undefined) c.set('body', parseBody(bytes));
    await next();
  };
}

export interface Granted {
  /** The payload as the handler left it. */
  readonly value: JsonObject;
  /** Undefined restricts nothing. */
  readonly filter: Filter | undefined;
}

/** The metadata that an operation may write; throws a denial when the handler's filter does not allow it. */
export function grantedMetadata({ value, filter }: Granted, before: JsonObject = {}): JsonObject {
  const metadata = isObject(value['metadata']) ? value['metadata'] : {};
  if (filter !== undefined && !allowsWrite(metadata, { ...before, ...metadata }, filter))
    throw notAuthorized();
  return metadata;
}

/** Asks the authorisation handler; throws its denial. */
export async function authorise(
  context: ServerContext,
  actor: Actor,
  event: EventName,
  value: JsonObject,
): Promise<Granted> {
  const decision = await context.authorize(actor, event, value);
  if (!decision.ok) throw new HttpProblem(decision.status, decision.detail, decision.headers);
  return { value: decision.value, filter: decision.filter };
}

/**
 * Authentication and authorisation of requests.
 *
 * A1 Every route passes through `authenticateRequest` unless it is listed in `PUBLIC_ROUTES`
 * or lies below `/studio`.
 * A2 The filter of an authorisation handler is part of the query. A3 A hidden resource and a missing one look the same.
 */
import type { IncomingMessage } from 'node:http';
import type { Context } from 'hono';
import type { z } from 'zod';
import type { EventName } from '../auth/auth.ts';
import type { Actor } from '../auth/authenticate.ts';
import { allowsWrite } from '../auth/filters.ts';
import type { Filter } from '../kernel/filter.ts';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { NoJson, parseBody, readPlain } from './body.ts';
import type { Env, ServerContext } from './context.ts';
import { groupOf } from './groups.ts';
import { HttpProblem, noRoute, notAuthorized } from './replies.ts';
import { isStudio } from './studio/page.ts';

/** Routes without authentication: none returns data of a user. The list is frozen. */
export const PUBLIC_ROUTES: ReadonlySet<string> = new Set([
  'GET /',
  'GET /ok',
  'GET /info',
  'GET /metrics',
  'GET /docs',
  'GET /openapi.json',
]);

export const isPublic = (method: string, path: string): boolean =>
  PUBLIC_ROUTES.has(`${method === 'HEAD' ? 'GET' : method} ${path}`) || isStudio(path);

/**
 * Sets `actor` and `body` for a route. Throws a 404 for a route group that the configuration disables. `isUpload`: the
 * endpoint reads the body itself.
 */
export async function authenticateRequest(
  context: ServerContext,
  c: Context<Env>,
  isUpload: (method: string, path: string) => boolean,
): Promise<void> {
  const { method, path, raw } = c.req;
  const group = groupOf(path);
  if (group !== undefined && context.http.disabled.has(group)) throw noRoute();
  const { admitted = {} } = c.env;
  const bytes =
    method === 'GET' || method === 'HEAD' || isUpload(method, path)
      ? undefined
      : (admitted.bytes ?? (await readPlain(raw, context.maxBodyBytes, context.bodyBudget)));
  if (admitted.actor !== undefined) c.set('actor', admitted.actor);
  else if (!isPublic(method, path)) c.set('actor', await identify(context, c, bytes));
  if (bytes !== undefined) c.set('body', bodyOf(path, bytes));
}

/** Paths on which a body that is not JSON gets a 400 with a fixed message, as their clients expect. */
const EVENT_PATHS = /\/threads\/[^/]+\/(commands|stream\/events)$/;

function bodyOf(path: string, bytes: Uint8Array): Json | undefined {
  try {
    return parseBody(bytes);
  } catch (error) {
    if (error instanceof NoJson && EVENT_PATHS.test(path)) throw new HttpProblem(400, 'Invalid JSON body');
    throw error;
  }
}

const REQUEST_ID = /^[\x21-\x7e]{1,255}$/;

/** Undefined for a header that is not 1 to 255 visible ASCII characters: it is written to log lines. */
function requestIdOf(headers: Headers): string | undefined {
  const given = headers.get('x-request-id') ?? '';
  return REQUEST_ID.test(given) ? given : undefined;
}

/** Only `set-cookie`, which no request has, is a list. */
const plainHeaders = ({ headers }: IncomingMessage): [string, string][] =>
  Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string');

/** Authenticates the caller. Throws the denial of the authentication handler as an `HttpProblem`. */
export async function identify(
  context: ServerContext,
  { req: { raw: request }, env }: Context<Env>,
  bytes: Uint8Array<ArrayBuffer> | undefined,
): Promise<Actor> {
  const { url, method, headers } = request;
  // The handler gets a copy, because it may consume the body. Without a handler only headers are read.
  const shown = context.asksHandler ? new Request(url, { method, headers, body: bytes ?? null }) : request;
  const result = await context.authenticate(shown);
  if (!result.ok) throw new HttpProblem(result.status, result.detail, result.headers);
  // Listing `headers` makes an object of the web, which costs more than the rest of an authentication by key.
  const sent = env.isDirect === true && env.incoming !== undefined && plainHeaders(env.incoming);
  const inherited = context.inherit(sent || headers);
  return {
    ...result.actor,
    requestId: requestIdOf(headers) ?? context.ids.uuid(),
    ...(Object.keys(inherited).length > 0 && { inherited }),
  };
}

export interface Granted {
  /** The payload after the handler's changes. */
  readonly value: JsonObject;
  /** Undefined when the handler restricts nothing. */
  readonly filter: Filter | undefined;
}

/** The metadata that an operation may write; throws a denial when the handler's filter does not allow it. */
export function grantedMetadata({ value, filter }: Granted, before: JsonObject = {}): JsonObject {
  const metadata = isObject(value['metadata']) ? value['metadata'] : {};
  if (filter !== undefined && !allowsWrite(metadata, { ...before, ...metadata }, filter))
    throw notAuthorized();
  return metadata;
}

/**
 * A2 The conditions of a search after the handler's changes: values that the handler adds narrow the search. Throws a
 * `TypeError` (a 500) when the changed payload does not match the schema.
 */
export function grantedSearch<T extends z.ZodType>(schema: T, { value }: Granted): z.output<T> {
  const parsed = schema.safeParse(value);
  if (!parsed.success)
    throw new TypeError(`the auth handler left a search that is not valid: ${parsed.error.message}`);
  return parsed.data;
}

/** Asks the authorisation handler about one operation; throws its denial as an `HttpProblem`. */
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

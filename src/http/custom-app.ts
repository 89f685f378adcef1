/** Recognises the project's own app (`http.app`) by shape: a Hono app of any copy of the library, or a `fetch` object. */
import type { ErrorHandler, Handler, MiddlewareHandler } from 'hono';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';

export interface OwnRoute {
  /** `ALL` for every method. */
  readonly method: string;
  readonly path: string;
  readonly handler: Handler | MiddlewareHandler;
}

export type CustomApp = (
  | { readonly kind: 'hono'; readonly routes: readonly OwnRoute[]; readonly onError: ErrorHandler }
  | { readonly kind: 'fetch'; readonly fetch: (request: Request) => Promise<Response> }
) & {
  /** Value of its `openapi` property, merged into the OpenAPI document. */
  readonly openapi?: JsonObject;
};

/** Header of a 404 reply by which a plain `fetch` object passes the request on to the built-in routes. */
export const NOT_MINE = 'x-not-handled';

/** Undefined for a value that is no app. Throws a `TypeError` when its `openapi` cannot be serialized as JSON. */
export function recogniseApp(exported: unknown): CustomApp | undefined {
  if ((typeof exported !== 'object' && typeof exported !== 'function') || exported === null) return undefined;
  const { fetch, routes, errorHandler, openapi } = exported as Record<string, unknown>;
  if (typeof fetch !== 'function') return undefined;
  const description = describe(openapi);
  if (Array.isArray(routes) && routes.every(isRoute) && typeof errorHandler === 'function')
    return { kind: 'hono', routes, onError: errorHandler as ErrorHandler, ...description };
  return {
    kind: 'fetch',
    fetch: async (request) => {
      const answer: unknown = await (fetch as (request: Request) => unknown).call(exported, request);
      if (!isResponse(answer)) throw new TypeError('the fetch of the custom app returned no Response');
      return answer;
    },
    ...description,
  };
}

/** Copies `openapi` at start: a value that is not JSON fails the start and not a later request for the document. */
function describe(openapi: unknown): { readonly openapi?: JsonObject } {
  // Some routers have a method named `openapi`.
  if (!isObject(openapi)) return {};
  let copy: Json;
  try {
    copy = JSON.parse(JSON.stringify(openapi)) as Json;
  } catch (error) {
    throw new TypeError(`its openapi is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  return isObject(copy) ? { openapi: copy } : {};
}

const isRoute = (value: unknown): value is OwnRoute =>
  isObject(value) &&
  typeof value['method'] === 'string' &&
  typeof value['path'] === 'string' &&
  typeof (value as { handler?: unknown }).handler === 'function';

/** Checks the shape and not the class: a project may use a `Response` class of its own. */
const isResponse = (value: unknown): value is Response =>
  typeof value === 'object' && value !== null && 'status' in value && 'headers' in value && 'body' in value;

/**
 * Guesses whether `use` registered the handler: any method, a pattern that ends with `*`, and a second parameter.
 * Everything else counts as a route and is authenticated if custom routes are.
 */
export const isMiddleware = ({ method, path, handler }: OwnRoute): boolean =>
  method === 'ALL' && path.endsWith('*') && handler.length > 1;

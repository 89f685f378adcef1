/** The project's own app, by shape: a Hono app of whichever copy of the library, or any object with `fetch`. */
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
  /** What its `openapi` property adds to the description of the interface. */
  readonly openapi?: JsonObject;
};

/** A reply of a plain `fetch` object that says: not mine, go on with the built-in routes. */
export const NOT_MINE = 'x-not-handled';

/** Throws `TypeError` when its `openapi` cannot be said in JSON. */
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

/** As it is now: the document is made when somebody asks for it, and what cannot be said is a mistake of the start. */
function describe(openapi: unknown): { readonly openapi?: JsonObject } {
  // Some routers have a method of that name, which is no description.
  if (!isObject(openapi)) return {};
  let said: Json;
  try {
    said = JSON.parse(JSON.stringify(openapi)) as Json;
  } catch (error) {
    throw new TypeError(`its openapi is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  return isObject(said) ? { openapi: said } : {};
}

const isRoute = (value: unknown): value is OwnRoute =>
  isObject(value) &&
  typeof value['method'] === 'string' &&
  typeof value['path'] === 'string' &&
  typeof (value as { handler?: unknown }).handler === 'function';

/** A project may bring a `Response` class of its own. */
const isResponse = (value: unknown): value is Response =>
  typeof value === 'object' && value !== null && 'status' in value && 'headers' in value && 'body' in value;

/**
 * What `use` registered, as far as can be told: any method, a pattern with a star at its end, and a second parameter.
 * Everything else counts as a route, so that authentication of custom routes errs on the safe side.
 */
export const isMiddleware = ({ method, path, handler }: OwnRoute): boolean =>
  method === 'ALL' && path.endsWith('*') && handler.length > 1;

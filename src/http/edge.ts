/**
 * Outer middleware of every request: request log, refusal while the server stops, CORS, mount prefix, and the project's
 * own app, whose middleware wraps the built-in routes.
 *
 * A1 The built-in routes authenticate in `access.ts`, after the custom app may have changed the request. This module
 * authenticates only requests for which the configuration puts authentication before the custom app.
 */
import { Hono, type Context, type HonoRequest, type MiddlewareHandler } from 'hono';
import { identify, isPublic } from './access.ts';
import { readBytes } from './body.ts';
import type { Admitted, Env, ServerContext } from './context.ts';
import { corsOf } from './cors.ts';
import { isMiddleware, NOT_MINE, type CustomApp } from './custom-app.ts';
import { createHeaderFilter } from './header-rules.ts';
import { withHeaders, type ReplyHeaders } from './own-reply.ts';
import { pathOf, withoutPrefix } from './paths.ts';
import { isUpload } from './uploads.ts';
import { HttpProblem, internal, noAddress, noRoute, problemReply, stopping } from './replies.ts';

export type EdgeFetch = (request: Request, bindings?: Env['Bindings']) => Promise<Response>;

/** An absolute request target with credentials: HTTP allows it, but `Request` throws on it. */
const WITH_CREDENTIALS = /^\w+:\/\/[^/?#]*@/;

export function createEdge(
  context: ServerContext,
  builtIn: Hono<Env>,
  custom: CustomApp | undefined,
): EdgeFetch {
  const { clock, http, requestLog } = context;
  const prefix = http.mountPrefix;
  const cors = corsOf(http.cors);
  const logged = createHeaderFilter(http.loggingHeaders);
  /** The path within the mount prefix; undefined outside. */
  const pathWithin = (url: string): string | undefined => {
    const path = pathOf(url);
    // The health check `/ok` of load balancers is served outside the prefix too.
    return withoutPrefix(path, prefix) ?? (path === '/ok' ? path : undefined);
  };
  const faulty = (error: unknown): Response => {
    if (error instanceof HttpProblem) return problemReply(error);
    context.onFault(error, 'answering a request');
    return problemReply(internal());
  };
  const wrapped =
    custom === undefined ? undefined : wrapBuiltIn(context, builtIn, custom, { pathWithin, faulty });

  async function answer(request: Request, bindings: Env['Bindings']): Promise<Response> {
    try {
      // No route has TRACE, and fetch's Request, which handlers are given, cannot carry it.
      if (request.method === 'TRACE' || pathWithin(request.url) === undefined) throw noRoute();
      if (wrapped !== undefined) return await wrapped.fetch(request, { ...bindings, admitted: {} });
      return await builtIn.fetch(request, { ...bindings, admitted: {}, isDirect: true });
    } catch (error) {
      // Hono's `onError` does not handle a thrown value that is no `Error`.
      return faulty(error);
    }
  }

  async function reply(request: Request, bindings: Env['Bindings']): Promise<Response> {
    if (context.stopping.aborted) return problemReply(stopping());
    const isPreflight = request.method === 'OPTIONS';
    const response = isPreflight ? cors.preflight(request) : await answer(request, bindings);
    return withHeaders(response, (headers) => {
      if (!isPreflight) cors.mark(request, headers);
      if (headers.get('cache-control') === null) headers.set('cache-control', 'no-store');
      if (prefix !== '' && wrapped === undefined) addPrefix(headers, prefix);
    });
  }

  return async (request, bindings = {}) => {
    // `Request` rejects such a URL with an error that quotes the credentials.
    if (WITH_CREDENTIALS.test(request.url)) return problemReply(noAddress());
    if (requestLog === undefined) return reply(request, bindings);
    const began = clock.monotonic();
    const response = await reply(request, bindings);
    if (response.status >= requestLog.minStatus)
      // The query is not logged: it may hold tokens.
      requestLog.onRequest({
        method: request.method,
        path: pathOf(request.url),
        status: response.status,
        ms: Math.round(clock.monotonic() - began),
        headers: logged(request.headers),
      });
    return response;
  };
}

function addPrefix(headers: ReplyHeaders, prefix: string): void {
  for (const name of ['location', 'content-location']) {
    const place = headers.get(name);
    if (place?.startsWith('/') === true) headers.set(name, `${prefix}${place}`);
  }
}

interface Ways {
  readonly pathWithin: (url: string) => string | undefined;
  readonly faulty: (error: unknown) => Response;
}

/** The built-in routes within the project's own app. */
function wrapBuiltIn(
  context: ServerContext,
  builtIn: Hono<Env>,
  custom: CustomApp,
  { pathWithin, faulty }: Ways,
): Hono<Env> {
  const prefix = context.http.mountPrefix;
  const app = new Hono<Env>({ getPath: (request) => pathWithin(request.url)! });
  mountCustom(app, context, custom);
  app.all('*', async (c) => {
    const admitted = await admittedOf(c, context);
    const reply = await builtIn.fetch(c.req.raw, { ...c.env, admitted });
    if (prefix !== '') addPrefix(reply.headers, prefix);
    return reply;
  });
  app.onError(faulty);
  return app;
}

/** Actor and body for the built-in routes, with the custom app's changes of the body. */
async function admittedOf(c: Context<Env>, context: ServerContext): Promise<Admitted> {
  const admitted = c.env.admitted ?? {};
  if (admitted.bytes === undefined) return admitted;
  return { ...admitted, bytes: await bodyAfter(c, admitted, context) };
}

/** The body after the custom app: from a request that replaced the first, from cached JSON or text, or unchanged. */
async function bodyAfter(
  c: Context<Env>,
  { bytes, request }: Admitted,
  { maxBodyBytes, bodyBudget }: ServerContext,
): Promise<Uint8Array<ArrayBuffer>> {
  const { raw, bodyCache } = c.req;
  if (raw !== request && !raw.bodyUsed) return readBytes(raw, maxBodyBytes, bodyBudget);
  const { json, text } = bodyCache;
  if (json !== undefined) return new TextEncoder().encode(JSON.stringify(await json));
  if (text !== undefined) return new TextEncoder().encode(await text);
  return bytes ?? new Uint8Array();
}

/**
 * Gives all middleware one parsed body, which `bodyAfter` reads from the cache: changes in place reach the route. Hono's
 * own `json` parses the text again for each call.
 */
function shareParsedBody(request: HonoRequest): void {
  const { bodyCache } = request;
  request.json = () => {
    if (bodyCache.json !== undefined) return bodyCache.json;
    const parsed = request.text().then((text) => JSON.parse(text) as unknown);
    // The route then finds no cache entry, parses the text itself and replies with the error.
    parsed.catch(() => delete bodyCache.json);
    bodyCache.json = parsed;
    return parsed as Promise<any>;
  };
}

function mountCustom(app: Hono<Env>, context: ServerContext, custom: CustomApp): void {
  const { customRouteAuth, order } = context.http;
  const guard: MiddlewareHandler<Env> = async (c, next) => {
    await admit(c, context);
    await next();
  };

  // A reply that the app fetched from elsewhere has immutable headers.
  app.use('*', async (c, next) => {
    await next();
    if (c.finalized) c.res = new Response(c.res.body, c.res);
  });

  // The body is read once and within its limit; the app and the built-in routes both use these bytes.
  app.use('*', async (c, next) => {
    const { raw, method } = c.req;
    if (method !== 'GET' && method !== 'HEAD' && !isUpload(method, c.req.path)) {
      const bytes = await readBytes(raw, context.maxBodyBytes, context.bodyBudget);
      const { url, headers, signal } = raw;
      c.req.raw = new Request(url, { method, headers, signal, body: bytes });
      c.env.admitted = { bytes, request: c.req.raw };
      shareParsedBody(c.req);
    }
    await next();
  });

  if (custom.kind === 'fetch') {
    app.use('*', async (c, next) => {
      if ((customRouteAuth || order === 'auth_first') && !isPublic(c.req.method, c.req.path))
        await admit(c, context);
      const url = new URL(c.req.url);
      url.pathname = c.req.path;
      // A copy of an upload would be held in memory.
      const { method, headers, signal } = c.req.raw;
      const shown = isUpload(method, c.req.path) ? { method, headers, signal } : c.req.raw.clone();
      const answer = await custom.fetch(new Request(url, shown));
      if (answer.status === 404 && answer.headers.has(NOT_MINE)) {
        await answer.body?.cancel();
        return next();
      }
      return answer;
    });
    return;
  }

  const own = new Hono<Env>();
  for (const { method, path, handler } of custom.routes.filter((route) => !isMiddleware(route)))
    own.on(method, path, handler);
  const isOwn = (method: string, path: string): boolean =>
    own.router.match(method === 'HEAD' ? 'GET' : method, path)[0].length > 0;
  if (order === 'auth_first')
    app.use('*', async (c, next) => {
      const open = isOwn(c.req.method, c.req.path) ? !customRouteAuth : isPublic(c.req.method, c.req.path);
      if (!open) await admit(c, context);
      await next();
    });

  for (const route of custom.routes) {
    // Mounted outside the app's error handler, so that the server answers denials.
    if (customRouteAuth && !isMiddleware(route)) app.on(route.method, route.path, guard);
    // Errors of the app go to the app's error handler, which may be Hono's default.
    const mounted = new Hono<Env>().onError((error, c) => custom.onError(error, c));
    app.route('/', mounted.on(route.method, route.path, route.handler));
  }
}

/** Authenticates once per request; handlers of the custom app read the caller as the variable `auth`. */
async function admit(c: Context<Env>, context: ServerContext): Promise<void> {
  if (c.env.admitted?.actor !== undefined) return;
  const actor = await identify(context, c, c.env.admitted?.bytes);
  c.env.admitted = { ...c.env.admitted, actor };
  c.set('auth', actor);
}

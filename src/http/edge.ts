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
import { pathOf, withoutPrefix } from './paths.ts';
import { isUpload } from './uploads.ts';
import { HttpProblem, internal, noAddress, noRoute, problemReply, stopping } from './replies.ts';

export type EdgeFetch = (request: Request, bindings?: Env['Bindings']) => Promise<Response>;

/** An absolute request target with credentials: HTTP allows it, but `Request` throws on it. */
const WITH_CREDENTIALS = /^\w+:\/\/[^/?#]*@/;
/** Path of requests outside the mount prefix: it matches no route. */
const OUTSIDE = '\u0000';

export function createEdge(
  context: ServerContext,
  builtIn: Hono<Env>,
  custom: CustomApp | undefined,
): EdgeFetch {
  const { clock, http, requestLog } = context;
  const prefix = http.mountPrefix;
  const edge = new Hono<Env>({
    getPath(request) {
      const path = pathOf(request.url);
      // The health check `/ok` of load balancers is served outside the prefix too.
      return withoutPrefix(path, prefix) ?? (path === '/ok' ? path : OUTSIDE);
    },
  });
  const logged = createHeaderFilter(http.loggingHeaders);

  if (requestLog !== undefined)
    edge.use('*', async (c, next) => {
      const began = clock.monotonic();
      await next();
      if (c.res.status < requestLog.minStatus) return;
      // The query is not logged: it may hold tokens.
      requestLog.onRequest({
        method: c.req.method,
        path: pathOf(c.req.url),
        status: c.res.status,
        ms: Math.round(clock.monotonic() - began),
        headers: logged(c.req.raw.headers),
      });
    });
  edge.use('*', async (c, next) => {
    if (context.stopping.aborted) throw stopping();
    await next();
    // `c.header` would copy the reply.
    if (!c.res.headers.has('cache-control')) c.res.headers.set('cache-control', 'no-store');
  });
  edge.use('*', corsOf(http.cors));
  edge.use('*', async (c, next) => {
    // No route has TRACE, and fetch's Request, which handlers are given, cannot carry it.
    if (c.req.path === OUTSIDE || c.req.method === 'TRACE') throw noRoute();
    await next();
  });

  if (custom !== undefined) mountCustom(edge, context, custom);

  edge.all('*', async (c) => {
    const admitted = await admittedOf(c, context);
    const reply = await builtIn.fetch(c.req.raw, { ...c.env, admitted });
    if (prefix !== '')
      for (const name of ['location', 'content-location']) {
        const place = reply.headers.get(name);
        if (place?.startsWith('/') === true) reply.headers.set(name, `${prefix}${place}`);
      }
    return reply;
  });

  edge.onError((error) => {
    if (error instanceof HttpProblem) return problemReply(error);
    context.onFault(error, 'answering a request');
    return problemReply(internal());
  });

  return async (request, bindings = {}) => {
    // `Request` rejects such a URL with an error that quotes the credentials.
    if (WITH_CREDENTIALS.test(request.url)) return problemReply(noAddress());
    try {
      return await edge.fetch(request, { admitted: {}, ...bindings });
    } catch (error) {
      // Hono's `onError` does not handle a thrown value that is no `Error`.
      context.onFault(error, 'answering a request');
      return problemReply(internal());
    }
  };
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

function mountCustom(edge: Hono<Env>, context: ServerContext, custom: CustomApp): void {
  const { customRouteAuth, order } = context.http;
  const guard: MiddlewareHandler<Env> = async (c, next) => {
    await admit(c, context);
    await next();
  };

  // A reply that the app fetched from elsewhere has immutable headers.
  edge.use('*', async (c, next) => {
    await next();
    if (c.finalized) c.res = new Response(c.res.body, c.res);
  });

  // The body is read once and within its limit; the app and the built-in routes both use these bytes.
  edge.use('*', async (c, next) => {
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
    edge.use('*', async (c, next) => {
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
    edge.use('*', async (c, next) => {
      const open = isOwn(c.req.method, c.req.path) ? !customRouteAuth : isPublic(c.req.method, c.req.path);
      if (!open) await admit(c, context);
      await next();
    });

  for (const route of custom.routes) {
    // Mounted outside the app's error handler, so that the server answers denials.
    if (customRouteAuth && !isMiddleware(route)) edge.on(route.method, route.path, guard);
    // Errors of the app go to the app's error handler, which may be Hono's default.
    const mounted = new Hono<Env>().onError((error, c) => custom.onError(error, c));
    edge.route('/', mounted.on(route.method, route.path, route.handler));
  }
}

/** Authenticates once per request; handlers of the custom app read the caller as the variable `auth`. */
async function admit(c: Context<Env>, context: ServerContext): Promise<void> {
  if (c.env.admitted?.actor !== undefined) return;
  const actor = await identify(context, c.req.raw, c.env.admitted?.bytes);
  c.env.admitted = { ...c.env.admitted, actor };
  c.set('auth', actor);
}

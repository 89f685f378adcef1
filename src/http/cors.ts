/** CORS: headers of replies to pages of other origins, and the same policy for WebSockets. */
import { cors } from 'hono/cors';
import type { MiddlewareHandler } from 'hono';
import type { CorsConfig } from '../config/http.ts';
import { compilePattern } from '../kernel/pattern.ts';

/** Reply headers that browser clients need, in addition to those of the configuration. */
const EXPOSED = ['content-location', 'location', 'x-pagination-total', 'x-pagination-next'];

const ALLOW_ORIGIN = 'access-control-allow-origin';
const EXPOSE = 'access-control-expose-headers';

/**
 * Sets the headers after the handler has run: Hono would copy a reply whose headers were set before, and read its body.
 * CORS headers that a custom app has set are kept.
 */
export function corsOf(config: CorsConfig): MiddlewareHandler {
  const { origins, originRegex, methods, headers, credentials, expose, maxAgeSecs } = config;
  const exposed = [...new Set([...expose.map((name) => name.toLowerCase()), ...EXPOSED])];
  // `*` allows any page, without cookies; authentication decides about access.
  const all = originRegex === undefined && origins.includes('*');
  const allowed = allowedOrigins(config);
  const options = {
    ...(methods.length > 0 && { allowMethods: methods.map((method) => method.toUpperCase()) }),
    allowHeaders: [...headers],
    exposeHeaders: exposed,
    maxAge: maxAgeSecs,
  };
  const anyOrigin = cors({ ...options, origin: '*' });
  const allowedOrigin = cors({ ...options, credentials, origin: (origin) => origin });
  const deniedOrigin = cors({ ...options, origin: () => null });
  return async (c, next) => {
    const origin = c.req.header('origin') ?? '';
    const isAllowed = all || allowed(origin);
    if (c.req.method === 'OPTIONS')
      return (all ? anyOrigin : isAllowed ? allowedOrigin : deniedOrigin)(c, next);
    await next();
    const { headers: reply } = c.res;
    if (isAllowed && !reply.has(ALLOW_ORIGIN)) {
      reply.set(ALLOW_ORIGIN, all ? '*' : origin);
      if (!all && credentials) reply.set('access-control-allow-credentials', 'true');
    }
    if (!reply.has(EXPOSE)) reply.set(EXPOSE, exposed.join());
    if (!all) reply.append('vary', 'Origin');
  };
}

/** Predicate for the configured origins, for a configuration without `*`. */
function allowedOrigins({ origins, originRegex }: CorsConfig): (origin: string) => boolean {
  const pattern = originRegex === undefined ? undefined : compilePattern(originRegex);
  return (origin) =>
    origin !== '' && (pattern === undefined ? origins.includes(origin) : pattern.matches(origin));
}

export type SocketOrigin = 'no' | 'with-credentials' | 'without-credentials';

/**
 * CORS policy for WebSockets. Browsers open a socket without a preflight and send their cookies, so the server enforces
 * the policy. A request without `Origin` header does not come from a page and is allowed.
 */
export function socketOrigins(
  config: CorsConfig,
): (origin: string | undefined, host: string) => SocketOrigin {
  const { origins, originRegex, credentials } = config;
  const all = originRegex === undefined && origins.includes('*');
  const allowed = allowedOrigins(config);
  return (origin, host) => {
    if (origin === undefined || isOwn(origin, host)) return 'with-credentials';
    if (all) return 'without-credentials';
    if (!allowed(origin)) return 'no';
    return credentials ? 'with-credentials' : 'without-credentials';
  };
}

const isOwn = (origin: string, host: string): boolean =>
  URL.canParse(origin) && new URL(origin).host === host.toLowerCase();

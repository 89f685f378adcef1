/** Which pages of other origins may call, and what they may see of a reply. */
import { cors } from 'hono/cors';
import type { MiddlewareHandler } from 'hono';
import type { CorsConfig } from '../config/http.ts';
import { compilePattern } from '../kernel/pattern.ts';

/** What clients in a browser need to see of a reply, whatever the configuration adds. */
const EXPOSED = ['content-location', 'location', 'x-pagination-total', 'x-pagination-next'];

const ALLOW_ORIGIN = 'access-control-allow-origin';
const EXPOSE = 'access-control-expose-headers';

/**
 * Headers are set when the reply is there: one that is prepared before would be copied, and the body read for it. What
 * a custom app says of other origins stands.
 */
export function corsOf(config: CorsConfig): MiddlewareHandler {
  const { origins, originRegex, methods, headers, credentials, expose, maxAgeSecs } = config;
  const exposed = [...new Set([...expose.map((name) => name.toLowerCase()), ...EXPOSED])];
  // Browsers may call from anywhere, without credentials of their own; who may do what is authentication's business.
  const all = originRegex === undefined && origins.includes('*');
  const allowed = allowedOrigins(config);
  const options = {
    ...(methods.length > 0 && { allowMethods: methods.map((method) => method.toUpperCase()) }),
    allowHeaders: [...headers],
    exposeHeaders: exposed,
    maxAge: maxAgeSecs,
  };
  const anyone = cors({ ...options, origin: '*' });
  const yes = cors({ ...options, credentials, origin: (origin) => origin });
  const no = cors({ ...options, origin: () => null });
  return async (c, next) => {
    const origin = c.req.header('origin') ?? '';
    const may = all || allowed(origin);
    if (c.req.method === 'OPTIONS') return (all ? anyone : may ? yes : no)(c, next);
    await next();
    const { headers: reply } = c.res;
    if (may && !reply.has(ALLOW_ORIGIN)) {
      reply.set(ALLOW_ORIGIN, all ? '*' : origin);
      if (!all && credentials) reply.set('access-control-allow-credentials', 'true');
    }
    if (!reply.has(EXPOSE)) reply.set(EXPOSE, exposed.join());
    if (!all) reply.append('vary', 'Origin');
  };
}

/** Whether pages of an origin may call, where not all may. */
function allowedOrigins({ origins, originRegex }: CorsConfig): (origin: string) => boolean {
  const pattern = originRegex === undefined ? undefined : compilePattern(originRegex);
  return (origin) =>
    origin !== '' && (pattern === undefined ? origins.includes(origin) : pattern.matches(origin));
}

export type SocketOrigin = 'no' | 'with-credentials' | 'without-credentials';

/**
 * What a page of an origin may do with a socket. Browsers ask nobody before they open one and send their cookies along,
 * so what they enforce for other requests is enforced here. Without an origin it is no page that asks.
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

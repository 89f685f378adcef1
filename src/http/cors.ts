/** CORS: headers of replies to pages of other origins, and the same policy for WebSockets. */
import type { CorsConfig } from '../config/http.ts';
import { compilePattern } from '../kernel/pattern.ts';
import { ownReply, type ReplyHeaders } from './own-reply.ts';

/** Reply headers that browser clients need, in addition to those of the configuration. */
const EXPOSED = ['content-location', 'location', 'x-pagination-total', 'x-pagination-next'];

const ALLOW_ORIGIN = 'access-control-allow-origin';
const EXPOSE = 'access-control-expose-headers';

/** Methods that pages may use unless the configuration names others. */
const METHODS = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'PATCH', 'QUERY'];

export interface Cors {
  /** Answers an `OPTIONS` request. */
  preflight(request: Request): Response;
  /** Adds the headers to a reply; CORS headers that a custom app has set are kept. */
  mark(request: Request, reply: ReplyHeaders): void;
}

export function corsOf(config: CorsConfig): Cors {
  const { origins, originRegex, methods, headers, credentials, expose, maxAgeSecs } = config;
  const exposed = [...new Set([...expose.map((name) => name.toLowerCase()), ...EXPOSED])].join();
  // `*` allows any page, without cookies; authentication decides about access.
  const all = originRegex === undefined && origins.includes('*');
  const allowed = allowedOrigins(config);
  const named = (methods.length > 0 ? methods : METHODS).map((method) => method.toUpperCase()).join();
  const originOf = (request: Request): string => request.headers.get('origin') ?? '';

  const allow = (origin: string): Record<string, string> => {
    if (all) return { [ALLOW_ORIGIN]: '*' };
    if (!allowed(origin)) return {};
    return { [ALLOW_ORIGIN]: origin, ...(credentials && { 'access-control-allow-credentials': 'true' }) };
  };
  return {
    preflight(request) {
      const asked = request.headers.get('access-control-request-headers')?.split(',') ?? [];
      const allowedHeaders = (headers.length > 0 ? headers : asked.map((name) => name.trim())).join();
      const vary = [
        ...(all ? [] : ['Origin']),
        ...(allowedHeaders === '' ? [] : ['Access-Control-Request-Headers']),
      ].join(', ');
      return ownReply(null, 204, {
        ...allow(originOf(request)),
        [EXPOSE]: exposed,
        'access-control-max-age': String(maxAgeSecs),
        'access-control-allow-methods': named,
        ...(allowedHeaders !== '' && { 'access-control-allow-headers': allowedHeaders }),
        ...(vary !== '' && { vary }),
      });
    },
    mark(request, reply) {
      if (reply.get(ALLOW_ORIGIN) === null)
        for (const [name, value] of Object.entries(allow(originOf(request)))) reply.set(name, value);
      if (reply.get(EXPOSE) === null) reply.set(EXPOSE, exposed);
      if (all) return;
      const vary = reply.get('vary');
      reply.set('vary', vary === null ? 'Origin' : `${vary}, Origin`);
    },
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

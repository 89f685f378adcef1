/** Which pages of other origins may call, and what they may see of a reply. */
import { cors } from 'hono/cors';
import type { MiddlewareHandler } from 'hono';
import { RE2JS } from 're2js';
import type { CorsConfig } from '../config/http.ts';

/** What clients in a browser need to see of a reply, whatever the configuration adds. */
const EXPOSED = ['content-location', 'location', 'x-pagination-total', 'x-pagination-next'];

export function corsOf(config: CorsConfig): MiddlewareHandler {
  const { origins, originRegex, methods, headers, credentials, expose, maxAgeSecs } = config;
  const options = {
    ...(methods.length > 0 && { allowMethods: methods.map((method) => method.toUpperCase()) }),
    allowHeaders: [...headers],
    exposeHeaders: [...new Set([...expose.map((name) => name.toLowerCase()), ...EXPOSED])],
    maxAge: maxAgeSecs,
  };
  // Browsers may call from anywhere, without credentials of their own; who may do what is authentication's business.
  if (originRegex === undefined && origins.includes('*')) return cors({ ...options, origin: '*' });
  const pattern = originRegex === undefined ? undefined : RE2JS.compile(originRegex);
  const allowed = (origin: string): boolean =>
    origin !== '' && (pattern === undefined ? origins.includes(origin) : pattern.matches(origin));
  const yes = cors({ ...options, credentials, origin: (origin) => origin });
  const no = cors({ ...options, origin: () => null });
  return (c, next) => (allowed(c.req.header('origin') ?? '') ? yes(c, next) : no(c, next));
}

/** Counts requests by method, route and status, with their latency until the reply begins. */
import type { MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { Clock } from '../kernel/clock.ts';

export interface RequestCount {
  readonly method: string;
  /** The route's own path, `/threads/:thread_id`; never an id. */
  readonly path: string;
  readonly status: number;
  count: number;
  /** Sum of latencies. */
  seconds: number;
}

export interface RequestCounts {
  readonly count: MiddlewareHandler;
  read(): readonly RequestCount[];
}

/** Path of requests that no route of this server answered. */
const OTHER = 'other';

export function createRequestCounts(clock: Clock): RequestCounts {
  const counts = new Map<string, RequestCount>();
  return {
    async count(c, next) {
      const began = clock.monotonic();
      await next();
      const route = matchedRoutes(c).findLast(({ path }) => path !== '/*' && path !== '*');
      const { method } = c.req;
      const path = route?.path ?? OTHER;
      const { status } = c.res;
      const key = `${method} ${path} ${status}`;
      const entry = counts.get(key) ?? { method, path, status, count: 0, seconds: 0 };
      counts.set(key, entry);
      entry.count += 1;
      entry.seconds += (clock.monotonic() - began) / 1000;
    },
    read: () => [...counts.values()],
  };
}

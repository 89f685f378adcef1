/** Counts requests and sums their latency until the reply starts, by method, route and status. */
import type { MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { Clock } from '../../kernel/clock.ts';

export interface RequestCount {
  readonly method: string;
  /** Pattern of the route (`/threads/:thread_id`), without ids. */
  readonly path: string;
  readonly status: number;
  count: number;
  /** Sum of latencies in seconds. */
  seconds: number;
}

export interface RequestCounts {
  readonly count: MiddlewareHandler;
  read(): readonly RequestCount[];
}

/** Path label of requests that matched no route. */
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

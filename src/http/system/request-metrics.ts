/** Counts requests and sums their latency until the reply starts, by method, route and status. */
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
  /** `began`: monotonic time in milliseconds at the start of the request, from `now`. */
  count(method: string, path: string, status: number, began: number): void;
  now(): number;
  read(): readonly RequestCount[];
}

export function createRequestCounts({ monotonic: now }: Clock): RequestCounts {
  const counts = new Map<string, RequestCount>();
  return {
    now,
    count(method, path, status, began) {
      const key = `${method} ${path} ${status}`;
      const entry = counts.get(key) ?? { method, path, status, count: 0, seconds: 0 };
      counts.set(key, entry);
      entry.count += 1;
      entry.seconds += (now() - began) / 1000;
    },
    read: () => [...counts.values()],
  };
}

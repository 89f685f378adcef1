/**
 * Caches authenticated callers, so that the handler does not run for each request. A4 Keys are digests of headers. A2 Only
 * successes are cached, and no longer than the credentials are valid.
 */
import type { Clock } from '../kernel/clock.ts';
import { fingerprint } from '../kernel/ids.ts';

export interface CacheOptions {
  /** Names of the headers that form the cache key, in lower case. Every header that the handler reads must be included. */
  readonly keys: readonly string[];
  readonly ttlMs: number;
  /** The maximum number of entries; the least recently used entry is evicted. */
  readonly maxEntries: number;
}

export interface ResultCache<T> {
  /** The cache key; undefined for a request without any of the headers, which is not cached. */
  keyOf(headers: Headers): string | undefined;
  get(key: string): T | undefined;
  /** `until`: expiry of the credentials, in milliseconds since 1970. */
  put(key: string, value: T, until: number | undefined): void;
}

export function createResultCache<T>(
  { keys, ttlMs, maxEntries }: CacheOptions,
  clock: Clock,
): ResultCache<T> {
  /** Entries in the order of their last use, oldest first. */
  const entries = new Map<string, { value: T; goodUntil: number; until: number }>();
  return {
    keyOf(headers) {
      const values = keys.map((name) => headers.get(name));
      return values.every((value) => value === null) ? undefined : fingerprint(JSON.stringify(values));
    },
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      if (entry.goodUntil <= clock.monotonic() || entry.until <= clock.now()) return undefined;
      entries.set(key, entry);
      return entry.value;
    },
    put(key, value, until = Infinity) {
      entries.delete(key);
      entries.set(key, { value, goodUntil: clock.monotonic() + ttlMs, until });
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries) break;
        entries.delete(oldest);
      }
    },
  };
}

/**
 * Remembers who callers are, so that the handler is not asked for each of their requests. A4 Only digests of headers
 * are kept. A2 Only good answers are: an error is asked about again, and nobody outlives their credentials here.
 */
import type { Clock } from '../kernel/clock.ts';
import { fingerprint } from '../kernel/ids.ts';

export interface CacheOptions {
  /** The headers that tell callers apart, in lower case. All that the handler looks at has to be among them. */
  readonly keys: readonly string[];
  readonly ttlMs: number;
  /** Callers at most; who was not seen for the longest time is forgotten. */
  readonly most: number;
}

export interface ResultCache<T> {
  /** Undefined for a caller who sent none of the headers: nobody in particular is never remembered. */
  keyOf(headers: Headers): string | undefined;
  get(key: string): T | undefined;
  /** `until`: wall time in milliseconds at which it ends anyway. */
  put(key: string, value: T, until: number | undefined): void;
}

export function createResultCache<T>({ keys, ttlMs, most }: CacheOptions, clock: Clock): ResultCache<T> {
  /** In the order of their last use. */
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
        if (entries.size <= most) break;
        entries.delete(oldest);
      }
    },
  };
}

import { fingerprint } from '../kernel/ids.ts';

/** Pauses between attempts at a webhook: growing, almost two days in all. */
export const PAUSES_MS: readonly number[] = [
  ...[1, 5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 57_600].map((secs) => secs * 1000),
];

/** Maximum fraction added to a pause, so that deliveries that failed together are not retried together. */
const MAX_JITTER_FRACTION = 0.2;
/** Upper bound of `Retry-After`. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

/**
 * Milliseconds between attempt number `tries` (from 1) and the next; undefined after the last. `name` seeds the
 * jitter, so equal names get equal pauses.
 */
export function pauseAfter(
  tries: number,
  name: string,
  pausesMs: readonly number[] = PAUSES_MS,
): number | undefined {
  const pause = pausesMs[tries - 1];
  if (pause === undefined) return undefined;
  const share = Number.parseInt(fingerprint(`${name} ${tries}`).slice(0, 8), 16) / 0xffff_ffff;
  return Math.round(pause * (1 + share * MAX_JITTER_FRACTION));
}

/** Parses `Retry-After` to milliseconds; 0 when it is absent or invalid. */
export function retryAfterMs(header: string | undefined, now: number): number {
  if (header === undefined) return 0;
  const text = header.trim();
  const asked = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(asked) ? Math.min(Math.max(asked, 0), MAX_RETRY_AFTER_MS) : 0;
}

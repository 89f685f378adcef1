import { fingerprint } from '../kernel/ids.ts';

/** When a failed webhook is tried again: growing pauses, almost two days in all. Milliseconds. */
export const PAUSES_MS: readonly number[] = [
  ...[1, 5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 57_600].map((secs) => secs * 1000),
];

/** A pause grows by up to this share, so that what failed together does not come again together. */
const MAX_JITTER = 0.2;
/** What a receiver may ask for; longer is taken for a mistake. */
const LONGEST_WISH_MS = 24 * 3_600_000;

/**
 * Milliseconds between the `tries`-th attempt (from 1) and the next, or undefined when it was the last. `name` spreads
 * the pauses: the same name always has the same.
 */
export function pauseAfter(
  tries: number,
  name: string,
  pausesMs: readonly number[] = PAUSES_MS,
): number | undefined {
  const pause = pausesMs[tries - 1];
  if (pause === undefined) return undefined;
  const share = Number.parseInt(fingerprint(`${name} ${tries}`).slice(0, 8), 16) / 0xffff_ffff;
  return Math.round(pause * (1 + share * MAX_JITTER));
}

/** What `Retry-After` asks for in milliseconds, 0 when it asks for nothing that can be understood. */
export function retryAfterMs(header: string | undefined, now: number): number {
  if (header === undefined) return 0;
  const text = header.trim();
  const asked = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(asked) ? Math.min(Math.max(asked, 0), LONGEST_WISH_MS) : 0;
}

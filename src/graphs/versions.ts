import type { Ids } from '../kernel/ids.ts';

const COUNTER_DIGITS = 10;

/**
 * The channel version after `current`: a counter, zero-padded because versions are compared as text, and a random suffix,
 * so that forks and runs after a rollback never reuse a version.
 */
export function nextVersion(current: string | number | undefined, ids: Ids): string {
  const counter = current === undefined ? 0 : Number.parseInt(String(current), 10);
  return `${String(counter + 1).padStart(COUNTER_DIGITS, '0')}.${ids.token().slice(0, 8)}`;
}

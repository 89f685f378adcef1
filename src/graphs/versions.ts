import type { Ids } from '../kernel/ids.ts';

const COUNTER_DIGITS = 10;

/**
 * The channel version after `current`: a counter and a random suffix. The counter is zero-padded, because versions are
 * compared as text. The suffix keeps forks and runs after a rollback from reusing a version.
 */
export function nextVersion(current: string | number | undefined, ids: Ids): string {
  const counter = current === undefined ? 0 : Number.parseInt(String(current), 10);
  return `${String(counter + 1).padStart(COUNTER_DIGITS, '0')}.${ids.token().slice(0, 8)}`;
}

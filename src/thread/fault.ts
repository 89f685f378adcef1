/**
 * A run's account: how often a process has died with the run since its last saved step.
 *
 * X6 A worker's death is charged to a run only when no other run can have caused it (workers/fault-attribution.ts). Graph
 * code runs in other processes than the server, so the server's death charges no run; it counts as a death of each run
 * whose code had begun and saved nothing.
 */

export interface Account {
  /** Deaths of the server in a row. */
  readonly deaths: number;
  /** Deaths of graph workers that only this run can have caused. */
  readonly charges: number;
  /** Token of a server that others took for dead. Its death counts at the next one, unless it has come back by then. */
  readonly missing?: string;
}

/** Bounds a run that ends every server in which it begins. */
const MAX_DEATHS = 100;

export interface Death {
  readonly died: 'worker' | 'server';
  /** The server may come back. */
  readonly isMissing?: boolean;
  /** The server that was missing before has come back. */
  readonly hasReturned?: boolean;
}

/** `isFruitless`: the run had begun and saved nothing. `server`: token of the one that executed it. */
export function afterDeath(
  known: Account,
  { died, isMissing = false, hasReturned = false }: Death,
  isFruitless: boolean,
  server: string | undefined,
): Account {
  const { charges, missing } = known;
  if (died === 'worker') return { ...known, charges: charges + 1 };
  const deaths = known.deaths + (missing === undefined || hasReturned ? 0 : 1);
  if (!isFruitless) return { deaths, charges };
  return isMissing && server !== undefined
    ? { deaths, charges, missing: server }
    : { deaths: deaths + 1, charges };
}

/** Reason for ending the run instead of retrying it, else undefined. */
export function whyOver({ deaths, charges }: Account, maxCharges: number): string | undefined {
  if (charges >= maxCharges)
    return `was charged with ${charges} of ${maxCharges} allowed deaths of its process (PLATFORM_MAX_ATTEMPTS)`;
  return deaths >= MAX_DEATHS ? `saved no step in ${deaths} lives of the server` : undefined;
}

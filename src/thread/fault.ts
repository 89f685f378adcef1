/**
 * Fault attribution: decides which run can have ended a process that died. One rule for graph workers and the server.
 *
 * X6 A run is charged only when no other run can have caused the death: the only begun run of a worker, or the only
 * suspect of the server. A run whose graph code had not begun is never charged, and one death of the server charges no
 * run.
 *
 * | died   | begun runs                    | charged  | suspects, which run alone next time          |
 * |--------|-------------------------------|----------|----------------------------------------------|
 * | worker | one                           | that run | that run                                     |
 * | worker | several                       | none     | those that saved nothing there               |
 * | server | one suspect that saved nothing| that run | those with two deaths in a row or more       |
 * | server | no or several such suspects   | none     | those with two deaths in a row or more       |
 */

/** A run that was open in a process when the process died. */
export interface OpenRun {
  /** Graph code of the run had begun in the process. Code that outlives its run counts as a begun run. */
  readonly begun: boolean;
  /** The run had saved the end of a step in the process. */
  readonly saved: boolean;
  /** The run ran alone because of earlier server deaths. */
  readonly suspect: boolean;
}

export interface Verdict {
  /** The attempt counts as lost with its process. */
  readonly lost: boolean;
  /** Adds 1 to the run's deaths in a row. */
  readonly died: boolean;
  readonly charged: boolean;
  /** The next attempt runs alone after a worker's death. After the server's death the account decides instead. */
  readonly suspect: boolean;
}

/** A run's deaths and charges since its last saved step. */
export interface Account {
  /** Server deaths in a row in which the run had begun and saved nothing. */
  readonly deaths: number;
  readonly charges: number;
}

/** Server deaths in a row that make no run a suspect: a plain restart resumes all runs at once. */
const FREE_DEATHS = 1;
/** Lost attempts after which a run ends, even if it saves steps in between. */
export const MAX_LOST_ATTEMPTS = 100;
/** Shortest time for which a suspect delays the next one. */
const TRIAL_MS = 5_000;
const MAX_DOUBLINGS = 6;

/** Returns one verdict for each run, in the given order. */
export function attribute(process: 'worker' | 'server', open: readonly OpenRun[]): Verdict[] {
  const isServer = process === 'server';
  const possible = open.filter(({ begun, saved, suspect }) => begun && (!isServer || (suspect && !saved)));
  const only = possible.length === 1 ? possible[0] : undefined;
  return open.map((run) => {
    const charged = run === only;
    return {
      lost: isServer ? run.begun : charged,
      died: isServer && run.begun && !run.saved,
      charged,
      suspect: !isServer && run.begun && (charged || !run.saved),
    };
  });
}

/** The verdict on the only begun run of a worker. */
export const CHARGED: Verdict = { lost: true, died: false, charged: true, suspect: true };

export const afterDeath = ({ deaths, charges }: Account, { died, charged }: Verdict): Account => ({
  deaths: deaths + (died ? 1 : 0),
  charges: charges + (charged ? 1 : 0),
});

/** A suspect may be the cause of the server's deaths; suspects start one at a time. */
export const isSuspect = ({ deaths }: Account): boolean => deaths > FREE_DEATHS;

/**
 * Milliseconds for which no other suspect starts beside this one. Each uncharged death doubles the time, so a run that
 * kills the server slowly is finally alone and can be charged.
 */
export function trialMs({ deaths, charges }: Account): number {
  const uncharged = deaths - FREE_DEATHS - 1 - charges;
  return TRIAL_MS * 2 ** Math.min(Math.max(uncharged, 0), MAX_DOUBLINGS);
}

/** Reason for ending the run instead of retrying it, else undefined. `lost`: number of its lost attempts. */
export function whyOver({ charges }: Account, lost: number, maxCharges: number): string | undefined {
  if (charges >= maxCharges)
    return `was charged with ${charges} of ${maxCharges} allowed deaths of its process (PLATFORM_MAX_ATTEMPTS)`;
  return lost >= MAX_LOST_ATTEMPTS ? `lost ${lost} attempts with their process` : undefined;
}

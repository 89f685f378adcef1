/**
 * Fault attribution: which run can have ended a process that died. One rule for graph workers and the server.
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

/** A run that was given to a process, as that process had it when it died. */
export interface OpenRun {
  /** Its graph code had begun there. Code that outlives its run counts as a begun run. */
  readonly begun: boolean;
  /** It saved the end of a step there. */
  readonly saved: boolean;
  /** It ran alone because of earlier deaths of the server. */
  readonly suspect: boolean;
}

export interface Verdict {
  /** The attempt counts among those that were lost with their process. */
  readonly lost: boolean;
  /** One more in the run's deaths in a row. */
  readonly died: boolean;
  readonly charged: boolean;
  /** After the death of a worker: the next attempt runs alone. After the server's the run's account says so. */
  readonly suspect: boolean;
}

/** What a run has against it since its last saved step. */
export interface Account {
  /** Deaths of the server in a row in which it had begun and saved nothing. */
  readonly deaths: number;
  readonly charges: number;
}

/** Deaths of the server in a row that cost nothing: a plain restart resumes all runs at once. */
const FREE_DEATHS = 1;
/** Attempts of one run that are lost with their process before it ends, whatever it saved. */
export const MAX_LOST_ATTEMPTS = 100;
/** As long a suspect keeps the next one waiting. */
const TRIAL_MS = 5_000;
const MAX_DOUBLINGS = 6;

/** The verdicts in the order of the runs. */
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

/** The run may be what ends the server: it starts alone, and no other suspect beside it. */
export const isSuspect = ({ deaths }: Account): boolean => deaths > FREE_DEATHS;

/**
 * For how long no other suspect starts beside this one. A death with several suspects charges none of them, so each
 * doubles the time: a run that takes long to end the server is alone at last.
 */
export function trialMs({ deaths, charges }: Account): number {
  const uncharged = deaths - FREE_DEATHS - 1 - charges;
  return TRIAL_MS * 2 ** Math.min(Math.max(uncharged, 0), MAX_DOUBLINGS);
}

/** Why the run may not be tried again; undefined when it may. `lost`: all its lost attempts. */
export function whyOver({ charges }: Account, lost: number, maxCharges: number): string | undefined {
  if (charges >= maxCharges)
    return `was charged with ${charges} of ${maxCharges} allowed deaths of its process (PLATFORM_MAX_ATTEMPTS)`;
  return lost >= MAX_LOST_ATTEMPTS ? `lost ${lost} attempts with their process` : undefined;
}

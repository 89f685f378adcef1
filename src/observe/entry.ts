/** Entries of the server's log; one entry is one line. */

type Level = 'debug' | 'info' | 'warn' | 'error';

export interface Entry {
  readonly level: Level;
  readonly message: string;
  readonly members: Readonly<Record<string, unknown>>;
}

/** The message of a run that did not fail. */
export const RUN_ENDED = 'run ended';

/** The message of a warning about a run: something that it did in vain without failing. */
export const RUN_WARNED = 'run warned';

export type OnEntry = (entry: Entry) => void;

/** Cause of a run's failure: the member `exception` of an entry. */
export interface RunException {
  readonly type: string;
  readonly message: string;
  readonly remedy?: string;
  readonly stack?: string;
}

/** What the server says about its own work: one entry is one line of its log. */

export type Level = 'debug' | 'info' | 'warn' | 'error';

export interface Entry {
  readonly level: Level;
  readonly message: string;
  readonly members: Readonly<Record<string, unknown>>;
}

export type OnEntry = (entry: Entry) => void;

/** Why a run failed: the member `exception` of an entry. */
export interface RunException {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
}

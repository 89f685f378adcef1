/** The state of a log as `doctor` and `backup` see it from outside, beside a running server too. */
export interface Condition {
  readonly exists: boolean;
  /** The process that holds the lock of the log's folder. Known on Linux only. */
  readonly owner: number | undefined;
  /** The room that is kept for a full disk is there. */
  readonly hasReserve: boolean;
  /** Why a server would not open the log. */
  readonly problem: string | undefined;
  /** Which key is missing for its content; a copy needs none. */
  readonly keyProblem: string | undefined;
}

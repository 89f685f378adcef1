/** Errors for commits that did not happen or whose outcome is unknown. L4 Both are exceptions, never refusals. */
/** The outcome is unknown, or the log accepts no more commits. Clients retry later with the same command id. */
export class LogUnavailable extends Error {
  constructor(cause: string) {
    super(`the log is unavailable: ${cause}`);
    this.name = 'LogUnavailable';
  }
}

/** The store does not answer for now, and nothing of the call was written: it can be repeated as it is. */
export class LogAway extends LogUnavailable {
  override readonly name = 'LogAway';
}

/** The disk is full and nothing was written. The command can be repeated when there is space. */
export class LogFull extends Error {
  constructor(cause: string) {
    super(`the log takes no changes: ${cause}`);
    this.name = 'LogFull';
  }
}

/** Maps `LogFull` to `false`, for changes that a later sweep repeats. */
export function falseWhenFull(error: unknown): false {
  if (error instanceof LogFull) return false;
  throw error;
}

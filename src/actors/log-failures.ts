/** Errors for commits that did not happen or whose outcome is unknown. L4 Each is an exception and never a refusal. */
/** The log cannot say whether the change happened, or takes no more: ask again later, with the same command id. */
export class LogUnavailable extends Error {
  constructor(cause: string) {
    super(`the log is unavailable: ${cause}`);
    this.name = 'LogUnavailable';
  }
}

/** The change did not happen, because the disk is full: it may be asked for again when there is room. */
export class LogFull extends Error {
  constructor(cause: string) {
    super(`the log takes no changes: ${cause}`);
    this.name = 'LogFull';
  }
}

/** Turns a full disk into `false`, for changes that a later sweep asks for again. */
export function falseWhenFull(error: unknown): false {
  if (error instanceof LogFull) return false;
  throw error;
}

/** Exit codes of the process; `rewound --help` prints them. */
export const EXIT_OK = 0;
/** A comparison or check found a difference, or the work failed. */
export const EXIT_DIFFERENT = 1;
/** Wrong command, option, configuration or data directory. */
export const EXIT_USAGE = 2;
/** The work could not begin: something that it needs is missing, unreadable or in use. */
export const EXIT_UNTRIED = 3;
/** The disk failed, or the outcome of the last commit is unknown. */
export const EXIT_POISONED = 70;

/** Ends the command with `EXIT_UNTRIED` when what it works on cannot be opened. */
export function orUntried<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw new CommandFailed(EXIT_UNTRIED, (error as Error).message, { cause: error });
  }
}

/** An error of a command that ends the process with a code of its own. Other errors end it with `EXIT_USAGE`. */
export class CommandFailed extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandFailed';
    this.exitCode = exitCode;
  }
}

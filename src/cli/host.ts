/** The parts of the process that a command uses; tests pass their own. */
export interface Host {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Width of the terminal that output goes to; undefined for a file or a pipe. */
  readonly columns?: number | undefined;
  print(line: string): void;
  printError(line: string): void;
  /** Calls the listener for each SIGTERM and SIGINT. */
  onStopSignal(listener: (signal: NodeJS.Signals) => void): void;
  /** Ends the process as the signal does when nothing listens for it. */
  endBy(signal: NodeJS.Signals): void;
}

/** Takes the exit code of a command that is done, undefined of one that goes on. */
export type Finish = (code: number | undefined) => void;

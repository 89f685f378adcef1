/** The parts of the process that a command uses; tests pass their own. */
export interface Host {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Terminal width in columns; undefined for a file or pipe. */
  readonly columns?: number | undefined;
  /** The same of standard error. */
  readonly errorColumns?: number | undefined;
  print(line: string): void;
  /** Standard input. */
  readIn(): AsyncIterable<Uint8Array>;
  /** Writes bytes to standard output; resolves when the reader has taken them. */
  writeOut(bytes: Uint8Array): Promise<void>;
  printError(line: string): void;
  /** Writes to standard error without a line end. */
  writeError(text: string): void;
  /** Calls the listener for each SIGTERM and SIGINT. */
  onStopSignal(listener: (signal: NodeJS.Signals) => void): void;
  /** Ends the process by the signal, like the default handler. */
  endBy(signal: NodeJS.Signals): void;
}

/** Receives the exit code of a finished command, or undefined if it continues. */
export type Finish = (code: number | undefined) => void;

/** Exit codes of commands that import exported files. */
import { ExportRefused, NoFile } from '../archive/refusal.ts';
import { isDiskFull } from '../store/port/disk.ts';
import { CommandFailed, EXIT_POISONED, EXIT_UNTRIED } from './exit-codes.ts';

/** Names of errors of a log that takes no changes. */
const LOG_FAILURES: ReadonlySet<string> = new Set(['LogFull', 'LogUnavailable']);

/** Throws the error with the exit code that it has; `refusedCode` is that of a damaged or foreign file. */
export function throwFileFailure(error: unknown, refusedCode = EXIT_UNTRIED): never {
  // An import that broke, and could not be undone either: the next start does that.
  if (error instanceof AggregateError) throwFileFailure(error.errors[0], refusedCode);
  if (!(error instanceof Error)) throw error;
  const fail = (code: number): CommandFailed => new CommandFailed(code, error.message, { cause: error });
  if (error instanceof ExportRefused) throw fail(refusedCode);
  if (error instanceof NoFile) throw fail(EXIT_UNTRIED);
  if (LOG_FAILURES.has(error.name) || isDiskFull(error)) throw fail(EXIT_POISONED);
  throw error;
}

import { ExportRefused } from '../archive/refusal.ts';
import { CommandFailed, EXIT_UNTRIED } from './exit-codes.ts';

/** An exported file that is damaged or none ends the command with `EXIT_UNTRIED`. */
export function refused(error: unknown): never {
  if (error instanceof ExportRefused) throw new CommandFailed(EXIT_UNTRIED, error.message, { cause: error });
  throw error;
}

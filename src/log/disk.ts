/** Tells a disk that takes nothing from a path that is wrong: the first may be better when the process comes again. */
import { accessSync, constants } from 'node:fs';

/** The log cannot be opened because nothing can be written where it lies. */
export class DiskFailed extends Error {
  constructor(dir: string, cause: Error) {
    super(`the data directory ${dir} cannot be written: ${cause.message}`, { cause });
    this.name = 'DiskFailed';
  }
}

const CODES = /^(?:ENOSPC|EDQUOT|EROFS|EIO|SQLITE_FULL|(?:SQLITE_READONLY|SQLITE_IOERR)(?:_.*)?)$/;

/** What is to be thrown when the log of `dir` could not be opened because of `error`. */
export function toOpenFailure(dir: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code, syscall } = error as NodeJS.ErrnoException;
  const fails = code !== undefined && (CODES.test(code) || (code === 'SQLITE_CANTOPEN' && !isWritable(dir)));
  if (fails) return new DiskFailed(dir, error);
  return syscall === 'mkdir'
    ? new Error(`the data directory ${dir} (--data, PLATFORM_DATA) cannot be made: ${error.message}`, {
        cause: error,
      })
    : error;
}

function isWritable(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

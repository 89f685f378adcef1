/** Tells a disk that takes nothing from a path that is wrong: the first may be better when the process comes again. */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** The log cannot be opened because nothing can be written where it lies. */
export class DiskFailed extends Error {
  constructor(dir: string, cause: Error) {
    super(`the data directory ${dir} cannot be written: ${cause.message}`, { cause });
    this.name = 'DiskFailed';
  }
}

const CODES = /^(?:ENOSPC|EDQUOT|EROFS|EIO|SQLITE_FULL|(?:SQLITE_READONLY|SQLITE_IOERR)(?:_.*)?)$/;

/** Nothing can be written until somebody frees some space. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error &&
  ['ENOSPC', 'EDQUOT', 'SQLITE_FULL'].includes(String((error as NodeJS.ErrnoException).code));

/** What is to be thrown when the log of `dir` could not be opened because of `error`. */
export function toOpenFailure(dir: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code, syscall } = error as NodeJS.ErrnoException;
  const fails = code !== undefined && (CODES.test(code) || (code === 'SQLITE_CANTOPEN' && !isWritable(dir)));
  if (fails) return new DiskFailed(dir, error);
  const whose = `the data directory ${dir} (--data, PLATFORM_DATA)`;
  if (syscall === 'mkdir') return new Error(`${whose} cannot be made: ${error.message}`, { cause: error });
  if (code?.startsWith('SQLITE_') !== true) return error;
  const isDamaged = code === 'SQLITE_CORRUPT' || code === 'SQLITE_NOTADB';
  const remedy = isDamaged ? ': put back a copy of it that is whole, or name another directory' : '';
  return new Error(`the log in ${whose} cannot be opened: ${error.message} (${code})${remedy}`, {
    cause: error,
  });
}

/** All folders on the way as well. Node's own way of it never ends where a system denies its own folder (`/proc/x`). */
export function makeFolder(dir: string): void {
  try {
    mkdirSync(dir);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !existsSync(dirname(dir))) {
      makeFolder(dirname(dir));
      return makeFolder(dir);
    }
    if (!isFolder(dir)) throw error;
  }
}

function isFolder(dir: string): boolean {
  try {
    return statSync(dir).isDirectory();
  } catch {
    return false;
  }
}

function isWritable(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

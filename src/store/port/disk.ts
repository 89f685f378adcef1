/** Tells a disk that takes nothing from a path that is wrong: the first may be better when the process comes again. */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { Unavailable } from '../../kernel/unavailable.ts';

/** The disk does not take what is written to a file or folder. */
export class DiskFailed extends Error {
  constructor(what: string, cause: Error) {
    super(`${what} cannot be written: ${cause.message}`, { cause });
    this.name = 'DiskFailed';
  }
}

const CODES = /^(?:ENOSPC|EDQUOT|EROFS|EIO|SQLITE_FULL|(?:SQLITE_READONLY|SQLITE_IOERR)(?:_.*)?)$/;

/** Nothing can be written until somebody frees some space. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof DiskFailed
    ? isDiskFull(error.cause)
    : error instanceof Error &&
      ['ENOSPC', 'EDQUOT', 'SQLITE_FULL'].includes(String((error as NodeJS.ErrnoException).code));

/** The error to throw when writing `path` failed with `error`: a `DiskFailed` if the disk is the cause. */
export const toWriteFailure = (path: string, error: unknown): unknown =>
  error instanceof Error && CODES.test(String((error as NodeJS.ErrnoException).code))
    ? new DiskFailed(path, error)
    : error;

/** What is to be thrown when the log of `dir` could not be opened because of `error`. */
export function toOpenFailure(dir: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code, syscall } = error as NodeJS.ErrnoException;
  const isKeptOut = code === 'SQLITE_CANTOPEN' || (code === 'EACCES' && syscall === 'open');
  const fails = code !== undefined && (CODES.test(code) || (isKeptOut && !isWritable(dir)));
  if (fails) return new DiskFailed(`the data directory ${dir}`, error);
  const whose = `the data directory ${dir} (--data, PLATFORM_DATA)`;
  if (syscall === 'mkdir')
    return new Unavailable(`${whose} cannot be made: ${error.message}`, { cause: error });
  if (code?.startsWith('SQLITE_') !== true) return error;
  const isDamaged = code === 'SQLITE_CORRUPT' || code === 'SQLITE_NOTADB';
  const remedy = isDamaged ? ': put back a copy of it that is whole, or name another directory' : '';
  return new Unavailable(`the log in ${whose} cannot be opened: ${error.message} (${code})${remedy}`, {
    cause: error,
  });
}

/** The last one is its owner's alone; all folders on the way are made as well. Node's own way of it never ends where a system denies its own folder (`/proc/x`). */
export function makeFolder(dir: string, mode = 0o700): void {
  try {
    mkdirSync(dir, mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !existsSync(dirname(dir))) {
      makeFolder(dirname(dir), 0o777);
      return makeFolder(dir, mode);
    }
    if (!isFolder(dir)) throw error;
  }
}

/**
 * An empty file that is its owner's alone, where there is none. One that exists is not even opened: closing it would
 * drop the locks that this process has on it.
 */
export function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Makes renames in the folder durable. */
export function syncFolder(dir: string): void {
  // Windows opens no folders.
  if (process.platform === 'win32') return;
  const fd = openSync(dir, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** What to say of a folder that others can look into; undefined when they cannot. */
export function findExposure(dir: string): string | undefined {
  const mode = statSync(dir).mode & 0o777;
  if (process.platform === 'win32' || (mode & 0o055) === 0) return undefined;
  return (
    `the data directory ${dir} has the mode ${mode.toString(8).padStart(4, '0')}: group or others can read it; ` +
    `it holds conversations, so expected 0700 (chmod 700 ${dir})`
  );
}

function isFolder(dir: string): boolean {
  try {
    return statSync(dir).isDirectory();
  } catch {
    return false;
  }
}

export function isWritable(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * One process per data directory: an exclusive SQLite lock that the system releases however the process ends.
 *
 * Danger: POSIX drops the lock as soon as the process closes any descriptor of the file, so nothing else opens it.
 */
import { join } from 'node:path';
import { makePrivate } from '../../port/disk.ts';
import { Database } from '../library.ts';

export const LOCK_FILE = 'lock.db';

export class DataDirectoryBusy extends Error {
  constructor(dir: string) {
    super(
      `the data directory ${dir} is in use by another server; stop it first, or name another one with --data`,
    );
    this.name = 'DataDirectoryBusy';
  }
}

/** Throws `DataDirectoryBusy` when another process holds the lock. The returned function releases it. */
export function lockDirectory(dir: string): () => void {
  const file = join(dir, LOCK_FILE);
  makePrivate(file);
  const db = new Database(file, { timeout: 0 });
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    db.exec('BEGIN EXCLUSIVE');
    return () => void db.close();
  } catch (error) {
    db.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'))
      throw new DataDirectoryBusy(dir);
    throw error;
  }
}

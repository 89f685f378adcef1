/**
 * One process per data directory: an exclusive SQLite lock that the system releases however the process ends, and a note
 * for when it releases it earlier.
 */
import { join } from 'node:path';
import { makePrivate } from '../disk.ts';
import { Database } from './library.ts';
import { isOwned, noteOwner } from './owner.ts';

export class DataDirectoryBusy extends Error {
  constructor(dir: string) {
    super(
      `the data directory ${dir} is in use by another server; stop it first, or name another one with --data`,
    );
    this.name = 'DataDirectoryBusy';
  }
}

/** Throws `DataDirectoryBusy` when another process holds the lock, or has and lives. The returned function releases it. */
export function lockDirectory(dir: string): () => void {
  const file = join(dir, 'lock.db');
  makePrivate(file);
  const db = new Database(file, { timeout: 0 });
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    db.exec('BEGIN EXCLUSIVE');
    if (isOwned(dir)) throw new DataDirectoryBusy(dir);
    const forget = noteOwner(dir);
    return () => {
      // A second call could mean the note of who came after.
      if (db.open) forget();
      db.close();
    };
  } catch (error) {
    db.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'))
      throw new DataDirectoryBusy(dir);
    throw error;
  }
}

/**
 * Puts a backup in the place of a log. Nothing is written before the backup was read and found whole; the log appears
 * by a rename, and one that was there is moved into a folder of its own and never deleted.
 */
import { copyFileSync, existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { OnProgress } from '../../../kernel/progress.ts';
import { makeFolder, syncFolder, toWriteFailure } from '../../port/disk.ts';
import { assertWhole, copyDatabase, type Sealed } from './backup-file.ts';
import { openConnection } from '../connection.ts';
import { headPosition } from '../../sql/event-store.ts';
import { lockDirectory } from './lock.ts';
import { LOG_FILE } from '../log.ts';
import { assertFormat } from '../schema.ts';
import { createStatements } from '../statements.ts';

export interface Restored {
  /** The last position of the log. */
  readonly position: number;
  /** Folder with the log that was there before. */
  readonly aside: string | undefined;
}

export interface RestoreOptions {
  /** Moves a log that is there already aside. */
  readonly force: boolean;
  /** Time now, for the name of that folder. */
  readonly now: number;
  readonly onProgress: OnProgress;
}

/** A log, and what SQLite and the server keep beside it. */
const LOG_FILES = ['', '-wal', '-shm', '-head'].map((rest) => `${LOG_FILE}${rest}`);

/**
 * Throws `BackupDamaged` for the file, `DataDirectoryBusy` for a folder in use, `DiskFailed` when the disk does not take the
 * log, and without `force` for a folder with a log.
 */
export function restore(file: string, dir: string, options: RestoreOptions): Restored {
  const { force, onProgress } = options;
  const found = LOG_FILES.filter((name) => existsSync(join(dir, name)));
  if (found.length > 0 && !force)
    throw new Error(
      `${dir} has a log (${found.join(', ')}); name another folder with --data, or move that log aside with --force`,
    );
  const sealed = assertWhole(file, onProgress);
  try {
    return putBack(file, dir, sealed, found.length > 0, options);
  } catch (error) {
    throw toWriteFailure(dir, error);
  }
}

function putBack(
  file: string,
  dir: string,
  sealed: Sealed,
  hasLog: boolean,
  { now, onProgress }: RestoreOptions,
): Restored {
  makeFolder(dir);
  const unlock = lockDirectory(dir);
  const restored = join(dir, `${LOG_FILE}-restoring`);
  try {
    // Of a restore that was killed.
    rmSync(restored, { force: true });
    copyDatabase(file, restored, sealed, onProgress);
    const position = lastPositionOf(restored, file);
    const aside = hasLog ? moveAside(dir, now) : undefined;
    renameSync(restored, join(dir, LOG_FILE));
    // Until here it keeps a server from starting without the commits that were moved.
    rmSync(join(dir, `${LOG_FILE}-head`), { force: true });
    syncFolder(dir);
    return { position, aside };
  } finally {
    for (const rest of ['', '-wal', '-shm']) rmSync(`${restored}${rest}`, { force: true });
    unlock();
  }
}

function lastPositionOf(copy: string, file: string): number {
  const db = openConnection(copy, { readonly: true });
  try {
    assertFormat(db, file);
    return createStatements(db).driver.run(headPosition());
  } finally {
    db.close();
  }
}

/** Keeps `log.db` in its place, too: a crash must not leave a folder in which a server would begin an empty log. */
function moveAside(dir: string, now: number): string {
  const aside = join(dir, `before-restore-${new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`);
  makeFolder(aside);
  const has = (name: string): boolean => existsSync(join(dir, name));
  const [log, wal, shm, head] = LOG_FILES as [string, string, string, string];
  if (has(head)) copyFileSync(join(dir, head), join(aside, head));
  if (has(log)) linkOrCopy(join(dir, log), join(aside, log));
  syncFolder(aside);
  for (const name of [wal, shm]) if (has(name)) renameSync(join(dir, name), join(aside, name));
  syncFolder(aside);
  return aside;
}

/** Some file systems have no links. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

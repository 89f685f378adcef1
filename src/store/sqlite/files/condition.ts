/** Examines a log from outside, beside a running server too. Writes nothing. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openConnection, type Connection } from '../connection.ts';
import { assertComplete } from './high-water-mark.ts';
import { openCoder, type EncryptionKeys } from '../keyring.ts';
import { LOCK_FILE } from './lock.ts';
import { LOG_FILE } from '../log.ts';
import { RESERVE_FILE } from './room.ts';
import { assertFormat } from '../schema.ts';

export interface Condition {
  readonly exists: boolean;
  /** The process that holds the directory's lock. Known on Linux only. */
  readonly owner: number | undefined;
  /** The room that is kept for a full disk is there. */
  readonly hasReserve: boolean;
  /** Why a server would not open the log. */
  readonly problem: string | undefined;
  /** Which key is missing for its content; a copy needs none. */
  readonly keyProblem: string | undefined;
}

export function conditionOf(dir: string, keys: EncryptionKeys = []): Condition {
  const file = join(dir, LOG_FILE);
  const owner = ownerOf(dir);
  return {
    exists: existsSync(file),
    owner,
    hasReserve: existsSync(join(dir, RESERVE_FILE)),
    // The mark of a running server moves.
    problem: problemOf(file, assertFormat, owner === undefined),
    keyProblem: problemOf(file, (db) => openCoder(db, keys), false),
  };
}

function problemOf(file: string, look: (db: Connection) => unknown, isAtRest: boolean): string | undefined {
  try {
    if (isAtRest) assertComplete(file);
    if (!existsSync(file)) return undefined;
    const db = openConnection(file, { readonly: true });
    try {
      look(db);
    } finally {
      db.close();
    }
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function ownerOf(dir: string): number | undefined {
  try {
    const { ino } = statSync(join(dir, LOCK_FILE));
    // POSIX ADVISORY WRITE <pid> <major:minor:inode> <start> <end>
    const held = new RegExp(`POSIX +ADVISORY +WRITE (\\d+) \\w+:\\w+:${ino} `);
    const pid = held.exec(readFileSync('/proc/locks', 'latin1'))?.[1];
    return pid === undefined ? undefined : Number(pid);
  } catch {
    // Another system, or a directory without a lock.
    return undefined;
  }
}

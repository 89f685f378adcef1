/** Examines a log from outside, beside a running server too. Writes nothing. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Unavailable } from '../../../kernel/unavailable.ts';
import type { Condition } from '../../port/condition.ts';
import type { EncryptionKeys } from '../../sql/keyring.ts';
import { openConnection, type Connection } from '../connection.ts';
import { assertComplete } from './high-water-mark.ts';
import { openKeyring } from '../keyring.ts';
import { LOCK_FILE } from './lock.ts';
import { LOG_FILE } from '../log.ts';
import { RESERVE_FILE } from './room.ts';
import { assertFormat } from '../schema.ts';

export function conditionOf(dir: string, keys: EncryptionKeys = []): Condition {
  const file = join(dir, LOG_FILE);
  const owner = ownerOf(dir);
  return {
    exists: existsSync(file),
    owner,
    hasReserve: existsSync(join(dir, RESERVE_FILE)),
    // The mark of a running server moves.
    problem: problemOf(file, assertFormat, owner === undefined),
    keyProblem: problemOf(file, (db) => openKeyring(db, keys), false),
  };
}

/** Throws `Unavailable` when there is no log, or one that a server would not open. */
export function assertSound(dir: string): void {
  const { exists, problem } = conditionOf(dir);
  if (!exists) throw new Unavailable(`there is no log in ${dir}`);
  if (problem !== undefined) throw new Unavailable(problem);
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

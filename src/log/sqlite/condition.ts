/** What can be said of a log from outside, beside a running server too. Writes nothing. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openConnection } from './connection.ts';
import { assertComplete } from './high-water-mark.ts';
import { LOG_FILE } from './log.ts';
import { ownerOf } from './owner.ts';
import { RESERVE_FILE } from './room.ts';
import { assertSchema } from './schema.ts';

export interface Condition {
  readonly exists: boolean;
  /** The process that has the directory; undefined where the system tells nothing of its processes, too. */
  readonly owner: number | undefined;
  /** The room that is kept for a full disk is there. */
  readonly hasReserve: boolean;
  /** Why a server would not open the log. */
  readonly problem: string | undefined;
}

export function conditionOf(dir: string): Condition {
  const file = join(dir, LOG_FILE);
  const owner = ownerOf(dir);
  return {
    exists: existsSync(file),
    owner,
    hasReserve: existsSync(join(dir, RESERVE_FILE)),
    problem: problemOf(file, owner !== undefined),
  };
}

function problemOf(file: string, isInUse: boolean): string | undefined {
  try {
    // The mark of a running server moves.
    if (!isInUse) assertComplete(file);
    if (!existsSync(file)) return undefined;
    const db = openConnection(file, { readonly: true });
    try {
      assertSchema(db);
    } finally {
      db.close();
    }
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
